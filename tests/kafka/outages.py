"""Logs of real brokers: members are killed, leave, stay away and come back, one topic grows, another one is deleted.
With each log is what the members themselves saw. Made once, then read from the cache.

`python -m tests.kafka.outages [RELEASE…]` makes those of the named releases, or all, and prints their folders.
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
from tests.kafka import kafka_tools
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.fresh_brokers import STOOD_STILL, PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.live_broker import copied_segments
from tests.kafka.outage_truth import diary, truth
from tests.kafka.releases import KAFKA_3_9_NEW, KAFKA_3_9_OLD, KAFKA_4_1, KAFKA_4_3, Release
from tests.kafka.sample import killed_after

HERE: Final = Path(__file__).parent
PROGRAMS: Final = (
    HERE / "java" / "Cluster.java",
    HERE / "java" / "sample" / "Story.java",
    HERE / "java" / "sample" / "Snapshots.java",
    *sorted((HERE / "java" / "outages").glob("*.java")),
)
MADE_BY: Final = (*PROGRAMS, *(HERE / name for name in ("outages.py", "outage_truth.py", "broker.py")))
SECONDS: Final = 900
SETTINGS: Final = {
    f"group.{kind}.{setting}": ms
    for kind in ("consumer", "share")
    for setting, ms in (("session.timeout.ms", "6000"), ("heartbeat.interval.ms", "1000"))
}
PROTOCOLS: Final = {
    KAFKA_4_3.name: "classic,consumer,share",
    KAFKA_4_1.name: "classic,consumer,share",
    KAFKA_3_9_OLD.name: "classic",
    KAFKA_3_9_NEW.name: "classic,consumer",
}
OUTAGE_RELEASES: Final = {release.name: release for release in (KAFKA_4_3, KAFKA_4_1, KAFKA_3_9_OLD, KAFKA_3_9_NEW)}


@dataclass(frozen=True)
class Outages:
    release: Release
    folder: Path

    @property
    def log_dir(self) -> Path:
        """As a broker's: a folder for each partition of the offsets topic."""
        return self.folder / "log"

    @property
    def snapshots(self) -> Path:
        """JSON lines; the first four are from before a topic grew and another one was deleted."""
        return self.folder / "snapshots.jsonl"

    def text(self, name: str) -> Path:
        """What Kafka's tools printed: `offsets`, `topics`, `stale-offsets`, `stale-topics`."""
        return self.folder / f"{name}.txt"

    @cached_property
    def truth(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "truth.json").read_text(encoding="utf-8"))
        return found


def outages_of(release: Release) -> Outages:
    key = key_of((release, PROTOCOLS[release.name]), MADE_BY)
    folder = cache_folder() / "outages" / f"{release.name}-{key}"
    return Outages(release, build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    def on(broker: Broker) -> None:
        play(broker, folder, PROTOCOLS[release.name])
        # Members that are meant to time out are gone by then: none of them is told so.
        lost = sorted({line.client for line in diary(folder / "diary.txt") if line.word == "lost"})
        if lost:
            raise PlayError(broker, f"{STOOD_STILL.exception}: {STOOD_STILL.message}: {', '.join(lost)}")
        copied_segments(broker, folder / "log")

    known = {name: ms for name, ms in SETTINGS.items() if name in release.properties}
    on_fresh_broker(release, folder, known, on)
    (folder / "truth.json").write_text(json.dumps(truth(folder), indent=1) + "\n", encoding="utf-8")


def play(broker: Broker, folder: Path, protocols: str) -> None:
    """Always by the newest clients, which say when they leave; members that are there at the end never do."""
    classes = compile_java(PROGRAMS, [jar_folder(jar_set) for jar_set in KAFKA_4_3.jar_sets])
    arguments = [broker.bootstrap, str(folder), protocols]
    command = kafka_command(KAFKA_4_3, "Outages", arguments, classes, options=broker.scratch_options)
    said: list[str] = []
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, encoding="utf-8", **pipes) as story, killed_after(SECONDS, story):
        assert story.stdin is not None and story.stdout is not None
        for line in story.stdout:
            said.append(line)
            if line == "@over\n":
                broker.stop()
                story.stdin.close()
            elif line in ("@stale\n", "@tools\n"):
                write_texts(broker, folder, "stale-" if line == "@stale\n" else "")
                story.stdin.write("\n")
                story.stdin.flush()
    if story.returncode:
        raise PlayError(broker, "".join(said))


def write_texts(broker: Broker, folder: Path, prefix: str) -> None:
    for name, words in (("offsets", (kafka_tools.OFFSETS,)), ("topics", (kafka_tools.TOPICS, "--describe"))):
        (folder / f"{prefix}{name}.txt").write_text(kafka_tools.tool(broker, *words), encoding="utf-8")


def main(names: Sequence[str]) -> int:
    for name in names or OUTAGE_RELEASES:
        sys.stdout.write(f"{outages_of(OUTAGE_RELEASES[name]).folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
