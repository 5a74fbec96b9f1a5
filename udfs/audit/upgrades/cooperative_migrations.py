"""Follows KIP-429 migrations: a group replaces an eager assignor by a cooperative one, in two rolling restarts.

The first restart adds cooperative-sticky to each member's assignors. No record shows it. The second removes the old
assignor: with the first member that lacks it, the group uses cooperative-sticky. Members that still have both give up
everything before they join, so they claim to own nothing.

A member that restarts leaves the group and comes back. So when the last one that has both leaves, nobody is left who
has the old assignor, but the restarts are not over: the migration ends with the record in which that member is back.
"""

from udfs.audit.upgrades.member_records import ClassicMemberSummary, ClassicValueSummary, who_of_classic
from udfs.audit.upgrades.progress_state import State, Way

COOPERATIVE = "cooperative-sticky"
EAGER = frozenset({"range", "roundrobin", "sticky"})
# From these subscription versions on, it says what the member owns, and since which generation.
OWNED_SINCE, GENERATION_SINCE = 1, 2
CONSUMERS = "consumer"
# For so long after a member left, another one may be its return. By default, rebalances within this time count as one
# row of rebalances too (storm_gap_s).
BACK_WITHIN = 5 * 60 * 1_000_000


def take_value(state: State, value: ClassicValueSummary, offset: int, time: int | None) -> None:
    before = state.classic
    is_next = before is None or before.generation != value.generation
    is_back = note_members(state, len(before.members) if before is not None else 0, len(value.members), time)
    if value.members and value.protocol_type == CONSUMERS:
        if value.protocol == COOPERATIVE:
            take_cooperative(state, value, offset, time, is_next=is_next, is_back=is_back)
        elif value.protocol in EAGER and state.to_cooperative is not None and state.to_cooperative.turned_back is None:
            state.to_cooperative.turned_back = offset
        state.protocol = value.protocol
    state.classic = value


def note_members(state: State, num_before: int, num: int, time: int | None) -> bool:
    """Notes how many members the group had before some of them left, for as long as they may come back. Returns whether
    some are back now."""
    is_over = state.left_time is None or time is None or time - state.left_time > BACK_WITHIN
    if is_over:
        state.num_whole = num_before
    if num >= state.num_whole:
        state.num_whole, state.left_time = num, None
    elif num < num_before:
        state.left_time = time
    return not is_over and num > num_before


def take_cooperative(
    state: State, value: ClassicValueSummary, offset: int, time: int | None, *, is_next: bool, is_back: bool
) -> None:
    before = state.classic
    earlier = {member.member_id: member for member in before.members} if before is not None else {}
    shown = {member.member_id: is_eager(member, earlier, before) for member in value.members}
    way = state.to_cooperative
    if state.protocol in EAGER:
        # Members that were there before still have the old assignor. Changing that takes a restart, which gives them
        # another id.
        way = state.to_cooperative = Way(offset, time, time, are_eager=dict.fromkeys(earlier, True))
    elif way is None:
        if not any(shown.values()):
            return
        way = state.to_cooperative = Way(offset, time, time, is_begin_seen=False)
    left = {each for each, eager in way.are_eager.items() if eager}
    way.are_eager = {each: way.are_eager.get(each) if eager is None else eager for each, eager in shown.items()}
    still = {each for each, eager in way.are_eager.items() if eager}
    is_progress = way.first_offset == offset or bool(left - still)
    was_finished = way.is_finished
    note_progress(way, is_progress, is_next, not still, time)
    if way.is_finished:
        note_end(state, way, value, time, is_end=not was_finished or (way.is_awaiting and is_back))


def note_end(state: State, way: Way, value: ClassicValueSummary, time: int | None, *, is_end: bool) -> None:
    """`is_end`: with this record nobody is left who has the old assignor, or somebody is back who was missing then."""
    if is_end:
        way.finished_time, way.finished_by = time, list(map(who_of_classic, value.members))
    way.is_awaiting = state.left_time is not None and (is_end or way.is_awaiting)


def is_eager(
    member: ClassicMemberSummary, earlier: dict[str, ClassicMemberSummary], before: ClassicValueSummary | None
) -> bool | None:
    """Whether it gave up what it had before it joined; None: it had nothing, or lost it by a reset."""
    if member.has_claimed:
        return False
    if member.version is None:
        return None
    if member.version < OWNED_SINCE:
        return True
    had = earlier.get(member.member_id)
    if before is None or had is None or not had.has_partitions:
        return None
    if member.version < GENERATION_SINCE:
        return True
    # It may have joined a later generation, of which nobody got an assignment: then it still has what it had.
    return True if member.generation_id is not None and member.generation_id >= before.generation else None


def note_progress(way: Way, is_progress: bool, is_next: bool, is_finished: bool, time: int | None) -> None:
    """After a record of the group: notes whether a member changed, whether there was a rebalance, and whether no member
    is left to change."""
    if is_progress:
        way.progress_time, way.generations_since = time, 0
    else:
        way.generations_since += is_next
    if is_finished and not way.is_finished:
        way.finished_time = time
    way.is_finished = is_finished
