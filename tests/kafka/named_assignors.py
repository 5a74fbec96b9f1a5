"""The log of a broker on which a class of the operator bears the name of one of Kafka's assignors, with snapshots. Made
once, then read from the cache: `python -m tests.kafka.named_assignors` prints its folder.
"""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import REQUEST, JarSet, ivy_request, jar_folder
from tests.kafka.broker import Broker
from tests.kafka.fresh_brokers import on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.live_broker import KeptLog, play_program
from tests.kafka.releases import KAFKA_4_3, Release

JAVA: Final = Path(__file__).parent / "java"
ASSIGNOR: Final = JAVA / "named" / "NamedUniform.java"
PROGRAMS: Final = (
    *(JAVA / name for name in ("Cluster.java", "Member.java")),
    JAVA / "sample" / "Snapshots.java",
    JAVA / "assignors" / "NamedGroups.java",
)
MADE_BY: Final = (ASSIGNOR, *PROGRAMS, Path(__file__), Path(__file__).with_name("broker.py"))
# Each change of a group gets its own target at once.
SETTINGS: Final = {"group.consumer.assignors": "NamedUniform,range", "group.consumer.assignment.interval.ms": "0"}


def named_assignors_of(release: Release = KAFKA_4_3) -> KeptLog:
    folder = cache_folder() / "named-assignors" / f"{release.name}-{key_of((release, SETTINGS), MADE_BY)}"
    return KeptLog(build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    with_assignor = replace(release, jar_sets=(*release.jar_sets, assignor_set(release)))
    kept = KeptLog(folder)

    def play(broker: Broker) -> None:
        play_program(broker, KAFKA_4_3, "NamedGroups", PROGRAMS, [kept.snapshots], kept)

    on_fresh_broker(with_assignor, folder, SETTINGS, play)


def assignor_set(release: Release) -> JarSet:
    """A folder of classes where others have jars: so it comes to the broker's class path."""
    classes = compile_java([ASSIGNOR], [jar_folder(each) for each in release.jar_sets])
    made = JarSet(f"named-assignor-{classes.name}", ())

    def copy(folder: Path) -> None:
        shutil.copytree(classes, folder, dirs_exist_ok=True)
        (folder / REQUEST).write_text(ivy_request(made))

    build_once(cache_folder() / "jars" / made.name, copy)
    return made


if __name__ == "__main__":
    sys.stdout.write(f"{named_assignors_of().folder}\n")
