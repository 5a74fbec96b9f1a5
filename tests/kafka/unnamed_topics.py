"""The log of a broker that puts no topic ids into commits, with groups whose targets have nothing else; and snapshots,
which name them. Made once, then read from the cache: `python -m tests.kafka.unnamed_topics` prints its folder.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.live_broker import KeptLog, copied_segments
from tests.kafka.releases import KAFKA_4_1, KAFKA_4_3, Release

JAVA: Final = Path(__file__).parent / "java"
PROGRAMS: Final = (
    *(JAVA / name for name in ("Cluster.java", "Member.java")),
    JAVA / "sample" / "Snapshots.java",
    JAVA / "unnamed" / "UnnamedTopics.java",
)
MADE_BY: Final = (*PROGRAMS, Path(__file__), Path(__file__).with_name("broker.py"))
SECONDS: Final = 600


def unnamed_topics_of(release: Release = KAFKA_4_1) -> KeptLog:
    folder = cache_folder() / "unnamed-topics" / f"{release.name}-{key_of(release, MADE_BY)}"
    return KeptLog(build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    on_fresh_broker(release, folder, {}, lambda broker: play(broker, KeptLog(folder)))


def play(broker: Broker, into: KeptLog) -> None:
    classes = compile_java(PROGRAMS, [jar_folder(each) for each in KAFKA_4_3.jar_sets])
    arguments = [broker.bootstrap, str(into.folder)]
    command = kafka_command(KAFKA_4_3, "UnnamedTopics", arguments, classes, options=broker.scratch_options)
    output = into.folder / "played.out"
    with output.open("wb") as said:
        done = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT, check=False, timeout=SECONDS)
    if done.returncode:
        raise PlayError(broker, output.read_text(errors="replace"))
    broker.stop()
    copied_segments(broker, into.log_dir)


if __name__ == "__main__":
    sys.stdout.write(f"{unnamed_topics_of().folder}\n")
