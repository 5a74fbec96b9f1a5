"""librdkafka's own assignors. They have the names of Kafka's, and other rules.

`range` and `roundrobin` give what Kafka's give, except that groups with static and other members are sorted in another
way, and that `range` lists topics in another order. `cooperative-sticky` is older than Kafka's: the general algorithm
for all groups, with a map that is walked from its newest key to its oldest.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, cycle
from typing import Final, TypeVar

from udfs.assignors.java.maps import string_hashes

Partition = tuple[str, int]
Lists = dict[str, list[Partition]]
Key = TypeVar("Key")


class Undecidable(Exception):
    """What the library does here depends on more than its input, or it would not end; the text says why."""


@dataclass(frozen=True)
class Rules:
    """Releases of librdkafka that assign in the same way."""

    # From 2.2.0 on, members say in which generation they got what they claim.
    has_generations: bool = True
    # Before 2.6.1, the test for balance passed members over.
    skips_members: bool = False


@dataclass(frozen=True)
class GroupMember:
    member_id: str
    instance: str | None
    # As the member listed them.
    topics: Sequence[str]
    owned: Sequence[Partition]
    generation: int


@dataclass(frozen=True)
class LibraryGroup:
    """Members in the order of the JoinGroup response; `counts`: how many partitions topics have, in the order of the
    broker's answer to the leader."""

    members: Sequence[GroupMember]
    counts: Mapping[str, int]
    rules: Rules = Rules()

    @cached_property
    def topics_of(self) -> dict[str, frozenset[str]]:
        """By member, topics with partitions that it subscribes to."""
        return {
            each.member_id: frozenset(name for name in each.topics if self.counts.get(name)) for each in self.members
        }

    @cached_property
    def audiences(self) -> dict[str, list[GroupMember]]:
        """By topic, who subscribes to it. A topic without subscribers is missing."""
        topics_of = {each.member_id: frozenset(each.topics) for each in self.members}
        found = {name: [each for each in self.members if name in topics_of[each.member_id]] for name in self.counts}
        return {name: members for name, members in found.items() if members}


def in_order(members: Sequence[GroupMember]) -> list[GroupMember]:
    """As `range` and `roundrobin` sort them: two static members by their static ids, any other two by their member ids.
    If a group has both kinds, this is no order at all: the result then depends on which members the sorting compares.
    That is as in the C library of most Linux systems: each half is sorted, and both are merged."""
    if len(members) < 2:
        return list(members)
    middle = len(members) // 2
    first, second = in_order(members[:middle]), in_order(members[middle:])
    merged = []
    while first and second:
        merged.append((second if is_before(second[0], first[0]) else first).pop(0))
    return [*merged, *first, *second]


def is_before(one: GroupMember, other: GroupMember) -> bool:
    if one.instance is not None and other.instance is not None:
        return one.instance < other.instance
    return one.member_id < other.member_id


# -- orders of topics in the broker's answer


def as_requested(members: Sequence[GroupMember]) -> list[str]:
    """The leader asks for the topics of the first member, then for further ones of the second, and so on."""
    return list(dict.fromkeys(name for each in members for name in each.topics))


def by_name(members: Sequence[GroupMember]) -> list[str]:
    return sorted(as_requested(members))


# Scala's sets keep up to four elements as they came.
FEW: Final = 4
BITS: Final = 5
MASK: Final = 0xFFFFFFFF


def as_broker_walks(members: Sequence[GroupMember]) -> list[str]:
    """The broker collects the requested topics in an immutable set of Scala, and answers as it walks that."""
    names = as_requested(members)
    if len(names) <= FEW:
        return names
    hashes = dict(zip(names, map(improved, string_hashes(names).tolist()), strict=True))
    return walked(names, hashes, 0)


def walked(names: Sequence[str], hashes: Mapping[str, int], shift: int) -> list[str]:
    """A node has names of its own, which share their bits with no other, and below them nodes for those that do."""
    if shift > MASK.bit_length():
        return list(names)
    places: dict[int, list[str]] = {}
    for name in names:
        places.setdefault(hashes[name] >> shift & (1 << BITS) - 1, []).append(name)
    below = [places[place] for place in sorted(places)]
    alone = [name for some in below if len(some) == 1 for name in some]
    return alone + [name for some in below if len(some) > 1 for name in walked(some, hashes, shift + BITS)]


def improved(hash_code: int) -> int:
    code = hash_code + ~(hash_code << 9) & MASK
    code ^= code >> 14
    code = code + (code << 4) & MASK
    return code ^ code >> 10


# In the order in which they are tried, each with how a verdict names it.
TOPIC_ORDERS: Final[Sequence[tuple[str | None, Callable[[Sequence[GroupMember]], list[str]]]]] = (
    (None, as_requested),
    ("topics in the order of the broker's set", as_broker_walks),
    ("topics by name", by_name),
)


# -- range and roundrobin


def ranges(group: LibraryGroup) -> Lists:
    """Since 2.2.0, topics that are divided in the same way are listed together; before, in the broker's order."""
    audiences = {name: in_order(members) for name, members in group.audiences.items()}
    topics = list(audiences)
    if group.rules.has_generations:
        topics.sort(key=lambda name: ([each.member_id for each in audiences[name]], group.counts[name]))
    written: Lists = {member.member_id: [] for member in group.members}
    for name in topics:
        size, num_larger = divmod(group.counts[name], len(audiences[name]))
        first = 0
        for at, member in enumerate(audiences[name]):
            end = first + size + (at < num_larger)
            written[member.member_id] += [(name, number) for number in range(first, end)]
            first = end
    return written


def in_circles(group: LibraryGroup) -> Lists:
    """Topics by name; members that do not subscribe to the topic are passed over."""
    written: Lists = {member.member_id: [] for member in group.members}
    members = cycle(in_order(group.members))
    for name in sorted(group.audiences):
        takes = {member.member_id for member in group.audiences[name]}
        for number in range(group.counts[name]):
            member = next(each for each in members if each.member_id in takes)
            written[member.member_id].append((name, number))
    return written


# -- cooperative-sticky. The library's maps put a new key in front; a new value of a known key leaves it where it is. So
# they are dictionaries here that are walked in reverse.


def cooperative_sticky(group: LibraryGroup) -> Lists:
    return without_moved(group.members, sticky(group))


def sticky(group: LibraryGroup) -> Lists:
    """What each member is to have in the end."""
    claims = claims_of(group)
    has, earlier = believed(group, claims)
    partitions = to_assign(group, has, earlier)
    unassigned, has_to_revoke = drop_what_cannot_stay(group, has, partitions)
    # Of two claims the later in the list of members, not the believed one.
    holder = {partition: members[-1] for partition, members in claims.items()}
    return Balancing(group, has, earlier, holder).balanced(partitions, unassigned, has_to_revoke)


def claims_of(group: LibraryGroup) -> dict[Partition, list[str]]:
    claims: dict[Partition, list[str]] = {}
    for member in group.members:
        for partition in member.owned:
            claims.setdefault(partition, []).append(member.member_id)
    if not group.rules.has_generations and any(len(members) > 1 for members in claims.values()):
        raise Undecidable("two members claim a partition, and this release knows no generations")
    return claims


def believed(group: LibraryGroup, claims: dict[Partition, list[str]]) -> tuple[Lists, dict[Partition, str]]:
    """What members keep for now, and by partition who had it in an earlier generation. Two claims of one generation,
    though not of the newest one, make all claims of the partition void."""
    generations = {member.member_id: member.generation for member in group.members}
    has: Lists = {member.member_id: [] for member in group.members}
    earlier: dict[Partition, str] = {}
    for partition in reversed(claims):
        members = sorted(claims[partition], key=lambda member: generations[member])
        if len({generations[member] for member in members}) < len(members):
            continue
        has[members[-1]].append(partition)
        if len(members) > 1:
            earlier[partition] = members[-2]
    return has, earlier


def to_assign(group: LibraryGroup, has: Lists, earlier: Mapping[Partition, str]) -> list[Partition]:
    """All partitions in the order in which they are looked at. It sorts what members have, if all subscribe to the
    same."""
    audiences = group.audiences
    existing = {(name, number): len(audiences[name]) for name in audiences for number in range(group.counts[name])}
    if len(set(group.topics_of.values())) > 1:
        return sorted(existing, key=lambda each: (existing[each], each))
    for owned in has.values():
        owned.sort()
    ordered = one_by_one({member: [each for each in has[member] if each in existing] for member in has}, earlier)
    if not ordered:
        return sorted(existing)
    taken = set(ordered)
    return ordered + [each for each in reversed(existing) if each not in taken]


def one_by_one(lists: Lists, earlier: Mapping[Partition, str]) -> list[Partition]:
    """Again and again one partition of the member with most of them. Those that somebody else had before come
    first."""
    left = {member: sorted(owned, key=lambda each: each not in earlier) for member, owned in lists.items()}
    sizes = sorted((len(owned), member) for member, owned in left.items())
    ordered = []
    while sizes and sizes[-1][0]:
        size, member = sizes.pop()
        ordered.append(left[member][-size])
        insort(sizes, (size - 1, member))
    return ordered


def drop_what_cannot_stay(
    group: LibraryGroup, has: Lists, partitions: Sequence[Partition]
) -> tuple[list[Partition], bool]:
    """What nobody has then, and whether a member had something that it no longer subscribes to."""
    existing, kept = set(partitions), set()
    has_to_revoke = False
    for member, owned in has.items():
        exist = [each for each in owned if each in existing]
        stay = [each for each in exist if each[0] in group.topics_of[member]]
        has_to_revoke |= len(stay) < len(exist)
        has[member] = stay
        kept.update(stay)
    return [each for each in partitions if each not in kept], has_to_revoke


class Balancing:
    """`has` is changed on the way, `holder` too: by partition, who is taken for its owner."""

    def __init__(
        self, group: LibraryGroup, has: Lists, earlier: Mapping[Partition, str], holder: dict[Partition, str]
    ) -> None:
        self.group, self.has, self.earlier, self.holder = group, has, earlier, holder
        self.sizes = sorted((len(owned), member) for member, owned in has.items())
        # How many partitions of a topic each member has.
        self.held: dict[str, Counter[str]] = {}
        # By moved partition, from whom it went at first and to whom at last; and the other way round, by topic.
        self.noted: dict[Partition, tuple[str, str]] = {}
        self.notes: dict[tuple[str, str, str], list[Partition]] = {}
        # Whether a partition was taken from a member that did not have it, so that two have it now.
        self.is_doubled = False

    def balanced(self, partitions: Sequence[Partition], unassigned: Sequence[Partition], has_to_revoke: bool) -> Lists:
        is_first = self.sizes[-1][0] == 0
        for partition in unassigned:
            self.give(partition, self.least(partition[0]))
        movable = [each for each in partitions if self.can_move(each)]
        fixed = self.set_aside()
        if self.sizes:
            before = {member: list(owned) for member, owned in self.has.items()}
            self.held = held_by_topic(self.has)
            if not has_to_revoke:
                self.reassign([each for each in unassigned if self.can_move(each)])
            if self.reassign(movable) and not is_first and imbalance(self.has) >= imbalance(before):
                self.has = before
        return self.has | fixed

    def can_move(self, partition: Partition) -> bool:
        return len(self.group.audiences[partition[0]]) > 1

    def least(self, topic: str) -> str:
        """The subscriber that has fewest partitions."""
        return next(member for _, member in self.sizes if topic in self.group.topics_of[member])

    def set_aside(self) -> Lists:
        """Members that can neither get nor give anything."""
        most = {member: sum(self.group.counts[name] for name in of) for member, of in self.group.topics_of.items()}
        fixed = {
            member: owned
            for member, owned in self.has.items()
            if len(owned) >= most[member] and not any(self.can_move(each) for each in owned)
        }
        self.has = {member: owned for member, owned in self.has.items() if member not in fixed}
        self.sizes = [each for each in self.sizes if each[1] not in fixed]
        return fixed

    def reassign(self, partitions: Sequence[Partition]) -> bool:
        """Whether anything moved."""
        has_moved = False
        is_over = not partitions or self.is_balanced()
        while not is_over:
            num_moved = 0
            for partition in partitions:
                to = self.better(partition)
                if to is not None:
                    self.move(partition, to)
                    num_moved += 1
                    if self.is_balanced():
                        break
            has_moved |= num_moved > 0
            is_over = num_moved == 0 or self.is_balanced()
        return has_moved

    def better(self, partition: Partition) -> str | None:
        """Who has at least two partitions fewer than the owner: the owner in an earlier generation, else the one with
        fewest."""
        for member in (self.earlier.get(partition), self.least(partition[0])):
            if member is not None and self.size(self.holder[partition]) > self.size(member) + 1:
                return member
        return None

    def size(self, member: str) -> int:
        if member not in self.has:
            raise Undecidable(f"the library fails here: it looks for what {member} has, and has set it aside")
        return len(self.has[member])

    def is_balanced(self) -> bool:
        """No member could get a partition from one that has more: one more is enough."""
        if self.sizes[0][0] >= self.sizes[-1][0] - 1:
            return True
        largest = self.largest_by_topic()
        at, seen = 0, set()
        while at < len(self.sizes):
            if at in seen:
                raise Undecidable("this release never ends here")
            seen.add(at)
            size, member = self.sizes[at]
            topics = self.group.topics_of[member]
            most = sum(self.group.counts[name] for name in topics)
            if size != most and any(largest.get(name, 0) > size for name in topics):
                return False
            # Its two loops, over members and over the partitions of one, once had the same counter.
            at = most + 1 if self.group.rules.skips_members and size != most else at + 1
        return True

    def largest_by_topic(self) -> dict[str, int]:
        """How many partitions the largest owner of a topic's partitions has."""
        held = self.held
        if self.is_doubled:
            owners = {each: member for member in reversed(self.has) for each in self.has[member]}
            held = {}
            for (topic, _), member in owners.items():
                held.setdefault(topic, Counter())[member] += 1
        return {topic: max(len(self.has[member]) for member in members) for topic, members in held.items() if members}

    # -- changes

    def give(self, partition: Partition, member: str) -> None:
        self.holder[partition] = member
        self.resize(member, lambda owned: owned.append(partition))

    def move(self, partition: Partition, to: str) -> None:
        """If another partition of the topic went the way back before, that one is to move instead. The library then
        deletes the note about it, and by the same place in memory takes the next one that went this way."""
        topic, of = partition[0], self.holder[partition]
        went_back = self.notes.get((topic, to, of))
        if not went_back:
            self.note(partition, of, to)
        elif len(went_back) > 1:
            self.check_note(went_back[0], of)
            del went_back[0]
            partition = went_back[0]
        else:
            raise Undecidable(f"{topic}: a partition moves back, and the library reads memory that it has freed")
        self.give(partition, to)
        self.held.setdefault(topic, Counter())[to] += 1
        if partition in self.has[of]:
            self.resize(of, lambda owned: owned.remove(partition))
            self.held[topic][of] -= 1
            if not self.held[topic][of]:
                del self.held[topic][of]
        else:
            self.is_doubled = True

    def note(self, partition: Partition, of: str, to: str) -> None:
        begin = of
        if partition in self.noted:
            begin, end = self.noted[partition]
            self.check_note(partition, of)
            notes = self.notes[partition[0], begin, end]
            if partition in notes:
                notes.remove(partition)
        self.noted[partition] = begin, to
        self.notes.setdefault((partition[0], begin, to), []).append(partition)

    def check_note(self, partition: Partition, of: str) -> None:
        begin, end = self.noted[partition]
        if end != of or not self.notes.get((partition[0], begin, end)):
            raise Undecidable(f"{partition[0]}: the library ends itself, since its notes about moves are wrong")

    def resize(self, member: str, change: Callable[[list[Partition]], None]) -> None:
        owned = self.has[member]
        del self.sizes[bisect_left(self.sizes, (len(owned), member))]
        change(owned)
        insort(self.sizes, (len(owned), member))


def held_by_topic(has: Lists) -> dict[str, Counter[str]]:
    held: dict[str, Counter[str]] = {}
    for member, owned in has.items():
        for topic, _ in owned:
            held.setdefault(topic, Counter())[member] += 1
    return held


def imbalance(has: Lists) -> int:
    return sum(abs(len(one) - len(other)) for one, other in combinations(has.values(), 2))


# -- what the leader leaves out of the assignor's answer


def without_moved(members: Sequence[GroupMember], lists: Lists) -> Lists:
    """A partition that moves is assigned once its owner has given it up. Unlike Kafka's, this one gives claimed
    partitions that were assigned to nobody back to who claims them. Who claims a partition is the later in the list of
    members, whatever its generation."""
    owners = {partition: member.member_id for member in members for partition in member.owned}
    # Where two got it, the later one counts, in the place of the first.
    assigned = {each: member.member_id for member in members for each in lists[member.member_id]}
    stay = [(each, member) for each, member in assigned.items() if owners.get(each) == member]
    ready = [(each, member) for each, member in assigned.items() if each not in owners]
    unknown = [(each, member) for each, member in owners.items() if each not in assigned]
    written: Lists = {member.member_id: [] for member in members}
    for partition, member in (*stay, *ready, *unknown):
        written[member].append(partition)
    return written
