"""The log of a broker that runs 4.3.1 and 4.4.0 in turn, as brokers of a cluster do in the middle of an upgrade that is
then taken back. Made once, then read from the cache: `python -m tests.kafka.rolled` prints its folder.

The broker's features stay those of 4.3.1, so under 4.4.0 share groups still have `share.version` 1.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.capture import HERE, MADE_BY, PHASE_SECONDS, SERVICES, Capture, keep, scenario_sources
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.releases import KAFKA_4_3, KAFKA_4_4, Release

PROGRAMS: Final = HERE / "java" / "rolled"


@dataclass(frozen=True)
class Stage:
    """Scenarios at the same time, by clients of a release, on a broker of this or another one."""

    broker: Release
    scenarios: tuple[str, ...]
    # By clients of the other release, meanwhile.
    others: tuple[str, ...] = ()


STAGES: Final = (
    Stage(KAFKA_4_3, ("Transactions.ofRenewedTopic", "ConsumerGroups.staticMembers", "ShareGroups.deleted")),
    Stage(
        KAFKA_4_4,
        (
            "Transactions.ofRenewedTopic",
            "StreamsGroups.staticMembers",
            "ShareGroups.rebalanced",
            "Upgrades.atRest",
            "Upgrades.inRebalance",
        ),
        ("Transactions.interleaved", "ConsumerGroups.staticMembers"),
    ),
    # The static streams member that is away is on its own: 4.3.1 knows no such members.
    Stage(KAFKA_4_3, ("Transactions.ofRenewedTopic", "Rolled.awaitEmpty:streams-static")),
)


def rolled() -> Capture:
    made_by = (*MADE_BY, *sorted(PROGRAMS.glob("*.java")), Path(__file__))
    folder = cache_folder() / "rolled" / key_of(STAGES, made_by)
    return Capture(KAFKA_4_4.name, build_once(folder, make))


def make(folder: Path) -> None:
    def play(broker: Broker) -> None:
        for at, stage in enumerate(STAGES):
            if at:
                broker.stop()
                broker.release = stage.broker
                broker.start({})
            run(broker, stage, folder)
        broker.release = KAFKA_4_4
        keep(broker, Capture(KAFKA_4_4.name, folder))

    on_fresh_broker(KAFKA_4_3, folder, {}, play)


def run(broker: Broker, stage: Stage, folder: Path) -> None:
    other = KAFKA_4_4 if stage.broker is KAFKA_4_3 else KAFKA_4_3
    by_release = [(stage.broker, stage.scenarios), *([(other, stage.others)] if stage.others else [])]
    output = folder / "scenarios.out"
    with output.open("ab") as said:
        begin = said.tell()
        processes = [
            subprocess.Popen(client(broker, release, scenarios), stdout=said, stderr=subprocess.STDOUT)
            for release, scenarios in by_release
        ]
        codes = [process.wait(PHASE_SECONDS) for process in processes]
    if any(codes):
        raise PlayError(broker, output.read_bytes()[begin:].decode(errors="replace"))


def client(broker: Broker, release: Release, scenarios: tuple[str, ...]) -> list[str]:
    sources = [*scenario_sources(release), *sorted(PROGRAMS.glob("*.java"))]
    classes = compile_java(sources, [jar_folder(jar_set) for jar_set in release.jar_sets])
    arguments = [broker.bootstrap, *scenarios]
    return kafka_command(release, "Scenarios", arguments, classes, SERVICES, options=broker.scratch_options)


if __name__ == "__main__":
    sys.stdout.write(f"{rolled().folder}\n")
