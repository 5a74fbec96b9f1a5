"""librdkafka's own assignors, as differences from Kafka's. `cooperative-sticky` is the general algorithm for all
groups. The library's maps put a new key in front; a new value of a known key leaves it where it is. So they are
dictionaries here that are walked in reverse.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from udfs.assignors.groups import NOBODY, AssignorFailed, Audiences, Group, Lists, Partition
from udfs.assignors.java.maps import ranks
from udfs.assignors.questions import Release
from udfs.assignors.ranges import add_partitions
from udfs.assignors.sticky_unequal import GeneralAssignmentBuilder, Pair, PartitionMovements, largest_first

# The general algorithm looks at no racks, and one partition more is not level.
WRITTEN_AFTER: Final[Release] = (2, 8, 0)


class Undecidable(AssignorFailed):
    """What the library does here depends on more than its input, or it would not end; the text says why."""


@dataclass(frozen=True)
class Rules:
    """Releases of librdkafka that assign in the same way."""

    # From 2.2.0 on, members say in which generation they got what they claim.
    has_generations: bool = True
    # Before 2.6.1, the test for balance passed members over.
    skips_members: bool = False


@dataclass(frozen=True)
class LibraryGroup(Group):
    """`answered`: the topics in the order of the broker's answer to the leader."""

    answered: Sequence[int] = ()
    rules: Rules = Rules()

    @cached_property
    def walked(self) -> list[int]:
        return list(range(len(self.members)))

    @cached_property
    def member_ranks(self) -> list[int]:
        """By bytes of UTF-8, as C compares them."""
        return ranks(sorted(self.walked, key=self.members.__getitem__))

    @cached_property
    def statically_sorted(self) -> list[int]:
        return in_order(self, [member for member in self.walked if self.subscriptions[self.classes[member]]])


def library_group(group: Group, counts: Sequence[int], answered: Sequence[int], rules: Rules) -> LibraryGroup:
    """The question to a leader that uses the library. It passes over members without topics."""
    listed = [list(dict.fromkeys(topics)) for topics in group.subscriptions]
    return LibraryGroup(
        members=group.members,
        instances=group.instances,
        topics=group.topics,
        counts=counts,
        classes=group.classes,
        subscriptions=listed,
        owned=[own if listed[number] else () for own, number in zip(group.owned, group.classes, strict=True)],
        generations=group.generations,
        release=WRITTEN_AFTER,
        answered=answered,
        rules=rules,
    )


def in_order(group: Group, members: Sequence[int]) -> list[int]:
    """Two static members by their static ids, any other two by their member ids. If a group has both kinds, this is no
    order at all: it is sorted as most Linux systems' C library sorts: each half, and both are merged."""
    if len(members) < 2:
        return list(members)
    middle = len(members) // 2
    first, second = in_order(group, members[:middle]), in_order(group, members[middle:])
    merged = []
    while first and second:
        one, other = group.instances[second[0]], group.instances[first[0]]
        if one is None or other is None:
            one, other = group.members[second[0]], group.members[first[0]]
        merged.append((second if one < other else first).pop(0))
    return [*merged, *first, *second]


# -- orders of topics in the broker's answer


def as_requested(group: Group) -> list[int]:
    """The leader asks for the topics of the first member, then for further ones of the second, and so on."""
    return list(dict.fromkeys(topic for own in dict.fromkeys(group.classes) for topic in group.subscriptions[own]))


def by_name(group: Group) -> list[int]:
    return sorted(as_requested(group), key=group.topics.__getitem__)


# Scala's sets keep up to four elements as they came.
FEW: Final = 4
BITS: Final = 5
MASK: Final = 0xFFFFFFFF


def as_broker_walks(group: Group) -> list[int]:
    """The broker collects the requested topics in an immutable set of Scala, and answers as it walks that."""
    topics = as_requested(group)
    return topics if len(topics) <= FEW else walked(topics, list(map(improved, group.topic_codes)), 0)


def walked(topics: Sequence[int], hashes: Sequence[int], shift: int) -> list[int]:
    """A node has topics of its own, which share their bits with no other, and below them nodes for those that do."""
    if shift > MASK.bit_length():
        return list(topics)
    places: dict[int, list[int]] = {}
    for topic in topics:
        places.setdefault(hashes[topic] >> shift & (1 << BITS) - 1, []).append(topic)
    below = [places[place] for place in sorted(places)]
    alone = [topic for some in below if len(some) == 1 for topic in some]
    return alone + [topic for some in below if len(some) > 1 for topic in walked(some, hashes, shift + BITS)]


def improved(hash_code: int) -> int:
    code = hash_code + ~(hash_code << 9) & MASK
    code ^= code >> 14
    code = code + (code << 4) & MASK
    return code ^ code >> 10


# In the order in which they are tried, each with how a verdict names it.
TOPIC_ORDERS: Final[Sequence[tuple[str | None, Callable[[Group], list[int]]]]] = (
    (None, as_requested),
    ("topics in the order of the broker's set", as_broker_walks),
    ("topics by name", by_name),
)


# -- assignors. `roundrobin` is Kafka's, with members in another order.


def library_range(group: LibraryGroup) -> Lists:
    """Since 2.2.0, topics that are divided in the same way are listed together; before, in the broker's order."""
    audiences = Audiences(group, group.walked)
    members = {topic: in_order(group, audiences.of(topic)) for topic in group.answered if topic in group.known}
    topics = list(members)
    if group.rules.has_generations:
        topics.sort(key=lambda topic: ([group.members[each] for each in members[topic]], group.counts[topic]))
    lists: Lists = [[] for _ in group.members]
    for topic in topics:
        add_partitions(topic, group.counts[topic], members[topic], lists)
    return lists


def library_sticky(group: LibraryGroup) -> Lists:
    """cooperative-sticky."""
    return without_moved(group, everything(group))


def everything(group: LibraryGroup) -> Lists:
    """What each member is to have in the end."""
    claims: dict[Partition, list[int]] = {}
    for member, owned in enumerate(group.owned):
        for partition in owned:
            claims.setdefault(partition, []).append(member)
    if not group.rules.has_generations and any(len(members) > 1 for members in claims.values()):
        raise Undecidable("two members claim a partition, and this release knows no generations")
    existing = group.partitions_of(topic for topic in group.answered if topic in group.known)
    exist = set(existing)
    has, earlier = believed(group, {each: claims[each] for each in reversed(claims) if each in exist})
    order = None
    if len({frozenset(listed) & group.known for listed in group.subscriptions if listed}) == 1:
        order = order_of_partitions(group, existing, has, earlier)
    builder = LibraryAssignmentBuilder(group, has)
    # Of two claims the later in the list of members, not the believed one.
    builder.assume_owners({partition: members[-1] for partition, members in claims.items()})
    return builder.build(earlier, order)


def believed(group: Group, claims: Mapping[Partition, Sequence[int]]) -> tuple[Lists, dict[Partition, int]]:
    """What members keep for now, and by partition who had it in an earlier generation. Two claims of one generation,
    though not of the newest one, make all claims of the partition void."""
    has: Lists = [[] for _ in group.members]
    earlier: dict[Partition, int] = {}
    for partition, claimants in claims.items():
        members = sorted(claimants, key=group.generations.__getitem__)
        if len({group.generations[member] for member in members}) < len(members):
            continue
        has[members[-1]].append(partition)
        if len(members) > 1:
            earlier[partition] = members[-2]
    return has, earlier


def order_of_partitions(
    group: LibraryGroup, existing: Sequence[Partition], has: Lists, earlier: Mapping[Partition, int]
) -> list[Partition]:
    """All partitions in the order in which they are looked at, if all members subscribe to the same. It sorts what
    members have. Those that somebody else had before come first."""

    def by_name(partition: Partition) -> tuple[str, int]:
        return group.topics[partition[0]], partition[1]

    for owned in has:
        owned.sort(key=by_name)
    ordered = largest_first(group, has, lambda each: each not in earlier)
    if not ordered:
        return sorted(existing, key=by_name)
    return list(dict.fromkeys([*ordered, *reversed(existing)]))


class LibraryAssignmentBuilder(GeneralAssignmentBuilder):
    group: LibraryGroup

    def assume_owners(self, assumed: Mapping[Partition, int]) -> None:
        """Who is taken for the owner of a partition, whoever keeps it."""
        differing = {each: member for each, member in assumed.items() if self.owner.get(each, member) != member}
        self.owner |= differing
        self.is_strange = bool(differing)
        self.asks_always = self.group.rules.skips_members
        self.movements = Notes()

    def is_any_smaller(self, topic: int, size: int) -> bool:
        return size > len(self.lists[self.smallest(topic)]) + 1

    def find_balance(self) -> bool:
        """No member could get a partition of a topic from one that has more: one more is enough. Of two that have a
        partition, the first counts."""
        live = [place for place in self.group.walked if place not in self.fixed]
        order = sorted(live, key=self.entry)
        smallest, largest_list = order[0], self.lists[order[-1]]
        if len(self.lists[smallest]) >= len(largest_list) - 1:
            return True
        if not self.is_strange and any(each[0] in self.takes[self.group.classes[smallest]] for each in largest_list):
            return False
        owners = {each: place for place in reversed(live) for each in self.lists[place]}
        largest: dict[int, int] = {}
        for (topic, _), place in owners.items():
            largest[topic] = max(largest.get(topic, 0), len(self.lists[place]))
        at, seen = 0, set[int]()
        while at < len(order):
            if at in seen:
                raise Undecidable("this release never ends here")
            seen.add(at)
            size, most = len(self.lists[order[at]]), self.could[order[at]]
            if size != most and any(largest.get(each, 0) > size for each in self.takes[self.group.classes[order[at]]]):
                return False
            # Its two loops, over members and over the partitions of one, once had the same counter.
            at = most + 1 if self.group.rules.skips_members and size != most else at + 1
        return True


class Notes(PartitionMovements):
    """By moved partition, from whom it went at first and to whom at last; and the other way round, by topic."""

    def __init__(self) -> None:
        self.noted: dict[Partition, Pair] = {}
        self.notes: dict[tuple[int, int, int], list[Partition]] = {}

    def actual_partition(self, partition: Partition, source: int, target: int) -> Partition:
        """If another partition of the topic went the way back before, that one is to move instead. The library then
        deletes the note about it, and by the same place in memory takes the next one that went this way."""
        went_back = self.notes.get((partition[0], target, source))
        if not went_back:
            self.note(partition, source, target)
            return partition
        if len(went_back) == 1:
            raise Undecidable("a partition moves back, and the library reads memory that it has freed")
        self.check_note(went_back.pop(0), source)
        return went_back[0]

    def move(self, partition: Partition, source: int, target: int) -> None:
        """It has been noted."""

    def note(self, partition: Partition, source: int, target: int) -> None:
        begin, end = self.noted.get(partition, (source, NOBODY))
        if end != NOBODY:
            self.check_note(partition, source)
            notes = self.notes[partition[0], begin, end]
            if partition in notes:
                notes.remove(partition)
        self.noted[partition] = begin, target
        self.notes.setdefault((partition[0], begin, target), []).append(partition)

    def check_note(self, partition: Partition, source: int) -> None:
        begin, end = self.noted[partition]
        if end != source or not self.notes.get((partition[0], begin, end)):
            raise Undecidable("the library ends itself, since its notes about moves are wrong")


# -- what the leader leaves out of the assignor's answer


def without_moved(group: Group, lists: Lists) -> Lists:
    """A partition that moves is assigned once its owner has given it up. Unlike Kafka's, this one gives claimed
    partitions that were assigned to nobody back to who claims them. Who claims a partition is the later in the list of
    members, whatever its generation."""
    owners = {partition: member for member, owned in enumerate(group.owned) for partition in owned}
    # Where two got it, the later one counts, in the place of the first.
    assigned = {partition: member for member, own in enumerate(lists) for partition in own}
    stay = [(each, member) for each, member in assigned.items() if owners.get(each) == member]
    ready = [(each, member) for each, member in assigned.items() if each not in owners]
    unknown = [(each, member) for each, member in owners.items() if each not in assigned]
    written: Lists = [[] for _ in lists]
    for partition, member in (*stay, *ready, *unknown):
        written[member].append(partition)
    return written
