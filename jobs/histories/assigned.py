"""Who is in a group and owns what at an instant, as Kafka's own tools count it."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from jobs.histories.history import History
from jobs.histories.table_reader import Row, equal
from schemas.history_words import GroupState, OwnershipPhase, TaskRole
from schemas.vocabulary import GroupType

Partitions = list[tuple[str, int]]
# What is being given up is no longer in the member's assignment, though it still owns it.
ASSIGNED = (OwnershipPhase.ASSIGNED, OwnershipPhase.HELD)
RUNNING = (None, TaskRole.ACTIVE)


def members_at(history: History, group: str, at: datetime) -> list[Row]:
    rows = history.rows_at("membership_intervals", at, equal("group_id", group))
    return sorted(rows, key=lambda row: str(row["member_id"]))


def assignments_at(history: History, state: Row, at: datetime) -> dict[str, Partitions]:
    """By member id. A coordinator tells nothing of assignments while a classic group rebalances."""
    if state["group_type"] == GroupType.CLASSIC and state["state"] != GroupState.STABLE:
        return {}
    found: dict[str, Partitions] = {}
    for row in history.rows_at("ownership_intervals", at, equal("group_id", state["group_id"])):
        if row["phase"] in ASSIGNED and row["role"] in RUNNING:
            found.setdefault(row["member_id"], []).append((row["topic"] or row["topic_id"] or "", row["partition"]))
    return {member: sorted(partitions) for member, partitions in found.items()}


def assignment_text(partitions: Iterable[tuple[str, int]]) -> str | None:
    """As kafka-consumer-groups writes it: `orders:0,2;payments:1`."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in partitions:
        by_topic.setdefault(topic, []).append(partition)
    return ";".join(sorted(f"{topic}:{','.join(map(str, sorted(by_topic[topic])))}" for topic in by_topic)) or None


def committed_at(history: History, group: str, at: datetime) -> dict[tuple[str, int], Row]:
    rows = history.rows_at("offset_history", at, equal("group_id", group))
    return {(row["topic"], row["partition"]): row for row in sorted(rows, key=place)}


def place(row: Mapping[str, object]) -> tuple[str, int]:
    return str(row["topic"]), int(str(row["partition"]))
