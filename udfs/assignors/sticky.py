"""Kafka's sticky and cooperative-sticky assignors (StickyAssignor.java, CooperativeStickyAssignor.java), and their
algorithm if all members subscribe to the same topics (ConstrainedAssignmentBuilder of AbstractStickyAssignor.java, from
3.0 on). Last, `constrained-cooperative-sticky`, the proposal for it. Members and topics are positions.
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator, Sequence
from operator import eq, itemgetter

from udfs.assignors.groups import ABSENT, AssignorFailed, Group, Lists, Partition
from udfs.assignors.questions import SpecError
from udfs.assignors.sticky_claims import (
    Believed,
    Claims,
    Racks,
    are_subscriptions_equal,
    believed,
    cooperative_claims,
    racks_of,
    rules_of,
    sticky_claims,
    unassigned_partitions,
)
from udfs.assignors.sticky_unequal import general, general_before_3

# By partition, the member that gets it while another must give it up first.
Transferring = dict[Partition, int]


def sticky(group: Group) -> Lists:
    return assign(group, sticky_claims(group), is_cooperative=False)[0]


def cooperative_sticky(group: Group) -> Lists:
    claims = cooperative_claims(group)
    if not rules_of(group.release).takes_contested:
        claims = Claims(claims.lists, [ABSENT] * len(group.members))
    return adjust_assignment(group, *assign(group, claims, is_cooperative=True))


def assign(group: Group, claims: Claims, is_cooperative: bool) -> tuple[Lists, Transferring | None]:
    """AbstractStickyAssignor.assignPartitions."""
    rules = rules_of(group.release)
    if rules.has_equal_way and are_subscriptions_equal(group):
        algorithm = ConstrainedAssignmentBuilder if rules.is_rewritten else ConstrainedBefore3
        builder = algorithm(group, believed(group, claims))
        return builder.build(), builder.transferring
    if rules.is_rewritten:
        return general(group, claims, believed(group, claims)), None
    return general_before_3(group, is_cooperative), None


def adjust_assignment(group: Group, lists: Lists, transferring: Transferring | None) -> Lists:
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


class ConstrainedAssignmentBuilder:
    """Each member gets minQuota partitions, and `extra` of them one more. `under_min_quota` and `exactly_min_quota` are
    unfilledMembersWith…QuotaPartitions of Kafka, by id; `num_over_min_quota` counts those that have one more."""

    def __init__(self, group: Group, owned: Believed) -> None:
        self.group, self.owned, self.rules = group, owned, rules_of(group.release)
        self.partitions = group.partitions_of(group.known_by_name)
        self.racks = racks_of(group, self.partitions)
        self.min_quota, self.extra = divmod(len(self.partitions), len(group.members))
        self.max_quota = self.min_quota + (self.extra > 0)
        self.lists: Lists = [[] for _ in group.members]
        self.under_min_quota: list[int] = []
        self.exactly_min_quota: list[int] = []
        self.num_over_min_quota = 0
        # maybeRevokedPartitions: who may have to give a partition up.
        self.maybe_revoked: dict[Partition, int] = {}
        self.transferring: Transferring = {}

    def build(self) -> Lists:
        racks = self.racks if self.racks is not None and self.racks.are_used else None
        if racks is not None:
            self.drop_far(racks)
        self.assign_owned_partitions()
        unassigned = self.unassigned_partitions([each for own in self.lists for each in own])
        if self.racks is not None:
            unassigned.sort(key=self.racks.near.__getitem__)
        if racks is not None:
            unassigned = self.assign_rack_aware_round_robin(unassigned, racks)
        self.assign_round_robin(unassigned)
        return self.lists

    def drop_far(self, racks: Racks) -> None:
        """Takes from members what has no replica in the rack that they name."""
        for member in self.group.walked_again:
            own = self.owned.lists[member]
            far = [each for each in own if racks.is_far(member, each)]
            self.owned.lists[member] = [each for each in own if each not in far]
            if self.rules.tells_revokers:
                self.maybe_revoked |= dict.fromkeys(far, member)

    def assign_owned_partitions(self) -> None:
        """As long as extras are left, the members that own enough keep the largest quota, others the least one."""
        contested, place_of = self.owned.contested, {topic: at for at, topic in enumerate(self.group.known_by_name)}
        # Mostly topics have numbers in the order of their names.
        in_order = all(map(eq, place_of, sorted(place_of)))
        by_number = itemgetter(1, 0) if in_order else lambda each: (each[1], place_of[each[0]])
        for member in self.group.walked_again:
            own = self.owned.lists[member]
            if contested:
                own = [each for each in own if each not in contested]
            if self.rules.sorts_owned:
                own = sorted(own, key=by_number)
            is_over = self.num_over_min_quota < self.extra and len(own) > self.min_quota
            self.num_over_min_quota += is_over
            quota = self.min_quota + is_over
            self.keep(member, own, quota)
            if len(own) >= self.min_quota and not is_over:
                self.exactly_min_quota.append(member)
        self.exactly_min_quota.sort(key=self.group.member_ranks.__getitem__)
        if self.num_over_min_quota == self.extra:
            self.exactly_min_quota = []

    def keep(self, member: int, own: Sequence[Partition], quota: int) -> None:
        self.lists[member] = list(own[:quota])
        if len(own) > quota:
            self.maybe_revoked |= dict.fromkeys(own[quota:], member)
        if len(own) < self.min_quota:
            insort(self.under_min_quota, member, key=self.group.member_ranks.__getitem__)

    def unassigned_partitions(self, kept: list[Partition]) -> list[Partition]:
        return unassigned_partitions(self.partitions, kept, self.group.known_by_name)

    def assign_rack_aware_round_robin(self, unassigned: list[Partition], racks: Racks) -> list[Partition]:
        """Gives what it can to members that are near; what is left."""
        left: list[Partition] = []
        turn, counts_over = 0, self.rules.tells_revokers
        for partition in unassigned:
            if (at := next_near(self.under_min_quota, turn, partition, racks)) is not None:
                member = self.under_min_quota[at]
                size = self.assign_new_partition(partition, member)
                if size < self.min_quota:
                    at += 1
                else:
                    del self.under_min_quota[at]
                    if size < self.max_quota and (self.num_over_min_quota < self.extra or not counts_over):
                        self.exactly_min_quota.append(member)
                turn = at % len(self.under_min_quota) if self.under_min_quota else 0
            elif (at := next_near(self.exactly_min_quota, 0, partition, racks)) is not None:
                if self.assign_new_partition(partition, self.exactly_min_quota[at]) == self.max_quota:
                    del self.exactly_min_quota[at]
                    self.num_over_min_quota += 1
                    if self.num_over_min_quota == self.extra and counts_over:
                        self.exactly_min_quota = []
            else:
                left.append(partition)
        return left

    def assign_round_robin(self, unassigned: list[Partition]) -> None:
        """In turn to those that miss some, then one more each."""
        missing = sum(self.min_quota - len(self.lists[member]) for member in self.under_min_quota)
        if len(unassigned) < missing:
            raise AssignorFailed("members are left below the least quota")
        if len(unassigned) > missing + len(self.exactly_min_quota) + len(self.under_min_quota):
            raise AssignorFailed("No more unfilled consumers to be assigned.")
        for member, partition in zip(self.unfilled_members(), unassigned, strict=False):
            self.assign_new_partition(partition, member)

    def unfilled_members(self) -> Iterator[int]:
        under = deque(self.under_min_quota)
        while under:
            member = under.popleft()
            yield member
            (under if len(self.lists[member]) < self.min_quota else self.exactly_min_quota).append(member)
        yield from self.exactly_min_quota

    def assign_new_partition(self, partition: Partition, member: int) -> int:
        """How many the member has then."""
        self.lists[member].append(partition)
        revoker = self.maybe_revoked.get(partition)
        is_revoked = revoker is not None and not (self.rules.tells_revokers and revoker == member)
        if is_revoked or partition in self.owned.contested:
            self.transferring[partition] = member
        return len(self.lists[member])


def next_near(members: list[int], first: int, partition: Partition, racks: Racks) -> int | None:
    """Where in a list the next member is that is near a partition."""
    places = (*range(first, len(members)), *range(first)) if racks.of_partition[partition] else ()
    return next((at for at in places if racks.is_near(members[at], partition)), None)


class ConstrainedBefore3(ConstrainedAssignmentBuilder):
    """From 2.5.1 on. Everybody keeps up to the largest quota; who is below the least one at last takes from those."""

    def assign_owned_partitions(self) -> None:
        self.full: list[int] = []
        for member in self.group.walked_again:
            own = self.owned.lists[member]
            self.keep(member, own, self.max_quota)
            if len(own) >= self.min_quota:
                if len(self.lists[member]) == self.min_quota:
                    self.exactly_min_quota.append(member)
                if len(self.lists[member]) == self.max_quota:
                    self.full.append(member)

    def unassigned_partitions(self, kept: list[Partition]) -> list[Partition]:
        is_kept = set(kept)
        return [each for each in self.partitions if each not in is_kept]

    def assign_round_robin(self, unassigned: list[Partition]) -> None:
        left = iter(unassigned)
        for member, partition in zip(self.unfilled_members(), left, strict=False):
            self.assign_new_partition(partition, member)
        full = iter(self.full)
        for member in self.under_min_quota:
            while len(self.lists[member]) < self.min_quota:
                if (source := next(full, None)) is None:
                    raise AssignorFailed("Some consumers are under capacity but all partitions have been assigned")
                partition = self.lists[source].pop(0)
                self.lists[member].append(partition)
                self.transferring[partition] = member
        if next(left, None) is not None:
            raise AssignorFailed("Some partitions are unassigned but all consumers are at maximum capacity")


# -- the proposal


def constrained_proposal(group: Group) -> Lists:
    """KIP-615, which was never released, as it was written. Members keep what they own up to the ceiling of an equal
    share. Members below the floor are filled up to it, finally with partitions from members at the ceiling. The rest
    goes to members at the floor, one each."""
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
