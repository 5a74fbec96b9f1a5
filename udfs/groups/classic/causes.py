"""Why a classic group rebalanced and how its members left, as far as its values show."""

from schemas.words.history import Confidence, LeaveKind, RebalanceMode, RebalanceTrigger
from udfs.groups.classic.rounds import Round
from udfs.groups.readers.classic_records import ClassicMember
from udfs.groups.states.kip429_sets import RESET, GroupSets, union

Cause = tuple[RebalanceTrigger, Confidence]

# Assignors whose members keep their partitions while they join.
COOPERATIVE = frozenset({"cooperative-sticky", "stream"})


def cause(round_: Round, joined: list[str], left: list[str], sets: GroupSets) -> Cause:
    before, now = round_.before, round_.now
    if not now.value.members:
        return RebalanceTrigger.GROUP_EMPTIED, Confidence.CERTAIN
    if before is None or (before.value.generation == 0 and not before.value.members):
        known = before is not None or round_.is_exact
        return (RebalanceTrigger.GROUP_CREATED, Confidence.CERTAIN) if known else unknown()
    step = now.value.generation - before.value.generation
    if step <= 0:
        has_moved = now.leader_epoch > before.leader_epoch
        return (RebalanceTrigger.COORDINATOR_FAILOVER, Confidence.LIKELY) if has_moved else unknown()
    if step > 1 and not round_.is_exact:
        return unknown()
    if before.is_copied:
        return RebalanceTrigger.PROTOCOL_MIGRATION, Confidence.LIKELY
    return change(round_, joined, left, sets)


def unknown() -> Cause:
    return RebalanceTrigger.UNKNOWN, Confidence.POSSIBLE


def change(round_: Round, joined: list[str], left: list[str], sets: GroupSets) -> Cause:
    """The difference between two consecutive values."""
    assert round_.before is not None
    before = round_.before.value
    # If rebalances in between left no value, the difference is certain, but it may not have happened in one step.
    sure = Confidence.CERTAIN if round_.now.value.generation == before.generation + 1 else Confidence.LIKELY
    if before.protocol and round_.now.value.protocol != before.protocol:
        return RebalanceTrigger.ASSIGNOR_CHANGED, sure
    if joined:
        # Members that left may have left before or after that rebalance.
        return RebalanceTrigger.MEMBER_JOINED, Confidence.LIKELY if left else sure
    if left:
        return RebalanceTrigger.MEMBER_LEFT, sure
    if round_.replaced:
        return RebalanceTrigger.STATIC_RESTART, sure
    if any(is_other_subscription(round_.members_before[each], member) for each, member in round_.members_now.items()):
        return RebalanceTrigger.SUBSCRIPTION_CHANGED, Confidence.LIKELY
    if is_other_metadata(round_, sets):
        return RebalanceTrigger.METADATA_CHANGED, Confidence.LIKELY
    return RebalanceTrigger.LEADER_REJOINED, Confidence.LIKELY


def is_other_subscription(before: ClassicMember, now: ClassicMember) -> bool:
    """Clients list their topics in any order."""
    if before.topics == now.topics:
        return False
    return None in (before.topics, now.topics) or set(before.topics or ()) != set(now.topics or ())


def is_other_metadata(round_: Round, sets: GroupSets) -> bool:
    """Whether partitions appeared or disappeared that no rebalance withheld: topics were created, deleted or
    enlarged."""
    had = round_.had
    if had == sets.assigned:
        return False
    came = sets.assigned - had - sets.claimed
    assert round_.before is not None
    if came and not came <= union(round_.before.revoking.values()):
        return True
    return bool(had - sets.assigned - sets.withheld)


def mode(round_: Round, sets: GroupSets) -> RebalanceMode | None:
    """The rebalance mode: by what members claim; if no member had anything to claim, by the assignor's name."""
    members = round_.now.value.members
    if not sets.assigned and all(member.assigned is None for member in members):
        return None
    if sets.claimed:
        return RebalanceMode.COOPERATIVE
    for member in members:
        before = round_.members_before.get(member.member_id)
        if before is not None and before.assigned and member.generation_id != RESET:
            return RebalanceMode.EAGER
    return RebalanceMode.COOPERATIVE if round_.now.value.protocol in COOPERATIVE else RebalanceMode.EAGER


def leave_kind(round_: Round, member: ClassicMember) -> tuple[LeaveKind, Confidence]:
    """For a member of the previous value that is missing in this one, and whose static instance is missing too."""
    assert round_.before is not None
    step = round_.now.value.generation - round_.before.value.generation
    if not round_.is_exact and step != 1:
        return LeaveKind.UNKNOWN, Confidence.CERTAIN
    if is_overdue(round_, member):
        return LeaveKind.REBALANCE_TIMEOUT_LIKELY, Confidence.LIKELY
    if member.group_instance_id is not None:
        # Static members leave without a request.
        return LeaveKind.STATIC_EXPIRED_LIKELY, Confidence.LIKELY
    return LeaveKind.LEFT_OR_TIMED_OUT, Confidence.CERTAIN


def is_overdue(round_: Round, member: ClassicMember) -> bool:
    """Whether the member was asked to give up partitions and left at about the time when its rebalance timeout
    ended."""
    state = round_.group.ledger.state
    if state is None or state.from_time is None or round_.stop is None or member.rebalance_timeout_ms is None:
        return False
    assert round_.before is not None
    if member.member_id not in round_.before.revoking:
        return False
    waited = (round_.stop - state.from_time) // 1000
    return 0 <= waited - member.rebalance_timeout_ms <= member.session_timeout_ms
