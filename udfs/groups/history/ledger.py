"""The current state of one group, since when, and the rows of its past: open intervals become rows when they end. Group
types differ in how they record events; the consequences are written only here."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

from schemas.words.history import (
    Confidence,
    LeaveKind,
    OwnershipEnd,
    StateEnd,
)
from udfs.groups.history.intervals import (
    Block,
    MemberStretch,
    OwnerStretch,
    Partition,
    StateStretch,
    member_row,
    owner_row,
    state_row,
)
from udfs.groups.history.rows import RowsByTable
from udfs.groups.readers.records import Moment
from udfs.topics.partition_codes import TopicCodes

# For each class, a function that returns all its fields.
FIELDS: "dict[type[Any], attrgetter[tuple[Any, ...]]]" = {
    of: attrgetter(*of.__dataclass_fields__) for of in (StateStretch, MemberStretch, OwnerStretch)
}


def values_of(of: StateStretch | MemberStretch | Partition | Block) -> list[Any]:
    return list(FIELDS[type(of)](of))


TP = list(OwnerStretch.__dataclass_fields__).index("tp")


def with_tp(of: Partition | Block, tp: Any) -> list[Any]:
    values = values_of(of)
    values[TP] = tp
    return values


@dataclass
class Ledger:
    group_id: str
    rows: RowsByTable
    state: StateStretch | None = None
    members: dict[str, MemberStretch] = field(default_factory=dict)
    # By partition and role, then by member. There is one member, except in share groups and in anomalies.
    owners: dict[tuple[int, str | None], dict[str, Partition]] = field(default_factory=dict)
    # For classic groups instead: by member, its blocks.
    blocks: dict[str, list[Block]] = field(default_factory=dict)

    # -- states

    def enter(self, at: Moment, new: StateStretch) -> None:
        """The group has this state from now on. An equal state continues."""
        old = self.state
        if old is not None:
            same = ("group_type", "state", "generation_or_epoch", "protocol_type", "assignor")
            if all(getattr(old, name) == getattr(new, name) for name in same):
                old.num_members, old.last_offset = new.num_members, at.offset
                return
            self.end_state(at, StateEnd.NEXT_STATE, until=new.from_time, is_exact=new.is_from_exact)
        self.state = new

    def end_state(self, at: Moment, why: StateEnd, *, until: int | None = None, is_exact: bool = True) -> None:
        """`until` is earlier than the record if the record names an earlier time."""
        if self.state is not None:
            time = at.time if until is None else until
            if time is not None and self.state.from_time is not None:
                time = max(time, self.state.from_time)
            self.rows.add(state_row(self.group_id, self.state, time, at.offset, is_exact, why))
            self.state = None

    # -- members

    def join(self, new: MemberStretch) -> None:
        self.members[new.member_id] = new

    def leave(
        self, at: Moment, member_id: str, kind: LeaveKind, generation: int | None, *, until: int | None = None,
        is_exact: bool = True, confidence: Confidence = Confidence.CERTAIN,
    ) -> None:  # fmt: skip
        """The member left. The caller releases what it owns before this."""
        of = self.members.pop(member_id, None)
        if of is not None:
            time = at.time if until is None else until
            self.rows.add(member_row(self.group_id, of, time, at.offset, is_exact, kind, generation, confidence))

    # -- owners

    def own(self, new: Partition) -> None:
        """The member owns the partition from now on. The caller releases the previous owner."""
        key = (new.tp, new.role)
        of_members = self.owners.get(key)
        if of_members is None:
            self.owners[key] = {new.member_id: new}
        else:
            of_members[new.member_id] = new

    def release(
        self, at: Moment, tp: int, member_id: str, why: OwnershipEnd, *, role: str | None = None,
        until: int | None = None, is_exact: bool = True,
    ) -> None:  # fmt: skip
        of_members = self.owners.get((tp, role), {})
        of = of_members.pop(member_id, None)
        if not of_members:
            self.owners.pop((tp, role), None)
        if of is not None:
            time = at.time if until is None else until
            member = self.members.get(member_id)
            self.rows.add(owner_row(self.group_id, of, member, time, at.offset, is_exact, why))

    def own_block(self, new: Block) -> None:
        self.blocks.setdefault(new.member_id, []).append(new)

    def release_block(
        self, at: Moment, tps: frozenset[int], member_id: str, why: OwnershipEnd, until: int | None = None, *,
        is_exact: bool = True,
    ) -> None:  # fmt: skip
        """The member no longer owns these. The rest of a block continues."""
        if not tps:
            return
        time = at.time if until is None else until
        left, member = [], self.members.get(member_id)
        for of in self.blocks.pop(member_id, ()):
            whole: frozenset[int] = of.tp
            of.tp = whole if whole is tps else whole & tps
            if of.tp:
                self.rows.add(owner_row(self.group_id, of, member, time, at.offset, is_exact, why))
            if of.tp is whole:
                continue
            of.tp = whole - of.tp
            if of.tp:
                left.append(of)
        if left:
            self.blocks[member_id] = left

    def spread(self) -> None:
        """Splits blocks, for groups whose members change one by one."""
        for blocks in self.blocks.values():
            for of in blocks:
                for tp in of.tp:
                    self.own(OwnerStretch(*with_tp(of, tp)))
        self.blocks = {}

    def gather(self) -> None:
        """The inverse of `spread`."""
        tps_of: dict[tuple[Any, ...], set[int]] = {}
        for of_members in self.owners.values():
            for each in of_members.values():
                tps_of.setdefault(tuple(with_tp(each, None)), set()).add(each.tp)
        self.owners = {}
        for values, tps in tps_of.items():
            of: Block = OwnerStretch(*values)
            of.tp = frozenset(tps)
            self.own_block(of)

    def stretches(self) -> Iterator[Partition | Block]:
        """All intervals of ownership."""
        for of_members in self.owners.values():
            yield from of_members.values()
        for blocks in self.blocks.values():
            yield from blocks

    # -- all of it

    def end_all(self, at: Moment, state: StateEnd, member: LeaveKind, owner: OwnershipEnd, *, is_exact: bool = True,
                generation: int | None = None) -> None:  # fmt: skip
        """The group was deleted, or nothing more is known of it."""
        for (tp, role), of_members in list(self.owners.items()):
            for member_id in list(of_members):
                self.release(at, tp, member_id, owner, role=role, is_exact=is_exact)
        for of in self.stretches():
            row = owner_row(self.group_id, of, self.members.get(of.member_id), at.time, at.offset, is_exact, owner)
            self.rows.add(row)
        self.blocks = {}
        for member_id in list(self.members):
            self.leave(at, member_id, member, generation, is_exact=is_exact)
        self.end_state(at, state, is_exact=is_exact)

    def open_rows(self, rows: RowsByTable) -> None:
        """Open intervals as rows."""
        if self.state is not None:
            rows.add(state_row(self.group_id, self.state, None, None, True, None))
        for member in self.members.values():
            rows.add(member_row(self.group_id, member, None, None, True, None, None, Confidence.CERTAIN))
        for owner in self.stretches():
            rows.add(owner_row(self.group_id, owner, self.members.get(owner.member_id), None, None, True, None))

    def plain(self, topics: TopicCodes) -> dict[str, Any]:
        """In the form for JSON: values without names, since a state is stored for each group."""
        of_partitions = [of for of_members in self.owners.values() for of in of_members.values()]
        of_blocks = [of for blocks in self.blocks.values() for of in blocks]
        return {
            "state": None if self.state is None else values_of(self.state),
            "members": [values_of(member) for member in self.members.values()],
            "owners": [
                [*values[:TP], topics.plain(of.tp for of in some), *values[TP + 1 :]]
                # Partitions that a member got at once differ in nothing else.
                for values, some in groupby(of_partitions, key=lambda of: with_tp(of, None))
            ],
            "blocks": [with_tp(of, topics.plain(of.tp)) for of in of_blocks],
        }

    @classmethod
    def from_plain(cls, group_id: str, rows: RowsByTable, plain: dict[str, Any], topics: TopicCodes) -> "Ledger":
        ledger = cls(group_id, rows)
        ledger.state = None if plain["state"] is None else StateStretch(*plain["state"])
        for member in plain["members"]:
            ledger.join(MemberStretch(*member))
        for owner in plain["owners"]:
            for tp in topics.numbers_of(owner[TP]):
                ledger.own(OwnerStretch(*[*owner[:TP], tp, *owner[TP + 1 :]]))
        for block in plain["blocks"]:
            block[TP] = topics.from_plain(block[TP])
            ledger.own_block(OwnerStretch(*block))
        return ledger
