"""The sample in `data/sample`: its story, its snapshots, and its log as `groupscope dump` prints it.

    sample = checked_in()
    event = sample.event("rolling-upgrade")
    values = sample.records(group=event["group"], record_type=2, to_ms=event.to_ms)

What an event says was seen by Kafka's clients while the log was written: an outside truth for whatever reads the log.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
# Lines of `dump`, as it names the fields.
Record = Mapping[str, Any]


def epoch_ms(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


@dataclass(frozen=True)
class Event:
    fields: Mapping[str, Any]

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]

    @property
    def name(self) -> str:
        return str(self["event"])

    @property
    def kind(self) -> str:
        return str(self["kind"])

    @property
    def group(self) -> str:
        return str(self["group"])

    @property
    def from_ms(self) -> int:
        return epoch_ms(self["from_time"])

    @property
    def to_ms(self) -> int:
        return epoch_ms(self["to_time"])


@dataclass(frozen=True)
class Ends:
    """What a snapshot has of a topic: start and end offsets by partition."""

    time_ms: int
    starts: dict[int, int]
    ends: dict[int, int]


def offsets_of_partitions(partitions: list[dict[str, Any]]) -> tuple[dict[int, int], dict[int, int]]:
    starts = {each["partition"]: each["log_start_offset"] for each in partitions}
    return starts, {each["partition"]: each["log_end_offset"] for each in partitions}


@dataclass(frozen=True)
class Sample:
    folder: Path

    @cached_property
    def events(self) -> list[Event]:
        return [Event(fields) for fields in json.loads((self.folder / "story.json").read_text(encoding="utf-8"))]

    def event(self, name: str) -> Event:
        (result,) = (event for event in self.events if event.name == name)
        return result

    def of_kind(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.kind == kind]

    @cached_property
    def snapshots(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "snapshots.jsonl").read_text().splitlines()]

    @cached_property
    def topic_names(self) -> dict[str, str]:
        """By id, those of deleted topics too when a snapshot met them."""
        return {topic["topic_id"]: topic["topic"] for snapshot in self.snapshots for topic in snapshot["topics"]}

    def ends(self, topic: str) -> list[Ends]:
        """In time, of the snapshots that have the topic."""
        return [
            Ends(snapshot["captured_at"], *offsets_of_partitions(each["partitions"]))
            for snapshot in self.snapshots
            for each in snapshot["topics"]
            if each["topic"] == topic
        ]

    @property
    def segments(self) -> list[Path]:
        return sorted(self.folder.glob("__consumer_offsets-*/*.log"))

    @cached_property
    def log(self) -> list[Record]:
        """Every record, by offsets partition and offset."""
        command = [sys.executable, "-m", "jobs.cli", "dump", *map(str, self.segments)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=True)
        return [json.loads(line) for line in done.stdout.split("\n")[:-1]]

    @cached_property
    def _by_group(self) -> dict[str, list[Record]]:
        groups: dict[str, list[Record]] = {}
        for record in self.log:
            if not record["is_control"]:
                groups.setdefault(group_of(record), []).append(record)
        return groups

    @property
    def groups(self) -> list[str]:
        return sorted(self._by_group)

    def records(
        self,
        *,
        group: str,
        record_type: int | None = None,
        from_ms: int = 0,
        to_ms: int = sys.maxsize,
    ) -> list[Record]:
        """In the order of offsets; both times belong to the range."""
        return [
            record
            for record in self._by_group.get(group, [])
            if record_type in (None, record["record_type"]) and from_ms <= record["timestamp_ms"] <= to_ms
        ]

    def commits(self, event: Event, partition: int, *, from_ms: int = 0, to_ms: int = sys.maxsize) -> list[Record]:
        """Commits and tombstones of one partition of the event's group and topic."""
        return [
            record
            for record in self.records(group=event.group, record_type=1, from_ms=from_ms, to_ms=to_ms)
            if (record["key"]["topic"], record["key"]["partition"]) == (event["topic"], partition)
        ]


@cache
def checked_in() -> Sample:
    """Read once for all tests."""
    return Sample(ROOT / "data" / "sample")


def group_of(record: Record) -> str:
    key = record["key"]
    return str(key["group"] if "group" in key else key["group_id"])
