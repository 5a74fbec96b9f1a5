"""`constrained-cooperative-sticky`: the assignor described by the constrained sticky assignor proposal (KIP-615).

It was never released. The sticky assignors' algorithm for equal subscriptions has the same idea, but differs. Members
keep what they own up to the ceiling of an equal share. Members below the floor are filled up to it, finally with
partitions from members at the ceiling. The rest goes to members at the floor, one each.
"""

from udfs.assignors.groups import Assignment, Group, Lists, Partition
from udfs.assignors.questions import SpecError
from udfs.assignors.sticky import still_owned
from udfs.assignors.sticky_claims import cooperative_claims


def constrained_proposal(group: Group) -> Assignment:
    refuse_unequal(group)
    counts, places = group.num_partitions, {topic: place for place, topic in enumerate(group.known_by_name)}
    everything = [(topic, partition) for topic in places for partition in range(counts[topic])]
    floor, ceiling = len(everything) // len(group.members), -(-len(everything) // len(group.members))
    by_id = sorted(range(len(group.members)), key=group.member_ranks.__getitem__)
    lists = owned_partitions(group, by_id, set(everything), ceiling)
    at_floor = [member for member in by_id if len(lists[member]) <= floor]
    full = [member for member in by_id if len(lists[member]) == ceiling > floor]
    # What nobody keeps: partition 0 of each topic, then partition 1 of each, and so on.
    kept = {partition for own in lists for partition in own}
    free = sorted({*everything} - kept, key=lambda each: (each[1], places[each[0]]))
    wanting = [member for member in by_id for _ in range(floor - len(lists[member]))]
    filled, left = free[: len(wanting)], free[len(wanting) :]
    # The first partition of each of as many members at the ceiling.
    stolen = [lists[member].pop(0) for member in full[: len(wanting) - len(filled)]]
    for member, partition in zip(wanting, filled + stolen, strict=True):
        lists[member].append(partition)
    for member, partition in zip(at_floor, left, strict=False):
        lists[member].append(partition)
    rows = Assignment.of_lists(lists)
    # Whoever lost a partition gives it up first.
    return rows.take(~still_owned(group, rows))


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
