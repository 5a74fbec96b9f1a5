"""Kafka's sticky and cooperative-sticky assignors (StickyAssignor.java, CooperativeStickyAssignor.java), and their
algorithm if all members subscribe to the same topics (ConstrainedAssignmentBuilder of AbstractStickyAssignor.java, from
3.0 on). Last, `constrained-cooperative-sticky`, the proposal for it. Members and topics are positions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from udfs.assignors.groups import Assignment, AssignorFailed, Group, Lists, Partition
from udfs.assignors.questions import SpecError
from udfs.assignors.sticky_before_3 import cooperative_before_3, sticky_before_3
from udfs.assignors.sticky_claims import (
    Believed,
    Racks,
    are_subscriptions_equal,
    believed,
    cooperative_claims,
    racks_of,
    rules_of,
    sticky_claims,
    unassigned_partitions,
)
from udfs.assignors.sticky_unequal import general

REWRITTEN_SINCE = (3, 0, 0)
# By partition, the member that gets it while another must give it up first.
Transferring = dict[Partition, int]


def sticky(group: Group) -> Assignment:
    if group.release < REWRITTEN_SINCE:
        return sticky_before_3(group)
    claims = sticky_claims(group)
    owned = believed(group, claims)
    if are_subscriptions_equal(group):
        return ConstrainedAssignmentBuilder(group, owned).build()
    return general(group, claims, owned)


def cooperative_sticky(group: Group) -> Assignment:
    if group.release < REWRITTEN_SINCE:
        return adjust_assignment(group, *cooperative_before_3(group))
    claims = cooperative_claims(group)
    owned = believed(group, claims)
    if are_subscriptions_equal(group):
        builder = ConstrainedAssignmentBuilder(group, owned)
        return adjust_assignment(group, builder.build(), builder.transferring)
    return adjust_assignment(group, general(group, claims, owned), None)


def adjust_assignment(group: Group, lists: Lists, transferring: Transferring | None) -> Assignment:
    """Leaves out what another member must revoke first: the next rebalance gives it. `transferring` None: the algorithm
    does not say it (computePartitionsTransferringOwnership)."""
    if transferring is None:
        added: Transferring = {}
        revoked = set[Partition]()
        for member in group.walked:
            had = {each for each in group.owned[member] if each[0] in group.known}
            added |= {each: member for each in lists[member] if each not in had}
            revoked |= had.difference(lists[member])
        transferring = {each: added[each] for each in revoked & added.keys()}
    for partition, member in transferring.items():
        lists[member].remove(partition)
    return lists


# -- equal subscriptions


@dataclass
class Members:
    """`below`: those that have less than the least quota; `even`: those that have it and may get one more. Both by
    id."""

    held: list[int]
    below: list[int] = field(default_factory=list)
    even: list[int] = field(default_factory=list)
    num_full: int = 0


class ConstrainedAssignmentBuilder:
    def __init__(self, group: Group, owned: Believed) -> None:
        self.group, self.owned, self.rules = group, owned, rules_of(group.release)
        self.partitions = group.partitions_of(group.known_by_name)
        self.racks = racks_of(group, self.partitions)
        self.least, self.extra = divmod(len(self.partitions), len(group.members))
        self.lists: Lists = [[] for _ in group.members]
        self.revoked_from: dict[Partition, int] = {}
        self.transferring: Transferring = {}

    def build(self) -> Assignment:
        if self.racks is not None and self.racks.are_used:
            self.drop_far(self.racks)
        members = self.assign_owned_partitions()
        kept = [each for own in self.lists for each in own]
        free = unassigned_partitions(self.partitions, kept, self.group.known_by_name)
        if self.racks is not None:
            free.sort(key=self.racks.near.__getitem__)
            if self.racks.are_used:
                free = self.assign_rack_aware_round_robin(free, members, self.racks)
        self.assign_round_robin(free, members)
        return self.lists

    def drop_far(self, racks: Racks) -> None:
        """Takes from members what has no replica in the rack that they name."""
        for member in self.group.walked:
            own = self.owned.lists[member]
            for partition in [each for each in own if racks.is_far(member, each)]:
                del own[partition]
                if self.rules.tells_revokers:
                    self.revoked_from[partition] = member

    def assign_owned_partitions(self) -> Members:
        """As long as extras are left, the members that own enough keep the largest quota, others the least one."""
        held = [0] * len(self.lists)
        place_of = {topic: place for place, topic in enumerate(self.group.known_by_name)}
        below, exact, num_full = [], [], 0
        for member in self.group.walked:
            own = [each for each in self.owned.lists[member] if each not in self.owned.contested]
            if self.rules.sorts_owned:
                # By number, then by topic.
                own.sort(key=lambda each: (each[1], place_of[each[0]]))
            is_full = num_full < self.extra and len(own) > self.least
            num_full += is_full
            held[member] = min(len(own), self.least + is_full)
            self.lists[member] = own[: held[member]]
            for partition in own[held[member] :]:
                self.revoked_from[partition] = member
            if len(own) < self.least:
                below.append(member)
            elif not is_full:
                exact.append(member)
        by_id = self.group.member_ranks.__getitem__
        below.sort(key=by_id)
        exact.sort(key=by_id)
        return Members(held, below, exact if num_full < self.extra else [], num_full)

    def assign_rack_aware_round_robin(self, free: list[Partition], members: Members, racks: Racks) -> list[Partition]:
        """Gives what it can to members that are near; what is left."""
        left: list[Partition] = []
        most, turn = self.least + (self.extra > 0), 0
        counts_full = self.rules.tells_revokers
        for partition in free:
            if (near := next_near(members.below, turn, partition, racks)) is not None:
                member = members.below[near]
                members.held[member] += 1
                if members.held[member] < self.least:
                    near += 1
                else:
                    del members.below[near]
                    if members.held[member] < most and (members.num_full < self.extra or not counts_full):
                        members.even.append(member)
                turn = near % len(members.below) if members.below else 0
            elif (near := next_near(members.even, 0, partition, racks)) is not None:
                member = members.even[near]
                members.held[member] += 1
                if members.held[member] == most:
                    del members.even[near]
                    members.num_full += 1
                    if members.num_full == self.extra and counts_full:
                        members.even = []
            else:
                left.append(partition)
                continue
            self.assign_new_partition(partition, member)
        return left

    def assign_round_robin(self, free: list[Partition], members: Members) -> None:
        """In turn to those that miss some, then one more each."""
        missing = sum(self.least - members.held[member] for member in members.below)
        if len(free) < missing:
            raise AssignorFailed("members are left below the least quota")
        if len(free) > missing + len(members.even) + len(members.below):
            raise AssignorFailed("No more unfilled consumers to be assigned.")
        for member, partition in zip(self.receivers(members), free, strict=False):
            self.assign_new_partition(partition, member)

    def receivers(self, members: Members) -> Iterator[int]:
        below = members.below
        while below:
            left: list[int] = []
            for member in below:
                yield member
                members.held[member] += 1
                (left if members.held[member] < self.least else members.even).append(member)
            below = left
        yield from members.even

    def assign_new_partition(self, partition: Partition, member: int) -> None:
        self.lists[member].append(partition)
        revoker = self.revoked_from.get(partition)
        is_revoked = revoker is not None and not (self.rules.tells_revokers and revoker == member)
        if is_revoked or partition in self.owned.contested:
            self.transferring[partition] = member


def next_near(members: list[int], first: int, partition: Partition, racks: Racks) -> int | None:
    """Where in a list the next member is that is near a partition."""
    places = (*range(first, len(members)), *range(first)) if racks.of_partition[partition] else ()
    return next((at for at in places if racks.is_near(members[at], partition)), None)


# -- the proposal


def constrained_proposal(group: Group) -> Assignment:
    """The constrained sticky assignor proposal (KIP-615), which was never released. The algorithm for equal
    subscriptions has the same idea, but differs. Members keep what they own up to the ceiling of an equal share.
    Members below the floor are filled up to it, finally with partitions from members at the ceiling. The rest goes to
    members at the floor, one each."""
    refuse_unequal(group)
    everything = group.partitions_of(group.known_by_name)
    floor, ceiling = len(everything) // len(group.members), -(-len(everything) // len(group.members))
    by_id = sorted(range(len(group.members)), key=group.member_ranks.__getitem__)
    lists = owned_partitions(group, by_id, set(everything), ceiling)
    at_floor = [member for member in by_id if len(lists[member]) <= floor]
    full = [member for member in by_id if len(lists[member]) == ceiling > floor]
    # What nobody keeps: partition 0 of each topic, then partition 1 of each, and so on.
    kept = {partition for own in lists for partition in own}
    free = sorted((each for each in everything if each not in kept), key=itemgetter(1))
    wanting = [member for member in by_id for _ in range(floor - len(lists[member]))]
    filled, left = free[: len(wanting)], free[len(wanting) :]
    # The first partition of each of as many members at the ceiling.
    stolen = [lists[member].pop(0) for member in full[: len(wanting) - len(filled)]]
    for member, partition in zip(wanting, filled + stolen, strict=True):
        lists[member].append(partition)
    for member, partition in zip(at_floor, left, strict=False):
        lists[member].append(partition)
    # Whoever lost a partition gives it up first.
    return adjust_assignment(group, lists, None)


def refuse_unequal(group: Group) -> None:
    subscriptions = list(map(frozenset, group.subscriptions))
    for member, number in enumerate(group.classes):
        if subscriptions[number] != subscriptions[group.classes[0]]:
            raise SpecError(
                f"members[{member}].subscribed_topics: other topics than those of members[0]; "
                "the proposal is for members that all subscribe to the same topics"
            )


def owned_partitions(group: Group, by_id: list[int], everything: set[Partition], most: int) -> Lists:
    """What members of the newest generation own, of partitions that there are, and up to so many. The proposal leaves
    open whose a partition is that two of them own: here the first by id."""
    claims = cooperative_claims(group)
    newest = max(claims.generations)
    lists: Lists = [[] for _ in by_id]
    taken = set[Partition]()
    for member in by_id:
        own = claims.lists[member] if claims.generations[member] == newest else ()
        first = [each for each in dict.fromkeys(own) if each in everything and each not in taken]
        taken.update(first)
        lists[member] = first[:most]
    return lists
