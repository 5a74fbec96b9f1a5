"""The sticky assignors of releases 2.4 to 2.8, for groups of that time: one partition after the other, as in Kafka.

Up to 2.5.0 there is one algorithm for all groups. Later releases have another for equal subscriptions, which 3.0
replaced.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from udfs.assignors.groups import ABSENT, NOBODY, AssignorFailed, Group, Lists, Partition, by_member
from udfs.assignors.java.maps import filled, string_hash, topic_partition_keys
from udfs.assignors.sticky_claims import first_difference, last_generation, previous_assignment
from udfs.assignors.sticky_unequal import GeneralAssignmentBuilder

EQUAL_WAY_SINCE = (2, 5, 1)
# From here on the cooperative assignor has generations, and what two claim belongs to neither.
GENERATIONS_SINCE = (2, 8, 1)

TopicPartition = tuple[str, int]


@dataclass(frozen=True)
class Claim:
    """What a member says; `generation` is None where it says none, which is not the same as -1."""

    partitions: Sequence[TopicPartition]
    generation: int | None


def sticky_before_3(group: Group) -> Lists:
    said = [previous_assignment(group.user_data[member]) for member in group.walked]
    claims = [Claim([(topic, at) for topic, numbers in lists for at in numbers], said_in) for lists, said_in in said]
    return assign(group, claims, Claim((), None))[0]


def cooperative_before_3(group: Group) -> tuple[Lists, dict[Partition, int] | None]:
    """With what must wait for another member, and the member that gets it, if the algorithm says so."""
    claims = []
    for member in group.walked:
        data = group.user_data[member]
        has_generation = group.release >= GENERATIONS_SINCE and data is not None
        owned = [(group.topics[topic], partition) for topic, partition in group.owned[member]]
        claims.append(Claim(owned, last_generation(data) if has_generation else None))
    # Its user data cannot be read twice either, but says only the generation.
    return assign(group, claims, None)


def assign(
    group: Group, claims: Sequence[Claim], second_reading: Claim | None
) -> tuple[Lists, dict[Partition, int] | None]:
    """`claims` in the order of the walk.

    Members that were looked at before two subscriptions differed had their user data read then, up to its end: what a
    second reading finds is `second_reading`, or a generation that cannot be read.
    """
    if group.release < EQUAL_WAY_SINCE:
        return general(group, claims), None
    differing = first_difference(group)
    if differing is None:
        return equal(group, claims)
    again = [
        second_reading or Claim(claim.partitions, None if claim.generation is None else ABSENT)
        for claim in claims[:differing]
    ]
    return general(group, [*again, *claims[differing:]]), None


def general(group: Group, claims: Sequence[Claim]) -> Lists:
    holders = holders_by_generation(claims)
    keys = topic_partition_keys({topic: string_hash(topic) for topic, _ in holders}.__getitem__)
    # Who holds each partition that exists, and who held it in the generation before.
    owned: Lists = [[] for _ in claims]
    before: dict[Partition, int] = {}
    in_order = filled(keys, holders).walk()
    for each in in_order:
        newest, *older = (holders[each][generation] for generation in sorted(holders[each], reverse=True))
        if (partition := existing(group, each)) is not None:
            owned[newest].append(partition)
            if older:
                before[partition] = older[0]
    builder = GeneralAssignmentBuilder(group, owned)
    partitions = None
    if group.release < EQUAL_WAY_SINCE and holders and all(takes == group.known for takes in builder.takes):
        earlier = filled(keys, (each for each in in_order if len(holders[each]) > 1)).walk()
        partitions = from_largest(group, owned, [existing(group, each) for each in earlier])
    return builder.build(before, partitions)


def existing(group: Group, partition: TopicPartition) -> Partition | None:
    topic, number = group.topic_positions.get(partition[0], NOBODY), partition[1]
    return (topic, number) if topic in group.known and 0 <= number < group.counts[topic] else None


def holders_by_generation(claims: Sequence[Claim]) -> dict[TopicPartition, dict[int, int]]:
    """For each partition claimed, by generation, the member (by its place in the walk) that claims it."""
    holders: dict[TopicPartition, dict[int, int]] = {}
    for place, claim in enumerate(claims):
        for partition in claim.partitions:
            held = holders.setdefault(partition, {})
            # Of two in one generation the first counts, of two without any the last.
            if claim.generation is None or claim.generation not in held:
                held[ABSENT if claim.generation is None else claim.generation] = place
    return holders


def from_largest(group: Group, owned: Lists, earlier: Sequence[Partition | None]) -> list[Partition]:
    """The partitions, one at a time from the member that has most left: first those that another had before."""
    place_of = {partition: place for place, partition in enumerate(earlier)}
    turns = []
    for member, own in zip(group.walked, owned, strict=True):
        in_turn = sorted(own, key=lambda each: place_of.get(each, len(earlier)))
        turns += [(len(own) - at, group.member_ranks[member], each) for at, each in enumerate(in_turn)]
    turns.sort(reverse=True)
    order = dict.fromkeys(each for _, _, each in turns)
    everywhere = filled(topic_partition_keys(group.topic_codes.__getitem__), group.partitions_of(group.topics_walked))
    return list(order | dict.fromkeys(everywhere.walk()))


# -- equal subscriptions, from 2.5.1 on


def equal(group: Group, claims: Sequence[Claim]) -> tuple[Lists, dict[Partition, int]]:
    """Everyone keeps up to the largest quota; those below the least are filled, at last from those at the largest. With
    what another member must give up first."""
    owned, revoked = owned_lists(group, claims)
    everything = group.partitions_of(group.known_by_name)
    least, most = len(everything) // len(owned), -(-len(everything) // len(owned))
    lists, revoked = [each[:most] for each in owned], revoked.union(*(each[most:] for each in owned))
    kept = {each for own in lists for each in own}
    free = deque(each for each in everything if each not in kept)
    waiting: dict[Partition, int] = {}

    def give(place: int) -> None:
        partition = free.popleft()
        lists[place].append(partition)
        if partition in revoked:
            waiting[partition] = group.walked[place]

    ranks = [group.member_ranks[member] for member in group.walked]
    under = sorted((place for place, each in enumerate(owned) if len(each) < least), key=ranks.__getitem__)
    rest = [place for place, each in enumerate(owned) if len(each) >= least]
    at_least = deque(place for place in rest if len(lists[place]) == least)
    at_most = deque(place for place in rest if len(lists[place]) == most)
    while under and free:
        # One partition each in turns.
        for place in under[: len(free)]:
            give(place)
            if len(lists[place]) == least:
                at_least.append(place)
                under.remove(place)
    for place in under:
        while len(lists[place]) < least:
            if not at_most:
                raise AssignorFailed("Some consumers are under capacity but all partitions have been assigned")
            partition = lists[at_most.popleft()].pop(0)
            lists[place].append(partition)
            waiting[partition] = group.walked[place]
        at_least.append(place)
    while free:
        if not at_least:
            raise AssignorFailed("Some partitions are unassigned but all consumers are at maximum capacity")
        give(at_least.popleft())
    return by_member(group, lists), waiting


def owned_lists(group: Group, claims: Sequence[Claim]) -> tuple[Lists, set[Partition]]:
    """What members of the newest generation own, of topics that are known; and what two of them claim."""
    generations = [ABSENT if claim.generation is None else claim.generation for claim in claims]
    # Where all say something below it, nobody is believed.
    newest = max(ABSENT, *generations)
    lists: Lists = []
    owner: dict[Partition, int] = {}
    contested = set[Partition]()
    for place, (claim, generation) in enumerate(zip(claims, generations, strict=True)):
        lists.append([])
        if generation != newest:
            continue
        for topic, index in claim.partitions:
            partition = group.topic_positions.get(topic, NOBODY), index
            if partition[0] not in group.known:
                continue
            if group.release < GENERATIONS_SINCE or partition not in owner:
                owner[partition] = place
                lists[place].append(partition)
            else:
                contested.add(partition)
                if partition in lists[owner[partition]]:
                    lists[owner[partition]].remove(partition)
    return lists, contested
