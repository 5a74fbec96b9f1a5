"""Follows KIP-429 migrations: a group replaces an eager assignor by a cooperative one, in two rolling restarts.

The first restart adds cooperative-sticky to each member's assignors. No record shows it. The second removes the old
assignor: with the first member that lacks it, the group uses cooperative-sticky. Members that still have both give up
everything before they join, so they claim to own nothing.
"""

from udfs.audit.upgrades.member_records import ClassicMemberSummary, ClassicValueSummary
from udfs.audit.upgrades.progress_state import State, Way

COOPERATIVE = "cooperative-sticky"
EAGER = frozenset({"range", "roundrobin", "sticky"})
# From these subscription versions on, it says what the member owns, and since which generation.
OWNED_SINCE, GENERATION_SINCE = 1, 2
CONSUMERS = "consumer"


def take_value(state: State, value: ClassicValueSummary, offset: int, time: int | None) -> None:
    before = state.classic
    is_next = before is None or before.generation != value.generation
    if value.members and value.protocol_type == CONSUMERS:
        if value.protocol == COOPERATIVE:
            take_cooperative(state, before, value, offset, time, is_next)
        elif value.protocol in EAGER and state.to_cooperative is not None and state.to_cooperative.turned_back is None:
            state.to_cooperative.turned_back = offset
        state.protocol = value.protocol
    state.classic = value


def take_cooperative(
    state: State,
    before: ClassicValueSummary | None,
    value: ClassicValueSummary,
    offset: int,
    time: int | None,
    is_next: bool,
) -> None:
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
    note_progress(way, is_progress, is_next, not still, time)


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
    is_same_round = member.version < GENERATION_SINCE or member.generation_id == before.generation
    return True if is_same_round else None


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
