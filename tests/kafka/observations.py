"""What clients and an admin client saw of groups while a real broker wrote its log. Made once, then from the cache.

`python -m tests.kafka.observations [RELEASE…]` makes those of the named releases, or all, and prints their folders.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.capture import HERE, MADE_BY, scenario_sources
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.live_broker import copied_segments
from tests.kafka.releases import KAFKA_3_9_NEW, KAFKA_3_9_OLD, NEWEST, RELEASES, Release

SAMPLE: Final = HERE / "java" / "sample"
WATCHING: Final = (
    *sorted((HERE / "java" / "observed").glob("*.java")),
    *(SAMPLE / name for name in ("Seen.java", "Snapshots.java", "Story.java")),
)
SECONDS: Final = 900

CLASSIC: Final = "eager,cooperative,staticClassic,emptiedAndDeleted,simple,transactions"
CONSUMER: Final = "consumer,staticConsumer,converted"
# Plays of one word run at the same time, one word after the other.
PLAYS: Final = {
    NEWEST.name: (CLASSIC, f"{CONSUMER},regex", "share,streams"),
    KAFKA_3_9_OLD.name: (CLASSIC,),
    KAFKA_3_9_NEW.name: (CLASSIC, CONSUMER),
}


@dataclass(frozen=True)
class Observations:
    release: Release
    folder: Path

    @property
    def log_dir(self) -> Path:
        return self.folder / "log"

    @property
    def snapshots(self) -> Path:
        """Two for each `lag`: one taken just before the tool was asked, one just after it."""
        return self.folder / "snapshots.jsonl"

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        text = (self.folder / "seen.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """`look`, `act`, `callback`, `tool` or `lag`, in order."""
        return [line for line in self.lines if line["kind"] == kind]


def observations_of(release: Release) -> Observations:
    key = key_of((release, PLAYS[release.name]), (*MADE_BY, *WATCHING, Path(__file__)))
    folder = cache_folder() / "observations" / f"{release.name}-{key}"
    return Observations(release, build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    def play(broker: Broker) -> None:
        written = (str(folder / name) for name in ("seen.jsonl", "snapshots.jsonl"))
        run("Observations", broker, folder / "played.out", *written, *PLAYS[release.name])
        # Long before anybody's session ends: who was a member stays one in the log.
        broker.stop()
        copied_segments(broker, folder / "log")

    on_fresh_broker(release, folder, {}, play)


def watching_classes() -> Path:
    """Always of the newest clients, whichever broker they talk to: older ones do not tell epochs."""
    sources = [*scenario_sources(NEWEST), *WATCHING, HERE / "java" / "belief" / "Belief.java"]
    return compile_java(sources, [jar_folder(jar_set) for jar_set in NEWEST.jar_sets])


def run(main: str, broker: Broker, output: Path, *arguments: str) -> None:
    options = [*broker.scratch_options, "-Dfile.encoding=UTF-8"]
    command = kafka_command(NEWEST, main, [broker.bootstrap, *arguments], watching_classes(), options=options)
    with output.open("wb") as said:
        done = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT, check=False, timeout=SECONDS)
    if done.returncode:
        raise PlayError(broker, output.read_text(errors="replace"))


def main(names: Sequence[str]) -> int:
    for name in names or RELEASES:
        sys.stdout.write(f"{observations_of(RELEASES[name]).folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
