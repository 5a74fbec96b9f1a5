"""A slow and plain replay of one consumer, share or streams group, written from the coordinator's loading rules: after
every operation, what the group is. For the history tables to be held against.

It knows nothing of intervals, causes or moves: only of what is so.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from udfs.groups.readers.records import Record

METADATA, MEMBER, TARGET_EPOCH, TARGET, CURRENT = "metadata", "member", "target epoch", "target", "current"
ROLES = {
    3: METADATA, 5: MEMBER, 6: TARGET_EPOCH, 7: TARGET, 8: CURRENT,
    11: METADATA, 10: MEMBER, 12: TARGET_EPOCH, 13: TARGET, 14: CURRENT,
    17: METADATA, 19: MEMBER, 20: TARGET_EPOCH, 21: TARGET, 22: CURRENT,
}  # fmt: skip
SHARE_TYPES = range(9, 16)


@dataclass
class Snapshot:
    """`owners`: member, partition (or task), role and phase."""

    offset: int
    time: int | None
    is_there: bool
    state: str | None = None
    epoch: int | None = None
    members: dict[str, tuple[str | None, str | None, bool]] = field(default_factory=dict)
    owners: set[tuple[Any, ...]] = field(default_factory=set)
    # Epoch of the target that every member there has reached; None: some have not.
    reached: int | None = None
    target_epoch: int | None = None
    # Targets that were completed since the group exists.
    num_targets: int = 0


class SlowGroup:
    def __init__(self, first_epoch: int) -> None:
        self.first_epoch = first_epoch
        self.is_there = False
        self.clear()

    def clear(self) -> None:
        self.epoch = self.target_epoch = self.first_epoch
        self.about: dict[str, Any] = {}
        self.current: dict[str, Any] = {}
        self.targets: dict[str, Any] = {}
        self.num_targets = 0
        self.is_share = False

    def take(self, record: Record) -> None:
        value, member = record.value, record.member
        role = ROLES.get(record.type)
        if value is not None and not self.is_there:
            self.clear()
            self.is_there = True
            self.is_share = record.type in SHARE_TYPES
        if not self.is_there:
            return
        if role == METADATA and value is None:
            self.is_there = False
        elif role == METADATA:
            self.epoch = value.epoch
        elif role == TARGET_EPOCH:
            self.target_epoch = -1 if value is None else value.epoch
            self.num_targets += value is not None
        elif role == MEMBER and value is None:
            self.about.pop(member, None)
            self.current.pop(member, None)
        elif role == MEMBER:
            self.about[member] = value
        elif role == TARGET and value is None:
            self.targets.pop(member, None)
        elif role == TARGET:
            self.targets[member] = value
        elif role == CURRENT and value is None:
            # The member stays until the tombstone of its own record.
            if member in self.about or member in self.current:
                self.current[member] = None
        elif role == CURRENT:
            self.current[member] = value

    def members(self) -> set[str]:
        return {*self.about, *self.current}

    def is_reconciled(self, member: str) -> bool:
        current = self.current.get(member)
        return current is not None and current.state == "STABLE" and current.epoch == self.target_epoch

    def state(self) -> str:
        if not self.members():
            return "Empty"
        if self.is_share:
            return "Stable"
        if self.epoch > self.target_epoch:
            return "Assigning"
        return "Stable" if all(map(self.is_reconciled, self.members())) else "Reconciling"

    def owners(self) -> set[tuple[Any, ...]]:
        result = set()
        for member, current in self.current.items():
            if current is None:
                continue
            is_away = current.epoch == -2
            for role, share in current.assigned.items():
                for each in share:
                    result.add((member, each, role, "held" if is_away else "assigned"))
            for role, share in () if is_away else current.pending.items():
                for each in share - current.assigned[role]:
                    result.add((member, each, role, "revoking"))
        return result

    def snapshot(self, offset: int, time: int | None) -> Snapshot:
        if not self.is_there:
            return Snapshot(offset, time, False)
        away = {member for member, current in self.current.items() if current is not None and current.epoch == -2}
        members = {}
        for member in self.members():
            about = self.about.get(member)
            instance, client = (None, None) if about is None else (about.group_instance_id, about.client_id)
            members[member] = (instance, client, member in away)
        has_all = all(map(self.is_reconciled, self.members() - away))
        reached = self.target_epoch if has_all else None
        owners = self.owners()
        epochs = (reached, self.target_epoch)
        return Snapshot(offset, time, True, self.state(), self.epoch, members, owners, *epochs, self.num_targets)


def snapshots(records: Iterable[Record], first_epoch: int = 1) -> list[Snapshot]:
    """After each operation: records of one batch and one time. Time never goes back."""
    group, result, latest = SlowGroup(first_epoch), [], None
    for _, operation in groupby(records, key=lambda record: (record.batch, record.time)):
        for record in operation:
            group.take(record)
            if record.time is not None and (latest is None or record.time > latest):
                latest = record.time
            last = record
        result.append(group.snapshot(last.offset, latest))
    return result
