"""Epochs and targets of a consumer group's members at an instant: the newest of their records, which Kafka's tool
shows and intervals do not keep."""

from dataclasses import dataclass, field
from datetime import datetime

from jobs.histories.assigned import Partitions
from jobs.histories.history import History
from jobs.histories.table_reader import Condition, Row, equal
from schemas.vocabulary import GroupType


@dataclass
class Epochs:
    target_epoch: int | None = None
    member_epochs: dict[str, int] = field(default_factory=dict)
    targets: dict[str, Partitions] = field(default_factory=dict)
    # Whether a member speaks the newer protocol, in a group of both.
    is_upgraded: dict[str, bool] = field(default_factory=dict)


def epochs_at(history: History, state: Row, at: datetime) -> Epochs:
    if state["group_type"] == GroupType.CLASSIC:
        return Epochs()
    columns = {
        "target_assignment_metadata": ["assignment_epoch"],
        "current_member_assignments": ["member_id", "member_epoch"],
        "target_assignment_members": ["member_id", "topic_partitions"],
        "group_member_metadata": ["member_id", "classic_member"],
    }
    newest = {table: newest_rows(history, state, at, table, names) for table, names in columns.items()}
    names = topic_names(history)
    metadata, current, targets, members = newest.values()
    return Epochs(
        target_epoch=next((row["assignment_epoch"] for row in metadata), None),
        member_epochs={row["member_id"]: row["member_epoch"] for row in current if row["member_epoch"] is not None},
        targets={row["member_id"]: partitions_of(row, names) for row in targets},
        is_upgraded={row["member_id"]: row["classic_member"] is None for row in members},
    )


def newest_rows(history: History, state: Row, at: datetime, table: str, names: list[str]) -> list[Row]:
    """By member where there is one. A deletion is a record without values."""
    rows = history.rows(
        table,
        equal("offsets_partition", state["evidence_partition"]),
        equal("group_id", state["group_id"]),
        Condition("record_time", "<=", at),
        columns=["record_offset", "group_type", *names],
    )
    newest: dict[str | None, Row] = {}
    for row in sorted(rows, key=lambda row: int(row["record_offset"])):
        if row["group_type"] == state["group_type"]:
            newest[row.get("member_id")] = row
    return list(newest.values())


def topic_names(history: History) -> dict[str, str]:
    rows = history.rows("topics", columns=["topic", "topic_id"])
    return {row["topic_id"]: row["topic"] for row in rows if row["topic_id"] is not None}


def partitions_of(row: Row, names: dict[str, str]) -> Partitions:
    return [
        (names.get(each["topic_id"], each["topic_id"]), partition)
        for each in row["topic_partitions"] or []
        for partition in each["partitions"]
    ]
