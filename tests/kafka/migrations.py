"""The log of a broker on which groups migrated to another assignor or protocol, went back, or stopped half way, with a
diary of whoever restarted their members. Made once, then read from the cache: `python -m tests.kafka.migrations` prints
its folder.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jobs.spark.cache_folder import build_once, cache_folder
from tests.kafka.broker import Broker
from tests.kafka.fresh_brokers import on_fresh_broker
from tests.kafka.java_programs import key_of
from tests.kafka.live_broker import KeptLog, play_program
from tests.kafka.releases import KAFKA_4_3, Release

JAVA: Final = Path(__file__).parent / "java"
PROGRAMS: Final = (
    *(JAVA / name for name in ("Cluster.java", "Member.java")),
    *(JAVA / "sample" / name for name in ("Seen.java", "Story.java")),
    *sorted((JAVA / "migrations").glob("*.java")),
)
MADE_BY: Final = (*PROGRAMS, Path(__file__), Path(__file__).with_name("broker.py"))


@dataclass(frozen=True)
class Restart:
    """A member that started, or started anew, with these assignors; none: with the consumer protocol."""

    line: Mapping[str, Any]

    @property
    def offered(self) -> tuple[str, ...]:
        return tuple(self.line["offered"])

    @property
    def from_time(self) -> datetime:
        return datetime.fromisoformat(self.line["from_time"])

    @property
    def settled_time(self) -> datetime:
        """When an admin client saw the group at rest with it."""
        return datetime.fromisoformat(self.line["settled"]["time"])

    @property
    def members(self) -> dict[str, Mapping[str, Any]]:
        """As that client saw them, by id."""
        return {member["member_id"]: member for member in self.line["settled"]["members"]}


@dataclass(frozen=True)
class Migrations(KeptLog):
    @cached_property
    def diary(self) -> list[Mapping[str, Any]]:
        return [json.loads(line) for line in (self.folder / "diary.jsonl").read_text(encoding="utf-8").splitlines()]

    def restarts(self, group: str) -> list[Restart]:
        return [Restart(line) for line in self.diary if line["group"] == group]


def migrations_of(release: Release = KAFKA_4_3) -> Migrations:
    folder = cache_folder() / "migrations" / f"{release.name}-{key_of(release, MADE_BY)}"
    return Migrations(build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    kept = Migrations(folder)

    def play(broker: Broker) -> None:
        play_program(broker, broker.release, "Migrations", PROGRAMS, [kept.folder / "diary.jsonl"], kept)

    on_fresh_broker(release, folder, {}, play)


if __name__ == "__main__":
    sys.stdout.write(f"{migrations_of().folder}\n")
