"""Epochs and targets of members at one time, in groups that are not classic, from the newest of their records: Kafka's
tool shows them, and the interval tables do not keep them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from jobs.answers.history import History, group_records
from jobs.answers.states.members import Partitions
from jobs.answers.table_reader import Condition, Row
from schemas.words.records import GroupType


@dataclass
class Epochs:
    target_epoch: int | None = None
    member_epochs: dict[str, int] = field(default_factory=dict)
    targets: dict[str, Partitions] = field(default_factory=dict)
    # Whether a member uses the newer protocol, in a group with both.
    is_upgraded: dict[str, bool] = field(default_factory=dict)


def epochs_at(history: History, state: Row, at: datetime) -> Epochs:
    if state["group_type"] == GroupType.CLASSIC:
        return Epochs()
    columns = {
        "target_assignment_metadata": ["assignment_epoch"],
        "current_member_assignments": ["member_id", "member_epoch"],
        "target_assignment_members": ["member_id", "topic_partitions", "active_tasks"],
        "group_member_metadata": ["member_id", "classic_member"],
    }
    newest = {table: newest_rows(history, state, at, table, names) for table, names in columns.items()}
    names = topic_names(history)
    sources = topics_of_tasks(history, state, at)
    metadata, current, targets, members = newest.values()
    return Epochs(
        target_epoch=next((row["assignment_epoch"] for row in metadata), None),
        member_epochs={row["member_id"]: row["member_epoch"] for row in current if row["member_epoch"] is not None},
        targets={row["member_id"]: partitions_of(row, names, sources) for row in targets},
        is_upgraded={row["member_id"]: row["classic_member"] is None for row in members},
    )


def newest_rows(history: History, state: Row, at: datetime, table: str, names: list[str]) -> list[Row]:
    """By member if there is one. A tombstone is a record without values."""
    newest: dict[str | None, Row] = {}
    for row in group_records(history, state, until(at), table, ["group_type", *names]):
        if row["group_type"] == state["group_type"]:
            newest[row.get("member_id")] = row
    return list(newest.values())


def until(at: datetime) -> Condition:
    return Condition("record_time", "<=", at)


def topics_of_tasks(history: History, state: Row, at: datetime) -> dict[str, list[str]]:
    """By subtopology of a streams group, the topics that its tasks read."""
    if state["group_type"] != GroupType.STREAMS:
        return {}
    topologies = group_records(history, state, until(at), "streams_group_topologies", ["subtopologies"])
    return {
        each["subtopology_id"]: [
            *(each["source_topics"] or []),
            *(topic["name"] for topic in each["repartition_source_topics"] or []),
        ]
        for topology in topologies[-1:]
        for each in topology["subtopologies"] or []
    }


def topic_names(history: History) -> dict[str, str]:
    rows = history.rows("topics", columns=["topic", "topic_id"])
    return {row["topic_id"]: row["topic"] for row in rows if row["topic_id"] is not None}


def partitions_of(row: Row, names: Mapping[str, str], sources: Mapping[str, list[str]]) -> Partitions:
    by_id = [
        (names.get(each["topic_id"], each["topic_id"]), partition)
        for each in row["topic_partitions"] or []
        for partition in each["partitions"]
    ]
    # For streams groups: standby and warmup tasks are copies, which own nothing.
    by_task = [
        (topic, partition)
        for each in row["active_tasks"] or []
        for topic in sources.get(each["subtopology_id"], [])
        for partition in each["partitions"]
    ]
    return by_id + by_task
