"""librdkafka's cooperative-sticky. It is older than Kafka's: the general algorithm for all groups, with a map that is
walked from its newest key to its oldest."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from udfs.assignors.librdkafka.groups import Group, GroupMember, Lists, Partition, Undecidable

Key = TypeVar("Key")


def cooperative_sticky(group: Group) -> Lists:
    return without_moved(group.members, sticky(group))


def newest_first(keys: Iterable[Key]) -> Iterator[Key]:
    """The library's maps put a new key in front; a new value of a known key leaves it where it is."""
    return reversed(list(keys))


# -- the assignor


def sticky(group: Group) -> Lists:
    """What each member is to have in the end."""
    claims = claims_of(group)
    has, earlier = believed(group, claims)
    partitions = to_assign(group, has, earlier)
    unassigned, has_to_revoke = drop_what_cannot_stay(group, has, partitions)
    # Of two claims the later in the list of members, not the believed one.
    holder = {partition: members[-1] for partition, members in claims.items()}
    return Balancing(group, has, earlier, holder).balanced(partitions, unassigned, has_to_revoke)


def claims_of(group: Group) -> dict[Partition, list[str]]:
    claims: dict[Partition, list[str]] = {}
    for member in group.members:
        for partition in member.owned:
            claims.setdefault(partition, []).append(member.member_id)
    if not group.rules.has_generations and any(len(members) > 1 for members in claims.values()):
        raise Undecidable("two members claim a partition, and this release knows no generations")
    return claims


def believed(group: Group, claims: Mapping[Partition, Sequence[str]]) -> tuple[Lists, dict[Partition, str]]:
    """What members keep for now, and by partition who had it in an earlier generation. Two claims of one generation,
    though not of the newest one, make all claims of the partition void."""
    generations = {member.member_id: member.generation for member in group.members}
    has: Lists = {member.member_id: [] for member in group.members}
    earlier: dict[Partition, str] = {}
    for partition in newest_first(claims):
        members = sorted(claims[partition], key=lambda member: generations[member])
        if len({generations[member] for member in members}) < len(members):
            continue
        has[members[-1]].append(partition)
        if len(members) > 1:
            earlier[partition] = members[-2]
    return has, earlier


def to_assign(group: Group, has: Lists, earlier: Mapping[Partition, str]) -> list[Partition]:
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
    return ordered + [each for each in newest_first(existing) if each not in taken]


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


def drop_what_cannot_stay(group: Group, has: Lists, partitions: Sequence[Partition]) -> tuple[list[Partition], bool]:
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
        self, group: Group, has: Lists, earlier: Mapping[Partition, str], holder: dict[Partition, str]
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
            owners = {each: member for member in newest_first(self.has) for each in self.has[member]}
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
