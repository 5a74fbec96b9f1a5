"""The sets of KIP-429 between two assignments of a classic group: what each member had, claimed and was assigned."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from udfs.groups.history.member_sets import MemberSets
from udfs.groups.readers.classic_records import NOTHING, ClassicMember, Tps
from udfs.topics.partition_codes import SHIFT, TopicCodes

# Generation in the subscription of a member that has lost its place.
RESET = -1


class GroupSets(NamedTuple):
    """Sets of all members together."""

    claimed: Tps
    assigned: Tps
    withheld: Tps
    unknown_owned: Tps
    # Number of partitions claimed and then assigned or withheld; number assigned that no member claimed.
    num_maybe_revoking: int
    num_ready_to_migrate: int
    # No partition was assigned twice.
    is_disjoint: bool


def is_reset(member: ClassicMember) -> bool:
    """Whether the member came back without anything. What it had before does not matter."""
    return member.generation_id == RESET and not member.claimed


def member_sets(had: Tps, member: ClassicMember) -> MemberSets:
    """`had`: partitions that the previous assignment gave to the member, or to its static instance."""
    claimed, assigned = member.claimed or NOTHING, member.assigned
    lost = had if had and is_reset(member) else NOTHING
    dropped = NOTHING if lost or had is claimed else had - claimed
    if assigned is None:
        return MemberSets(lost=lost, dropped_before_join=dropped)
    if claimed is assigned:
        # Most members keep what they have.
        added, revoked, kept = NOTHING, NOTHING, assigned
    elif not claimed:
        added, revoked, kept = assigned, NOTHING, NOTHING
    else:
        added, revoked, kept = assigned - claimed, claimed - assigned, claimed & assigned
    return MemberSets(added=added, revoked=revoked, kept=kept, lost=lost, dropped_before_join=dropped)


def union(sets: Iterable[Tps | None]) -> Tps:
    return NOTHING.union(*filter(None, sets))


def group_sets(members: Sequence[ClassicMember], assigned: Tps, topics: TopicCodes) -> GroupSets:
    """`assigned`: partitions assigned to any member."""
    is_disjoint = sum([len(member.assigned) for member in members if member.assigned]) == len(assigned)
    claimed = union([member.claimed for member in members])
    if not claimed:
        return GroupSets(
            claimed=NOTHING,
            assigned=assigned,
            withheld=NOTHING,
            unknown_owned=NOTHING,
            num_maybe_revoking=0,
            num_ready_to_migrate=len(assigned),
            is_disjoint=is_disjoint,
        )
    if claimed == assigned:
        return GroupSets(
            claimed=assigned,
            assigned=assigned,
            withheld=NOTHING,
            unknown_owned=NOTHING,
            num_maybe_revoking=len(assigned),
            num_ready_to_migrate=0,
            is_disjoint=is_disjoint,
        )
    missing = claimed - assigned
    unknown = missing and unknown_owned(members, assigned, missing, topics)
    return GroupSets(
        claimed=claimed,
        assigned=assigned,
        withheld=missing - unknown,
        unknown_owned=unknown,
        num_maybe_revoking=len(claimed) - len(unknown),
        num_ready_to_migrate=len(assigned - claimed),
        is_disjoint=is_disjoint,
    )


def unknown_owned(members: Sequence[ClassicMember], assigned: Tps, missing: Tps, topics: TopicCodes) -> Tps:
    """Missing partitions of topics that the leader did not know. It knew those that it assigned, and those subscribed,
    as far as the log shows. No member gets back partitions of an unknown topic."""
    known = {tp >> SHIFT for tp in assigned}
    known |= {topics.of_name(name) for member in members for name in member.topics or ()}
    return frozenset(tp for tp in missing if tp >> SHIFT not in known)
