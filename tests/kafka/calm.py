"""The log of a broker on which every group does as it should, with snapshots. Made once, then read from the cache.

`python -m tests.kafka.calm [RELEASE…]` makes those of the named releases, or all, and prints their folders.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.live_broker import copied_segments
from tests.kafka.releases import KAFKA_3_9_OLD, KAFKA_4_3, Release

JAVA: Final = Path(__file__).parent / "java"
PROGRAMS: Final = (
    *(JAVA / name for name in ("Cluster.java", "Member.java")),
    JAVA / "outages" / "SteadyTraffic.java",
    JAVA / "sample" / "Snapshots.java",
    *sorted((JAVA / "calm").glob("*.java")),
)
MADE_BY: Final = (*PROGRAMS, Path(__file__), Path(__file__).with_name("broker.py"))
PROTOCOLS: Final = {KAFKA_4_3.name: "classic,consumer,share,streams", KAFKA_3_9_OLD.name: "classic"}
CALM_RELEASES: Final = {release.name: release for release in (KAFKA_4_3, KAFKA_3_9_OLD)}
SECONDS: Final = 600


@dataclass(frozen=True)
class Calm:
    folder: Path

    @property
    def log_dir(self) -> Path:
        """As a broker's: a folder for each partition of the offsets topic."""
        return self.folder / "log"

    @property
    def snapshots(self) -> Path:
        return self.folder / "snapshots.jsonl"


def calm_of(release: Release) -> Calm:
    key = key_of((release, PROTOCOLS[release.name]), MADE_BY)
    folder = cache_folder() / "calm" / f"{release.name}-{key}"
    return Calm(build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    on_fresh_broker(release, folder, {}, lambda broker: play(broker, Calm(folder)))


def play(broker: Broker, into: Calm) -> None:
    """By the newest clients. The broker ends before anybody's session does: who is a member then stays one."""
    classes = compile_java(PROGRAMS, [jar_folder(each) for each in KAFKA_4_3.jar_sets])
    arguments = [broker.bootstrap, str(into.snapshots), PROTOCOLS[broker.release.name]]
    command = kafka_command(KAFKA_4_3, "Calm", arguments, classes, options=broker.scratch_options)
    output = into.folder / "played.out"
    with output.open("wb") as said:
        done = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT, check=False, timeout=SECONDS)
    if done.returncode:
        raise PlayError(broker, output.read_text(errors="replace"))
    broker.stop()
    copied_segments(broker, into.log_dir)


def main(names: Sequence[str]) -> int:
    for name in names or CALM_RELEASES:
        sys.stdout.write(f"{calm_of(CALM_RELEASES[name]).folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
