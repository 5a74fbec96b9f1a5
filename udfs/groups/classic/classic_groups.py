"""Replays classic groups. A type 2 value holds the whole group, so every event is a difference between two values."""

from schemas.words.history import (
    AnomalyKind,
    Confidence,
    GroupState,
    LeaveKind,
    OwnershipEnd,
    OwnershipPhase,
    Severity,
    StateEnd,
)
from udfs.groups.classic import causes, details, members_and_state, owners, rebalance_rows, value_checks
from udfs.groups.classic.rounds import Round, replaced_ids
from udfs.groups.readers.classic_columns import TYPE
from udfs.groups.readers.classic_records import NOTHING, ClassicValue
from udfs.groups.readers.records import ImpossibleLog, Moment, Record
from udfs.groups.states.classic import Classic
from udfs.groups.states.group import Group
from udfs.groups.states.kip429_sets import group_sets, is_reset

KEY = "2"


def take(group: Group, record: Record) -> None:
    """A value replaces the group, even one of another type. A tombstone removes the group, but not its offsets."""
    if record.value is None:
        group.now = None
        return
    if group.now is not None and not isinstance(group.now, Classic):
        line = "a record of a classic group, but the group is of another type and was not deleted before"
        group.anomaly(record, AnomalyKind.TYPE_CONFLICT, Severity.WARNING, line)
    group.now = Classic(value_checks.once(group, record), record.offset, record.leader_epoch)


def settle(group: Group, before: Classic | None, operation: list[Record], at: Moment) -> None:
    """Applies an operation to a classic group, or to no group."""
    mine = [record for record in operation if record.type == TYPE]
    # Every record must be marked as seen, also those after one that is not exact.
    are_exact = [group.is_exact(KEY, record) for record in mine]
    is_exact = bool(mine) and all(are_exact)
    now = group.now
    if not isinstance(now, Classic):
        if before is not None:
            was_emptied = any(record.value is not None and not record.value.members for record in mine)
            # Records of another group type may have replaced it and deleted that group, all in one operation.
            delete(group, before, operation[-1], at, is_exact, was_emptied=was_emptied)
        return
    if not mine:
        types = ", ".join(map(str, sorted({record.type for record in operation})))
        raise ImpossibleLog(f"tombstones of record types {types} for a classic group, which has only type {TYPE}")
    deleted = max((place for place, record in enumerate(mine) if record.value is None), default=None)
    if before is not None and deleted is not None:
        # In the same batch and millisecond the group was deleted and made again: its generations start again, too.
        was_emptied = any(record.value is not None and not record.value.members for record in mine[:deleted])
        gone = mine[deleted]
        delete(group, before, gone, Moment(gone.offset, at.time), are_exact[deleted], was_emptied=was_emptied)
        before, mine = None, mine[deleted + 1 :]
    value_checks.check_value(group, now.value, mine[-1])
    passed = frozenset(record.value.generation for record in mine[:-1] if record.value is not None)
    round_ = new_round(group, before, now, mine[-1], at.time, is_exact, passed)
    if before is not None and is_same_round(round_):
        keep(round_, before)
    else:
        rebalance(round_)


def adopt(group: Group, now: Classic, at: Moment, *, is_rebalancing: bool = False) -> None:
    """Continues a group that was converted to the classic protocol: the value is a copy, not a rebalance. The ledger
    already has what was converted. `is_rebalancing`: a member left with the conversion, so the others are asked to join
    again at once."""
    now.is_copied = True
    record = Record(
        offset=now.offset,
        time=at.time,
        batch=now.offset,
        leader_epoch=now.leader_epoch,
        type=TYPE,
        member=None,
        value=now.value,
    )
    round_ = new_round(group, None, now, record, at.time, True)
    owned = NOTHING.union(*[of.tp for of in group.ledger.stretches()])
    for member in now.value.members:
        if member.member_id not in group.ledger.members:
            members_and_state.join(round_, member, at.time, True)
        missing = (member.assigned or NOTHING) - owned
        if missing:
            group.ledger.own(owners.ownership(round_, missing, member.member_id, OwnershipPhase.ASSIGNED, True))
            owned |= missing
    state = GroupState.STABLE if now.value.members else GroupState.EMPTY
    if is_rebalancing and now.value.members:
        members_and_state.enter(round_, GroupState.PREPARING_REBALANCE, at.time, Confidence.LIKELY)
    else:
        members_and_state.enter(round_, state, at.time)


def new_round(
    group: Group, before: Classic | None, now: Classic, record: Record, time: int | None, is_exact: bool,
    passed: frozenset[int] = frozenset(),
) -> Round:  # fmt: skip
    of_before, of_now = {} if before is None else before.members, now.members
    at = Moment(record.offset, time)
    now.time = time
    stop, has_stop = join_phase_end(before, now.value, at, is_exact)
    return Round(
        group=group,
        before=before,
        now=now,
        record=record,
        at=at,
        stop=stop,
        has_stop=has_stop,
        is_exact=is_exact,
        replaced=replaced_ids(of_before, of_now),
        passed=passed,
        members_before=of_before,
        members_now=of_now,
        first_offset=record.offset if before is None else before.offset,
    )


def join_phase_end(before: Classic | None, value: ClassicValue, at: Moment, is_exact: bool) -> tuple[int | None, bool]:
    """The end of the join phase: by the value's own time, within the bounds of the log; else the record's time, which
    is an upper bound. Also whether the value records it."""
    if value.state_time is None or at.time is None:
        return at.time, False
    # If values may be missing, the value's time may be that of a static member that came back: another moment.
    is_recorded = is_exact or all(member.group_instance_id is None for member in value.members)
    time = min(value.state_time, at.time)
    # Clocks of two brokers may differ. Nothing may end before the value that began it.
    since = None if before is None else before.time
    return (time if since is None else max(time, since)), is_recorded


# -- kinds of values


def is_same_round(round_: Round) -> bool:
    """Whether a static member only came back under another id, or the same value was written again: same generation,
    same assignments."""
    assert round_.before is not None
    before, now = round_.before.value, round_.now.value
    if before.generation != now.generation or before.protocol != now.protocol:
        return False
    if len(before.members) != len(now.members):
        return False
    for member in before.members:
        same = round_.members_now.get(round_.replaced.get(member.member_id, member.member_id))
        if same is None or same.assigned != member.assigned:
            return False
    return True


def keep(round_: Round, before: Classic) -> None:
    round_.now.idle = dict(before.idle)
    round_.now.is_copied = before.is_copied
    ledger = round_.group.ledger
    owners.swap(round_)
    for old_id, new_id in round_.replaced.items():
        ledger.leave(
            round_.at, old_id, LeaveKind.STATIC_REPLACED, round_.now.value.generation, is_exact=round_.is_exact
        )
        members_and_state.join(round_, round_.members_now[new_id], round_.at.time, round_.is_exact)
    if ledger.state is not None:
        ledger.state.last_offset = round_.at.offset
        ledger.state.protocol_type = round_.now.value.protocol_type


def rebalance(round_: Round) -> None:
    value, group = round_.now.value, round_.group
    value_checks.check_generation(round_)
    replaced_by = {new_id: old_id for old_id, new_id in round_.replaced.items()}
    joined = [each for each in round_.members_now if each not in round_.members_before and each not in replaced_by]
    left = [each for each in round_.members_before if each not in round_.members_now and each not in round_.replaced]
    sets = group_sets(value.members, round_.now.assigned_partitions, group.context.topics)
    lost = {
        member.member_id
        for member in value.members
        if is_reset(member) and round_.previous(replaced_by.get(member.member_id, member.member_id))
    }
    cause = causes.cause(round_, joined, left, sets)
    value_checks.check_claims(round_, sets)
    # Owners first: their rows need the members that are removed next.
    handover = owners.hand_over(round_, lost, sets)
    changes = details.round_changes(round_, joined, left, cause[0])
    members_and_state.move_members(round_, left)
    # The state last: the calls before it look at the state that ends.
    began = members_and_state.move_state(round_)
    if members_and_state.is_creation(value):
        return
    detail = details.trigger_detail(round_, handover, cause[0], changes, sets)
    rebalance_rows.write_rebalance(round_, handover, cause, joined, left, sets, detail, began)
    rebalance_rows.write_members(round_, replaced_by, left)


def confirm(group: Group, newest: Classic) -> None:
    """The newest value confirms everything that is open. This is written here, when somebody looks at it, and not at
    every rebalance."""
    ledger, offset = group.ledger, newest.offset
    for member in ledger.members.values():
        member.last_offset = offset
    for of in ledger.stretches():
        of.last_offset = offset


def delete(group: Group, before: Classic, record: Record, at: Moment, is_exact: bool, *, was_emptied: bool) -> None:
    """`was_emptied`: an empty value is in the same operation, that is in the same batch with the same time."""
    if before.value.members and is_exact and not was_emptied and before.value.state_time is not None:
        line = f"deleted with {len(before.value.members)} members; expected an empty group"
        group.anomaly(record, AnomalyKind.IMPOSSIBLE_ORDER, Severity.WARNING, line, before.offset)
    ends = (StateEnd.DELETED, LeaveKind.GROUP_DELETED, OwnershipEnd.GROUP_DELETED)
    group.ledger.end_all(at, *ends, is_exact=is_exact)
