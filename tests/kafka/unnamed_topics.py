"""The log of a broker that puts no topic ids into commits, with groups whose targets have nothing else; and snapshots,
which name them. Made once, then read from the cache: `python -m tests.kafka.unnamed_topics` prints its folder.
"""

import sys
from pathlib import Path
from typing import Final

from jobs.spark.cache_folder import build_once, cache_folder
from tests.kafka.broker import Broker
from tests.kafka.fresh_brokers import on_fresh_broker
from tests.kafka.java_programs import key_of
from tests.kafka.live_broker import KeptLog, play_program
from tests.kafka.releases import KAFKA_4_1, KAFKA_4_3, Release

JAVA: Final = Path(__file__).parent / "java"
PROGRAMS: Final = (
    *(JAVA / name for name in ("Cluster.java", "Member.java")),
    JAVA / "sample" / "Snapshots.java",
    JAVA / "unnamed" / "UnnamedTopics.java",
)
MADE_BY: Final = (*PROGRAMS, Path(__file__), Path(__file__).with_name("broker.py"))


def unnamed_topics_of(release: Release = KAFKA_4_1) -> KeptLog:
    folder = cache_folder() / "unnamed-topics" / f"{release.name}-{key_of(release, MADE_BY)}"
    return KeptLog(build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    kept = KeptLog(folder)

    def play(broker: Broker) -> None:
        play_program(broker, KAFKA_4_3, "UnnamedTopics", PROGRAMS, [kept.folder], kept)

    on_fresh_broker(release, folder, {}, play)


if __name__ == "__main__":
    sys.stdout.write(f"{unnamed_topics_of().folder}\n")
