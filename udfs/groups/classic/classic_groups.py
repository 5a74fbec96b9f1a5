"""Replays classic groups. A type 2 value holds the whole group, so every event is a difference between two values."""

from collections import Counter

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
from udfs.groups.classic import causes, conflicts, details, owners, rebalance_rows
from udfs.groups.classic.rounds import Round, replaced_ids
from udfs.groups.history.departures import classic_departure
from udfs.groups.history.intervals import MemberStretch, StateStretch
from udfs.groups.readers.classic_columns import TYPE
from udfs.groups.readers.classic_records import NOTHING, ClassicMember, ClassicValue
from udfs.groups.readers.records import ImpossibleLog, Moment, Record
from udfs.groups.states.classic import GROUP_TYPE, Classic
from udfs.groups.states.group import Group
from udfs.groups.states.kip429_sets import group_sets, is_reset

KEY = "2"
CONSUMER = "consumer"


def take(group: Group, record: Record) -> None:
    """A value replaces the group, even one of another type. A tombstone removes the group, but not its offsets."""
    if record.value is None:
        group.now = None
        return
    if group.now is not None and not isinstance(group.now, Classic):
        told = "a record of a classic group, but the group is of another type and was not deleted before"
        group.anomaly(record, AnomalyKind.TYPE_CONFLICT, Severity.WARNING, told)
    group.now = Classic(once(group, record), record.offset, record.leader_epoch)


def once(group: Group, record: Record) -> ClassicValue:
    """The value as coordinators load it: they put the members one by one into a map by id."""
    value: ClassicValue = record.value
    members = {member.member_id: member for member in value.members}
    if len(members) == len(value.members):
        return value
    times = Counter(member.member_id for member in value.members)
    twice = ", ".join(each for each in members if times[each] > 1)
    told = f"member {twice} appears twice in generation {value.generation}: the last entry counts"
    group.anomaly(record, AnomalyKind.DUPLICATE_MEMBER, Severity.WARNING, told)
    return value._replace(members=tuple(members.values()))


def settle(group: Group, before: Classic | None, operation: list[Record], at: Moment) -> None:
    """Applies an operation to a classic group, or to no group."""
    mine = [record for record in operation if record.type == TYPE]
    # Every record must be marked as seen, also those after one that is not exact.
    found = [group.is_exact(KEY, record) for record in mine]
    is_exact = bool(mine) and all(found)
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
    check_value(group, now.value, mine[-1])
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
    record = Record(now.offset, at.time, now.offset, now.leader_epoch, TYPE, None, now.value)
    round_ = new_round(group, None, now, record, at.time, True)
    owned = {tp for tp, _ in group.ledger.owners}
    group.ledger.gather()
    for member in now.value.members:
        if member.member_id not in group.ledger.members:
            join(round_, member, at.time, True)
        missing = (member.assigned or NOTHING) - owned
        if missing:
            group.ledger.own_block(owners.stretch(round_, missing, member.member_id, OwnershipPhase.ASSIGNED, True))
            owned |= missing
    state = GroupState.STABLE if now.value.members else GroupState.EMPTY
    if is_rebalancing and now.value.members:
        enter(round_, GroupState.PREPARING_REBALANCE, at.time, Confidence.LIKELY)
    else:
        enter(round_, state, at.time)


def new_round(
    group: Group, before: Classic | None, now: Classic, record: Record, time: int | None, is_exact: bool,
    passed: frozenset[int] = frozenset(),
) -> Round:  # fmt: skip
    of_before, of_now = {} if before is None else before.members, now.members
    at = Moment(record.offset, time)
    now.time = time
    stop, has_stop = join_phase_end(before, now.value, at, is_exact)
    return Round(
        group, before, now, record, at, stop, has_stop, is_exact, replaced_ids(of_before, of_now), passed, of_before,
        of_now, record.offset if before is None else before.offset,
    )  # fmt: skip


def join_phase_end(before: Classic | None, value: ClassicValue, at: Moment, is_exact: bool) -> tuple[int | None, bool]:
    """The end of the join phase: by the value's own time, within the bounds of the log; else the record's time, which
    is an upper bound. Also whether the value records it."""
    if value.state_time is None or at.time is None:
        return at.time, False
    # If values may be missing, the value's time may be that of a static member that came back: another moment.
    is_told = is_exact or all(member.group_instance_id is None for member in value.members)
    time = min(value.state_time, at.time)
    # Clocks of two brokers may differ. Nothing may end before the value that began it.
    since = None if before is None else before.time
    return (time if since is None else max(time, since)), is_told


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
        join(round_, round_.members_now[new_id], round_.at.time, round_.is_exact)
    if ledger.state is not None:
        ledger.state.last_offset = round_.at.offset
        ledger.state.protocol_type = round_.now.value.protocol_type


def rebalance(round_: Round) -> None:
    value, group = round_.now.value, round_.group
    check_generation(round_)
    replaced_by = {new_id: old_id for old_id, new_id in round_.replaced.items()}
    joined = [each for each in round_.members_now if each not in round_.members_before and each not in replaced_by]
    left = [each for each in round_.members_before if each not in round_.members_now and each not in round_.replaced]
    sets = group_sets(value.members, round_.now.assigned, group.context.topics)
    lost = {
        member.member_id
        for member in value.members
        if is_reset(member) and round_.previous(replaced_by.get(member.member_id, member.member_id))
    }
    cause = causes.cause(round_, joined, left, sets)
    conflicts.check_claims(round_, sets)
    # Owners first: their rows need the members that are removed next.
    done = owners.hand_over(round_, lost, sets)
    changes = details.round_changes(round_, joined, left, cause[0])
    move_members(round_, left)
    # The state last: the calls before it look at the state that ends.
    move_state(round_)
    if is_creation(value):
        return
    detail = details.trigger_detail(round_, done, cause[0], changes, sets)
    rebalance_rows.write_rebalance(round_, done, cause, joined, left, sets, detail)
    rebalance_rows.write_members(round_, replaced_by, left)


def is_creation(value: ClassicValue) -> bool:
    """The coordinator writes this value when a client asks for a group that is new to it. No generation was
    completed."""
    return value.generation == 0 and not value.members


# -- consequences of a value


def move_members(round_: Round, left: list[str]) -> None:
    """Members joined or left during the join phase: at its end at the latest."""
    ledger, generation = round_.group.ledger, round_.now.value.generation
    for member_id in left:
        member = round_.members_before[member_id]
        kind, confidence = causes.leave_kind(round_, member)
        if kind == LeaveKind.LEFT_OR_TIMED_OUT:
            timeouts = member.session_timeout_ms, member.rebalance_timeout_ms
            round_.group.context.departures.append(
                classic_departure(round_.group.group_id, member_id, round_.at.offset, round_.stop, *timeouts)
            )
        ledger.leave(
            round_.at, member_id, kind, generation, until=round_.stop, is_exact=False,
            confidence=confidence,
        )  # fmt: skip
    for old_id in round_.replaced:
        ledger.leave(round_.at, old_id, LeaveKind.STATIC_REPLACED, generation, until=round_.stop, is_exact=False)
    for each in round_.now.value.members:
        if each.member_id not in ledger.members:
            join(round_, each, round_.stop, False)


def join(round_: Round, member: ClassicMember, time: int | None, is_exact: bool) -> None:
    offset = round_.at.offset
    round_.group.ledger.join(
        MemberStretch(
            from_time=time,
            from_offset=offset,
            is_from_exact=is_exact,
            last_offset=offset,
            group_type=GROUP_TYPE,
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rack_id=member.rack_id,
            joined_generation=round_.now.value.generation,
        )
    )


def move_state(round_: Round) -> None:
    ledger, value, at = round_.group.ledger, round_.now.value, round_.at
    if is_first_join(round_):
        # The previous value was written when the first member asked to join. Since then the group was waiting for other
        # members.
        assert ledger.state is not None
        ledger.state.state, ledger.state.confidence = GroupState.PREPARING_REBALANCE, Confidence.LIKELY
    ledger.end_state(at, StateEnd.NEXT_STATE, until=round_.stop, is_exact=False)
    if not value.members:
        # If this value created the group, it was nothing, or of another type, before.
        enter(round_, GroupState.EMPTY, at.time if is_creation(value) else round_.stop)
        return
    if round_.has_stop and round_.stop is not None and at.time is not None and round_.stop < at.time:
        enter(round_, GroupState.COMPLETING_REBALANCE, round_.stop)
        ledger.end_state(at, StateEnd.NEXT_STATE)
    enter(round_, GroupState.STABLE, at.time)


def is_first_join(round_: Round) -> bool:
    before, state = round_.before, round_.group.ledger.state
    if before is None or not is_creation(before.value) or before.value.protocol_type or not round_.is_exact:
        return False
    if state is None or state.from_time is None or round_.stop is None or round_.now.value.generation != 1:
        return False
    longest = max((member.rebalance_timeout_ms or member.session_timeout_ms for member in round_.now.value.members),
                  default=0)  # fmt: skip
    return 0 < (round_.stop - state.from_time) // 1000 <= longest


def enter(round_: Round, state: GroupState, time: int | None, confidence: Confidence = Confidence.CERTAIN) -> None:
    value, offset = round_.now.value, round_.at.offset
    round_.group.ledger.enter(
        round_.at,
        StateStretch(
            time, offset, round_.is_exact, offset, GROUP_TYPE, state, value.generation, value.protocol_type,
            value.protocol, len(value.members), confidence,
        ),
    )  # fmt: skip


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
        told = f"deleted with {len(before.value.members)} members; expected an empty group"
        group.anomaly(record, AnomalyKind.IMPOSSIBLE_ORDER, Severity.WARNING, told, before.offset)
    ends = (StateEnd.DELETED, LeaveKind.GROUP_DELETED, OwnershipEnd.GROUP_DELETED)
    group.ledger.end_all(at, *ends, is_exact=is_exact)


# -- checks


def check_value(group: Group, value: ClassicValue, record: Record) -> None:
    instances = [member.group_instance_id for member in value.members if member.group_instance_id is not None]
    if len(set(instances)) != len(instances):
        twice = ", ".join(sorted({each for each in instances if instances.count(each) > 1}))
        told = f"static instance {twice} appears twice in generation {value.generation}"
        group.anomaly(record, AnomalyKind.DUPLICATE_INSTANCE, Severity.WARNING, told)
    if value.protocol_type == CONSUMER:
        unread = [member.member_id for member in value.members if member.assigned is None or member.topics is None]
        if unread:
            told = f"subscription or assignment of {', '.join(unread)} cannot be read"
            group.anomaly(record, AnomalyKind.FOREIGN_PAYLOAD, Severity.INFO, told)


def check_generation(round_: Round) -> None:
    before, now = round_.before, round_.now
    if before is not None and now.value.generation < before.value.generation:
        told = (
            f"generation {now.value.generation} comes after {before.value.generation}, but the group was not "
            "deleted between"
        )
        if now.leader_epoch > before.leader_epoch:
            told += ": the coordinator moved"
        round_.group.anomaly(round_.record, AnomalyKind.GENERATION_WENT_BACK, Severity.WARNING, told, before.offset)
