"""The members of a group and what each owns at one time, counted as Kafka's tools do."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from jobs.answers.history import History
from jobs.answers.table_reader import Condition, Row, equal
from schemas.words.history import GroupState, OwnershipPhase, TaskRole
from schemas.words.records import GroupType

Partitions = list[tuple[str, int]]
# Partitions that a member was asked to give up still count as its own, except in classic groups, whose coordinator does
# not track that.
SHOWN = {
    GroupType.CLASSIC: (OwnershipPhase.ASSIGNED,),
    GroupType.SHARE: (OwnershipPhase.ASSIGNED,),
    GroupType.CONSUMER: tuple(OwnershipPhase),
    GroupType.STREAMS: tuple(OwnershipPhase),
}
RUNNING = (None, TaskRole.ACTIVE)


def members_at(history: History, group: str, at: datetime) -> list[Row]:
    rows = history.rows_at("membership_intervals", at, equal("group_id", group))
    return sorted(rows, key=lambda row: str(row["member_id"]))


def assignments_at(history: History, state: Row, at: datetime) -> dict[str, Partitions]:
    """By member id."""
    group = state["group_id"]
    if state["group_type"] == GroupType.CLASSIC and state["state"] != GroupState.STABLE:
        return assigned_before(history, group, at)
    by_member: dict[str, Partitions] = {}
    for row in history.rows_at("ownership_intervals", at, equal("group_id", group)):
        if row["phase"] in SHOWN[row["group_type"]] and row["role"] in RUNNING:
            by_member.setdefault(row["member_id"], []).append((row["topic"] or row["topic_id"] or "", row["partition"]))
    return {member: sorted(partitions) for member, partitions in by_member.items()}


def assigned_before(history: History, group: str, at: datetime) -> dict[str, Partitions]:
    """What the last completed rebalance assigned to the members. A coordinator reports this until the next rebalance
    completes, even if members no longer own it."""
    over = history.rows("rebalances", equal("group_id", group), Condition("end_time", "<=", at))
    if not over:
        return {}
    last = max(over, key=lambda row: (row["end_time"], row["assignment_offset"]))
    of_assignment = equal("assignment_offset", last["assignment_offset"])
    there = {row["member_id"] for row in members_at(history, group, at)}
    return {
        row["member_id"]: sorted((each["topic"], number) for each in row["assigned"] for number in each["partitions"])
        for row in history.rows("generation_members", equal("group_id", group), of_assignment)
        if row["member_id"] in there and row["assigned"]
    }


def assignment_text(partitions: Iterable[tuple[str, int]]) -> str | None:
    """In the form of kafka-consumer-groups: `orders:0,2;payments:1`."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in partitions:
        by_topic.setdefault(topic, []).append(partition)
    return ";".join(sorted(f"{topic}:{','.join(map(str, sorted(by_topic[topic])))}" for topic in by_topic)) or None


def committed_at(history: History, group: str, at: datetime) -> dict[tuple[str, int], Row]:
    rows = history.rows_at("offset_history", at, equal("group_id", group))
    return {(row["topic"], row["partition"]): row for row in sorted(rows, key=place)}


def place(row: Mapping[str, object]) -> tuple[str, int]:
    return str(row["topic"]), int(str(row["partition"]))
