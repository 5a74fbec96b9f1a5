"""The current state of one group, since when, and the rows of its past: open intervals become rows when they end. Group
types differ in how they record events; the consequences are written only here."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from schemas.words.history import (
    Confidence,
    LeaveKind,
    OwnershipEnd,
    OwnershipPhase,
    StateEnd,
)
from udfs.groups.history.intervals import MemberStretch, OpenInterval, OwnerStretch, StateStretch
from udfs.groups.history.reading_ends import Begin
from udfs.groups.history.row_makers import GROUP_STATE_INTERVAL, MEMBERSHIP_INTERVAL, OWNERSHIP_INTERVAL
from udfs.groups.history.rows import Row, RowsByTable
from udfs.groups.readers.client_libraries import named
from udfs.groups.readers.records import Moment
from udfs.topics.partition_codes import TopicCodes

# For each class, a function that returns all its fields.
FIELDS: "dict[type[Any], attrgetter[tuple[Any, ...]]]" = {
    of: attrgetter(*of.__dataclass_fields__) for of in (StateStretch, MemberStretch, OwnerStretch)
}
TP = list(OwnerStretch.__dataclass_fields__).index("tp")
NOTHING: frozenset[int] = frozenset()


def values_of(of: StateStretch | MemberStretch | OwnerStretch) -> list[Any]:
    return list(FIELDS[type(of)](of))


def plain_owner(of: OwnerStretch, topics: TopicCodes) -> list[Any]:
    values = values_of(of)
    values[TP] = topics.plain(of.tp)
    return values


@dataclass
class Ledger:
    group_id: str
    rows: RowsByTable
    state: StateStretch | None = None
    members: dict[str, MemberStretch] = field(default_factory=dict)
    # By member, the intervals of what it owns.
    owners: dict[str, list[OwnerStretch]] = field(default_factory=dict)

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

    def own(self, new: OwnerStretch) -> None:
        """The member owns these partitions from now on. The caller releases the previous owner."""
        self.owners.setdefault(new.member_id, []).append(new)

    def release(
        self, at: Moment, tps: frozenset[int], member_id: str, why: OwnershipEnd, until: int | None = None, *,
        role: str | None = None, is_exact: bool = True, longest_ms: int = 0,
    ) -> None:  # fmt: skip
        """The member no longer owns these. The rest of an interval continues. `longest_ms`: how long before the member
        may have stopped reading them."""
        if not tps:
            return
        time = at.time if until is None else until
        left, member = [], self.members.get(member_id)
        for of in self.owners.pop(member_id, ()):
            whole = of.tp
            ended = NOTHING if of.role != role else whole if whole is tps else whole & tps
            if ended:
                of.tp = ended
                self.rows.add(owner_row(self.group_id, of, member, time, at.offset, is_exact, why, longest_ms))
                of.tp = NOTHING if ended is whole else whole - ended
            if of.tp:
                left.append(of)
        if left:
            self.owners[member_id] = left

    def by_beginning(self, tps: frozenset[int], member_id: str, role: str | None = None) -> dict[Begin, frozenset[int]]:
        """Partitions by the time since which the member has owned them, or was asked to give them up."""
        by_time: dict[Begin, frozenset[int]] = {}
        left = tps
        for of in self.owners.get(member_id, ()):
            mine = NOTHING if of.role != role else tps if of.tp is tps else left & of.tp
            if mine:
                since = None if of.phase == OwnershipPhase.HELD else of.from_time
                begin = Begin(since, of.phase == OwnershipPhase.REVOKING)
                by_time[begin] = by_time.get(begin, NOTHING) | mine
                left = NOTHING if mine is tps else left - mine
        if left:
            by_time[Begin(None)] = by_time.get(Begin(None), NOTHING) | left
        return by_time

    def stretches(self) -> Iterator[OwnerStretch]:
        """All intervals of ownership."""
        for of_member in self.owners.values():
            yield from of_member

    # -- all of it

    def end_all(self, at: Moment, state: StateEnd, member: LeaveKind, owner: OwnershipEnd, *, is_exact: bool = True,
                generation: int | None = None) -> None:  # fmt: skip
        """The group was deleted, or nothing more is known of it."""
        for of in self.stretches():
            row = owner_row(self.group_id, of, self.members.get(of.member_id), at.time, at.offset, is_exact, owner)
            self.rows.add(row)
        self.owners = {}
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
        return {
            "state": None if self.state is None else values_of(self.state),
            "members": [values_of(member) for member in self.members.values()],
            "owners": [plain_owner(of, topics) for of in self.stretches()],
        }

    @classmethod
    def from_plain(cls, group_id: str, rows: RowsByTable, plain: dict[str, Any], topics: TopicCodes) -> "Ledger":
        ledger = cls(group_id, rows)
        ledger.state = None if plain["state"] is None else StateStretch(*plain["state"])
        for member in plain["members"]:
            ledger.join(MemberStretch(*member))
        # Older releases stored the intervals of classic groups apart.
        for owner in [*plain["owners"], *plain.get("blocks", ())]:
            owner[TP] = topics.from_plain(owner[TP])
            ledger.own(OwnerStretch(*owner))
        return ledger


# -- rows of intervals that end, or that are open at the end of the log


def state_row(
    group_id: str,
    of: StateStretch,
    to_time: int | None,
    to_record_offset: int | None,
    is_exact: bool,
    why: StateEnd | None,
) -> Row:
    return GROUP_STATE_INTERVAL(
        of, group_id=group_id, to_time=to_time, to_record_offset=to_record_offset, is_provisional=why is None,
        is_to_exact=is_exact, ended_by=why, evidence_first_offset=of.from_record_offset,
        evidence_last_offset=last_offset(of, to_record_offset),
    )  # fmt: skip


def member_row(
    group_id: str, of: MemberStretch, to_time: int | None, to_record_offset: int | None, is_exact: bool,
    kind: LeaveKind | None, generation: int | None, confidence: Confidence,
) -> Row:  # fmt: skip
    library, library_confidence = named(of.libraries, group_id, of.client_id)
    return MEMBERSHIP_INTERVAL(
        of, group_id=group_id, client_library=library, client_library_confidence=library_confidence,
        to_time=to_time, to_record_offset=to_record_offset, is_provisional=kind is None, is_to_exact=is_exact,
        ended_by=kind, left_generation=generation, leave_kind=kind, evidence_first_offset=of.from_record_offset,
        evidence_last_offset=last_offset(of, to_record_offset), confidence=confidence,
    )  # fmt: skip


def owner_row(
    group_id: str, of: OwnerStretch, member: MemberStretch | None, to_time: int | None, to_record_offset: int | None,
    is_exact: bool, why: OwnershipEnd | None, longest_ms: int = 0,
) -> Row:  # fmt: skip
    """`member`: None: its record is missing."""
    instance, client_id, client_host = (
        (None, None, None) if member is None else (member.group_instance_id, member.client_id, member.client_host)
    )
    return OWNERSHIP_INTERVAL(
        of, group_id=group_id, to_time=to_time, to_record_offset=to_record_offset, is_provisional=why is None,
        is_to_exact=is_exact, ended_by=why, group_instance_id=instance, client_id=client_id, client_host=client_host,
        reader_doubt_from_time=doubt_from(of, to_time, longest_ms),
        evidence_first_offset=of.from_record_offset, evidence_last_offset=last_offset(of, to_record_offset),
    )  # fmt: skip


def doubt_from(of: OwnerStretch, to_time: int | None, longest_ms: int) -> int | None:
    """From when the member may have stopped reading. One that is asked to give a partition up, or is away, may have
    from the first."""
    if of.phase != OwnershipPhase.ASSIGNED:
        return of.from_time
    if to_time is None or of.from_time is None:
        return None
    return max(of.from_time, to_time - longest_ms * 1000)


def last_offset(of: OpenInterval, to_record_offset: int | None) -> int:
    return of.last_offset if to_record_offset is None else to_record_offset
