"""What only snapshots know at one time: end offsets of topics, and the broker that coordinates a group."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.answers.history import History
from jobs.answers.table_reader import Condition, Row, equal
from schemas.words.history import GroupState
from schemas.words.records import GroupType

# Kafka's default, if no snapshot has the broker's setting.
DEFAULT_ASSIGNOR = "uniform"
ASSIGNORS = "group.consumer.assignors"
# Those of Kafka: by class, the short name.
ASSIGNOR_NAMES = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
}


@dataclass(frozen=True)
class EndOffset:
    offset: int
    topic_id: str | None
    captured_time: datetime


def end_offsets(history: History, topics: Iterable[str], at: datetime) -> dict[tuple[str, int], EndOffset]:
    """From the newest snapshot at or before the time."""
    ends: dict[tuple[str, int], EndOffset] = {}
    columns = ["topic", "partition", "topic_id", "log_end_offset", "captured_time"]
    for topic in sorted(set(topics)):
        rows = history.rows(
            "topic_snapshots", equal("topic", topic), Condition("captured_time", "<=", at), columns=columns
        )
        for row in sorted(rows, key=lambda row: row["captured_time"]):
            if row["log_end_offset"] is not None:
                end = EndOffset(row["log_end_offset"], row["topic_id"], row["captured_time"])
                ends[row["topic"], row["partition"]] = end
    return ends


def newest_cluster(history: History, at: datetime, column: str) -> Row | None:
    """The newest snapshot at or before the time that has the column."""
    columns = ["captured_time", "brokers", "offsets_partitions", "settings"]
    rows = history.rows("cluster_snapshots", Condition("captured_time", "<=", at), columns=columns)
    there = [row for row in rows if row[column] is not None]
    return max(there, key=lambda row: row["captured_time"], default=None)


def coordinator(history: History, partition: int, at: datetime) -> str | None:
    """In the form of kafka-consumer-groups: host, port, and the id after two spaces."""
    snapshot = newest_cluster(history, at, "offsets_partitions")
    if snapshot is None:
        return None
    leader = next((each["leader"] for each in snapshot["offsets_partitions"] if each["partition"] == partition), None)
    broker = next((each for each in snapshot["brokers"] or [] if each["id"] == leader), None)
    return None if broker is None else f"{broker['host']}:{broker['port']}  ({broker['id']})"


def default_assignor(history: History, at: datetime) -> str:
    """For consumer groups whose members do not choose an assignor: the first one in the broker's setting."""
    snapshot = newest_cluster(history, at, "settings")
    assignors = dict(snapshot["settings"]).get(ASSIGNORS) if snapshot else None
    return first_assignor(assignors)


def first_assignor(assignors: str | None) -> str:
    """Of the broker's setting; None: not known."""
    first = (assignors or DEFAULT_ASSIGNOR).split(",")[0].strip()
    return ASSIGNOR_NAMES.get(first, first)


def assignor_in_use(state: Mapping[str, Any], default: Callable[[], str]) -> str | None:
    """Of a row of group_state_intervals. `default`: for consumer groups whose members do not choose an assignor."""
    if state["group_type"] == GroupType.CONSUMER and state["assignor"] is None:
        return default()
    # A coordinator reports a classic group's assignor only while it is in use.
    is_current = state["group_type"] != GroupType.CLASSIC or state["state"] == GroupState.STABLE
    return state["assignor"] if is_current else None
