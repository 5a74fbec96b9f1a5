"""A slow and plain replay of one consumer, share or streams group, written from the coordinator's loading rules: after
every operation, what the group is. For the history tables to be held against.

It knows nothing of intervals, causes or moves: only of what is so. It reads rows of decoded tables.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, NamedTuple

import pyarrow as pa

METADATA, MEMBER, TARGET_EPOCH, TARGET, CURRENT = "metadata", "member", "target epoch", "target", "current"
ROLES: Final = {
    "group_metadata": METADATA, "group_member_metadata": MEMBER, "target_assignment_metadata": TARGET_EPOCH,
    "target_assignment_members": TARGET, "current_member_assignments": CURRENT,
    "group_regular_expressions": "pattern", "streams_group_topologies": "topology",
    "group_partition_metadata": "topics",
}  # fmt: skip
TASKS: Final = ("active", "standby", "warmup")
FIRST_EPOCH: Final = 1
Row = dict[str, Any]


class Record(NamedTuple):
    offset: int
    time: Any
    batch: int
    role: str
    group_type: str
    member: str | None
    # None: a tombstone.
    row: Row | None


def records_of(tables: Mapping[str, pa.Table]) -> list[Record]:
    result = []
    for name, role in ROLES.items():
        for row in tables[name].to_pylist() if name in tables else ():
            kind = row.get("group_type") or ("streams" if role == "topology" else "consumer")
            place = row["record_offset"], row["record_time"], row["batch_first_offset"]
            result.append(Record(*place, role, kind, row.get("member_id"), None if row["is_tombstone"] else row))
    return sorted(result)


@dataclass
class Snapshot:
    """`owners`: member, partition, role and phase."""

    offset: int
    is_there: bool
    state: str | None = None
    epoch: int | None = None
    # Instance and client id.
    members: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    owners: set[tuple[Any, ...]] = field(default_factory=set)
    # Epoch of the target that every member there has reached; None: some have not.
    reached: int | None = None
    target_epoch: int | None = None
    # Targets that were completed since the group exists.
    num_targets: int = 0


class SlowGroup:
    """`names`: of topics by id."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.is_there = False
        self.clear("")

    def clear(self, group_type: str) -> None:
        self.epoch = self.target_epoch = FIRST_EPOCH
        self.about: dict[str, Row] = {}
        self.current: dict[str, Row | None] = {}
        self.sources: dict[str, list[str]] = {}
        self.num_targets = 0
        self.group_type = group_type

    def take(self, record: Record) -> None:
        row, member = record.row, record.member
        if row is not None and not self.is_there:
            self.clear(record.group_type)
            self.is_there = True
        if not self.is_there:
            return
        if record.role == METADATA and row is None:
            self.is_there = False
        elif record.role == METADATA:
            self.epoch = row["group_epoch"]
        elif record.role == TARGET_EPOCH:
            self.target_epoch = -1 if row is None else row["assignment_epoch"]
            self.num_targets += row is not None
        elif record.role == "topology" and row is not None:
            self.sources = {each["subtopology_id"]: each["source_topics"] for each in row["subtopologies"]}
        elif record.role == MEMBER and row is None:
            self.about.pop(member, None)
            self.current.pop(member, None)
        elif record.role == MEMBER:
            self.about[member] = row
        elif record.role == CURRENT and (row is not None or member in self.members()):
            # The member stays until the tombstone of its own record.
            self.current[member] = row

    def members(self) -> set[str]:
        return {*self.about, *self.current}

    def is_reconciled(self, member: str) -> bool:
        current = self.current.get(member)
        is_stable = current is not None and (self.group_type == "share" or current["member_state"] == "STABLE")
        return is_stable and current["member_epoch"] == self.target_epoch

    def state(self) -> str:
        if not self.members():
            return "Empty"
        if self.group_type == "share":
            return "Stable"
        if self.epoch > self.target_epoch:
            return "Assigning"
        return "Stable" if all(map(self.is_reconciled, self.members())) else "Reconciling"

    def owners(self) -> set[tuple[Any, ...]]:
        result = set()
        for member, row in self.current.items():
            if row is None:
                continue
            is_away = row["member_epoch"] == -2
            for role, assigned, pending in self.shares(row):
                result |= {(member, each, role, "held" if is_away else "assigned") for each in assigned}
                result |= {(member, each, role, "revoking") for each in (set() if is_away else pending - assigned)}
        return result

    def shares(self, row: Row) -> Iterable[tuple[str | None, set[str], set[str]]]:
        if self.group_type != "streams":
            lists = (row[name] or [] for name in ("assigned_partitions", "partitions_pending_revocation"))
            yield None, *({f"{self.names[each['topic_id']]}{number}" for each in some for number in each["partitions"]}
                          for some in lists)  # fmt: skip
            return
        for role in TASKS:
            lists = (row[f"{role}_tasks{suffix}"] for suffix in ("", "_pending_revocation"))
            yield role, *({f"{topic}{number}" for each in some for number in each["partitions"]
                           for topic in self.sources[each["subtopology_id"]]} for some in lists)  # fmt: skip

    def snapshot(self, offset: int) -> Snapshot:
        if not self.is_there:
            return Snapshot(offset, False)
        away = {member for member, row in self.current.items() if row is not None and row["member_epoch"] == -2}
        members = {}
        for member in self.members():
            about = self.about.get(member)
            members[member] = (None, None) if about is None else (about["group_instance_id"], about["client_id"])
        has_all = all(map(self.is_reconciled, self.members() - away))
        epochs = (self.target_epoch if has_all else None, self.target_epoch)
        return Snapshot(offset, True, self.state(), self.epoch, members, self.owners(), *epochs, self.num_targets)


def snapshots(records: Iterable[Record], names: Mapping[str, str]) -> list[Snapshot]:
    """After each operation: records of one batch and one time."""
    group, result = SlowGroup(names), []
    for _, operation in groupby(records, key=lambda record: (record.batch, record.time)):
        for record in operation:
            group.take(record)
            last = record
        result.append(group.snapshot(last.offset))
    return result


def rebalances(states: Iterable[Snapshot]) -> list[tuple[Any, ...]]:
    """Target epoch, outcome, offset at which it ended, and members."""
    result: list[tuple[Any, ...]] = []
    going: Snapshot | None = None
    before = Snapshot(-1, False)
    for now in states:
        is_target = now.is_there and now.num_targets != (before.num_targets if before.is_there else 0)
        is_emptied = bool(before.is_there and now.is_there and before.members and not now.members)
        if going is not None and (is_target or is_emptied):
            result.append((going.target_epoch, "superseded", now.offset, len(going.members)))
            going = None
        if is_emptied:
            result.append((now.epoch, "emptied", now.offset, 0))
        elif is_target:
            going = now
        if going is not None and now.reached == going.target_epoch:
            result.append((going.target_epoch, "completed", now.offset, len(going.members)))
            going = None
        before = now
    if going is not None:
        result.append((going.target_epoch, "open", None, len(going.members)))
    return result
