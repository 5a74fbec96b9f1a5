"""Intervals of members and of the group's state, as a new value of a classic group changes them."""

from schemas.words.history import Confidence, GroupState, LeaveKind, StateEnd
from udfs.groups.classic import causes
from udfs.groups.classic.rounds import Round
from udfs.groups.history.departures import classic_departure
from udfs.groups.history.intervals import MemberStretch, StateStretch
from udfs.groups.readers.classic_records import ClassicMember, ClassicValue
from udfs.groups.states.classic import GROUP_TYPE


def move_members(round_: Round, left: list[str]) -> None:
    """Members joined or left during the join phase: at its end at the latest."""
    ledger, generation = round_.group.ledger, round_.now.value.generation
    for member_id in left:
        member = round_.members_before[member_id]
        kind, confidence = causes.leave_kind(round_, member)
        if kind == LeaveKind.LEFT_OR_TIMED_OUT:
            stay, group_id = ledger.members.get(member_id), round_.group.group_id
            since = None if stay is None else stay.from_time
            timeouts = member.session_timeout_ms, member.rebalance_timeout_ms
            departure = classic_departure(group_id, member_id, since, round_.at.offset, round_.stop, *timeouts)
            round_.group.context.departures.append(departure)
        ledger.leave(
            round_.at, member_id, kind, generation, until=round_.stop, is_exact=False,
            confidence=confidence,
        )  # fmt: skip
    for old_id in round_.replaced:
        ledger.leave(round_.at, old_id, LeaveKind.STATIC_REPLACED, generation, until=round_.stop, is_exact=False)
    for each in round_.now.value.members:
        if each.member_id not in ledger.members:
            join(round_, each, round_.stop, False)
        # The leader of this generation wrote its assignments.
        ledger.members[each.member_id].libraries &= each.libraries & each.leader_libraries


def join(round_: Round, member: ClassicMember, time: int | None, is_exact: bool) -> None:
    offset = round_.at.offset
    round_.group.ledger.join(
        MemberStretch(
            from_time=time,
            from_record_offset=offset,
            is_from_exact=is_exact,
            last_offset=offset,
            group_type=GROUP_TYPE,
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rack_id=member.rack_id,
            joined_generation=round_.now.value.generation,
            libraries=member.libraries,
        )
    )


def move_state(round_: Round) -> int | None:
    """Returns when the join phase began, if the log shows it."""
    ledger, value, at, began = round_.group.ledger, round_.now.value, round_.at, None
    if is_first_join(round_):
        # The previous value was written when the first member asked to join. Since then the group was waiting for other
        # members.
        assert ledger.state is not None
        began = ledger.state.from_time
        ledger.state.state, ledger.state.confidence = GroupState.PREPARING_REBALANCE, Confidence.LIKELY
    ledger.end_state(at, StateEnd.NEXT_STATE, until=round_.stop, is_exact=False)
    if not value.members:
        # If this value created the group, it was nothing, or of another type, before.
        enter(round_, GroupState.EMPTY, at.time if is_creation(value) else round_.stop)
        return began
    if round_.has_stop and round_.stop is not None and at.time is not None and round_.stop < at.time:
        enter(round_, GroupState.COMPLETING_REBALANCE, round_.stop)
        ledger.end_state(at, StateEnd.NEXT_STATE)
    enter(round_, GroupState.STABLE, at.time)
    return began


def is_creation(value: ClassicValue) -> bool:
    """The coordinator writes this value when a client asks for a group that is new to it. No generation was
    completed."""
    return value.generation == 0 and not value.members


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
            from_time=time,
            from_record_offset=offset,
            is_from_exact=round_.is_exact,
            last_offset=offset,
            group_type=GROUP_TYPE,
            state=state,
            generation_or_epoch=value.generation,
            protocol_type=value.protocol_type,
            assignor=value.protocol,
            num_members=len(value.members),
            confidence=confidence,
        ),
    )
