"""The log of a broker that keeps offsets for a minute, before and after the sweep took what had expired. Made once,
then read from the cache: `python -m tests.kafka.expiries` prints its folder.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.live_broker import copied_segments
from tests.kafka.releases import KAFKA_4_3, Release
from tests.kafka.sample import killed_after

HERE: Final = Path(__file__).parent
PROGRAMS: Final = (
    *(HERE / "java" / name for name in ("Cluster.java", "Member.java", "RawRequests.java")),
    HERE / "java" / "expiries" / "Expiries.java",
)
MADE_BY: Final = (*PROGRAMS, *(HERE / name for name in ("expiries.py", "broker.py")))
# The least that a broker takes.
RETENTION_MS: Final = 60_000
SWEEP_MS: Final = 2_000
SETTINGS: Final = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": str(SWEEP_MS)}
SECONDS: Final = 600


@dataclass(frozen=True)
class Expiries:
    """Two copies of one log, as a broker's folders."""

    folder: Path

    @property
    def before(self) -> Path:
        return self.folder / "before"

    @property
    def after(self) -> Path:
        return self.folder / "after"


def expiries_of(release: Release = KAFKA_4_3) -> Expiries:
    folder = cache_folder() / "expiries" / f"{release.name}-{key_of(release, MADE_BY)}"
    return Expiries(build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    on_fresh_broker(release, folder, SETTINGS, lambda broker: play(broker, Expiries(folder)))


def play(broker: Broker, into: Expiries) -> None:
    classes = compile_java(PROGRAMS, [jar_folder(each) for each in broker.release.jar_sets])
    command = kafka_command(broker.release, "Expiries", [broker.bootstrap], classes, options=broker.scratch_options)
    said: list[str] = []
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, encoding="utf-8", **pipes) as story, killed_after(SECONDS, story):
        assert story.stdout is not None
        for line in story.stdout:
            said.append(line)
            if line == "@committed\n":
                copied_segments(broker, into.before)
            elif line == "@expired\n":
                copied_segments(broker, into.after)
    if story.returncode:
        raise PlayError(broker, "".join(said))


if __name__ == "__main__":
    sys.stdout.write(f"{expiries_of().folder}\n")
