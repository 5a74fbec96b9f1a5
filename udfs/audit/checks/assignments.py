"""One recorded assignment: what is counted of it, and the rules that every assignment must satisfy. Nothing of it is
recomputed. Words are made only for what is wrong."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

import numpy as np

from schemas.words.assignments import CheckName
from udfs.assignors.groups import NOBODY, Codes, Numbers, Rows
from udfs.audit.checks.facts import UNKNOWN, Flags, GroupRule

MOST_NAMED = 3


def are_listed(topics_of_class: Sequence[Codes], num_topics: int) -> Flags:
    """For each topic, whether some class of members subscribes to it."""
    flags = np.zeros(num_topics, np.bool_)
    for listed in topics_of_class:
        flags[listed] = True
    return flags


@dataclass(frozen=True)
class Check:
    name: CheckName
    is_ok: bool | None
    detail: str | None = None


FINE: Final[Mapping[CheckName, Check]] = {name: Check(name, True) for name in CheckName}
Partition = tuple[str, int]
# By topic, the racks of each partition's replicas.
Racks = Mapping[str, Sequence[Sequence[str | None]]]


@dataclass(frozen=True)
class RecordedAssignment:
    """Members with equal subscriptions share a class, as in an assignor's problem. `rows` name members and topics by
    their positions here, in the order of the record. A place is the number of a partition that is known to exist, if
    all of them are numbered consecutively, topic after topic. Of numbers, None: a number of partitions that they
    depend on is unknown."""

    members: Sequence[str]
    topics: Sequence[str]
    counts: Numbers
    class_of_member: Codes
    topics_of_class: Sequence[Codes]
    rows: Rows

    @cached_property
    def is_subscribed(self) -> Flags:
        """Topics that some member subscribes to."""
        return are_listed(self.topics_of_class, len(self.topics))

    @cached_property
    def are_counts_known(self) -> bool:
        """Of the topics that somebody subscribes to."""
        return bool((self.counts[self.is_subscribed] != UNKNOWN).all())

    @cached_property
    def starts(self) -> Numbers:
        """The place of each topic's first partition, and the number of all places."""
        return np.concatenate([[0], np.maximum(self.counts, 0).cumsum()])

    def exist(self, rows: Rows) -> Flags:
        exist: Flags = (rows.partitions >= 0) & (rows.partitions < self.counts[rows.topics])
        return exist

    def real(self, rows: Rows) -> Rows:
        """Those whose partitions exist."""
        is_real = self.exist(rows)
        return rows if is_real.all() else rows.take(is_real)

    def places(self, real: Rows) -> Numbers:
        places: Numbers = self.starts[real.topics] + real.partitions
        return places

    @cached_property
    def is_real(self) -> Flags:
        """For each row, whether its topic is known to have this partition."""
        return self.exist(self.rows)

    @cached_property
    def real_rows(self) -> Rows:
        return self.rows if self.is_real.all() else self.rows.take(self.is_real)

    @cached_property
    def is_nonexistent(self) -> Flags:
        """For each row, whether its topic is known not to have it."""
        is_nonexistent: Flags = ~self.is_real & (self.counts[self.rows.topics] != UNKNOWN)
        return is_nonexistent

    @cached_property
    def is_unsubscribed(self) -> Flags:
        """For each row, whether its member does not subscribe to its topic."""
        if len(self.topics_of_class) == 1:
            return ~self.is_subscribed[self.rows.topics]
        # Pairs that are there, not a table of all: groups with thousands of classes and topics have few of them.
        width = len(self.topics)
        pairs = [own * width + listed.astype(np.int64) for own, listed in enumerate(self.topics_of_class)]
        wanted = self.class_of_member[self.rows.members].astype(np.int64) * width + self.rows.topics
        return ~np.isin(wanted, np.concatenate(pairs)) if pairs else np.ones(len(self.rows), np.bool_)

    @cached_property
    def owned(self) -> Numbers:
        """Places of rows whose partitions exist."""
        return self.places(self.real_rows)

    @cached_property
    def times_owned(self) -> Numbers:
        """The number of owners, by place."""
        return np.bincount(self.owned, minlength=int(self.starts[-1]))

    def are_among(self, places: Numbers, rows: Rows) -> Flags:
        """Whether rows name these places."""
        named = np.zeros(int(self.starts[-1]), np.bool_)
        named[self.places(self.real(rows))] = True
        return named[places]

    def in_subscribed(self, chosen: Flags) -> Numbers:
        """Chosen places of topics that somebody subscribes to."""
        places = np.flatnonzero(chosen)
        if len(places) and not self.is_subscribed.all():
            places = places[self.is_subscribed[self.topics_of(places)]]
        return places

    def topics_of(self, places: Numbers) -> Numbers:
        return np.searchsorted(self.starts, places, side="right") - 1

    @cached_property
    def unowned(self) -> Numbers:
        """Places without an owner."""
        return self.in_subscribed(self.times_owned == 0)

    @cached_property
    def sizes(self) -> Numbers:
        """How many partitions each member has."""
        return np.bincount(self.rows.members, minlength=len(self.members))

    @property
    def num_partitions(self) -> int | None:
        return int(self.counts[self.is_subscribed].sum()) if self.are_counts_known else None

    @property
    def num_unowned(self) -> int | None:
        return len(self.unowned) if self.are_counts_known else None

    def num_owned_twice(self, most_owners: int = 1) -> int:
        """Partitions with more owners than this."""
        num_twice = int(np.count_nonzero(self.times_owned > most_owners))
        if self.real_rows is not self.rows:
            # Partitions that do not exist can have several owners too.
            strange = Counter(each[1:] for each in self.rows.take(~self.is_real).triples())
            num_twice += sum(times > most_owners for times in strange.values())
        return num_twice

    @property
    def num_nonexistent(self) -> int | None:
        if self.real_rows is self.rows:
            return 0
        is_known = bool((self.counts[self.rows.topics] != UNKNOWN).all())
        return int(np.count_nonzero(self.is_nonexistent)) if is_known else None

    @property
    def num_idle_members(self) -> int:
        return int(np.count_nonzero(self.sizes == 0))

    @property
    def imbalance(self) -> int:
        """Largest difference in numbers of partitions among members with equal subscriptions."""
        if len(self.topics_of_class) == 1 and len(self.sizes):
            return int(self.sizes.max() - self.sizes.min())
        return largest_difference(self.class_of_member.tolist(), self.sizes.tolist())

    def is_level(self, num_withheld: int = 0) -> bool:
        """Whether members' sizes differ by one or less, or will once the withheld partitions are assigned: if all
        members subscribe to the same topics."""
        share, extra = divmod(int(self.sizes.sum()) + num_withheld, max(1, len(self.members)))
        # Then the withheld partitions exactly fill the members that have too few.
        is_over = (self.sizes > share + (extra > 0)).any()
        return not is_over and int(np.count_nonzero(self.sizes > share)) <= extra

    @property
    def is_level_by_topic(self) -> bool:
        """Whether each topic is spread evenly over the members that subscribe to it."""
        by_topic: dict[int, list[int]] = {}
        pairs = Counter(zip(self.rows.topics.tolist(), self.rows.members.tolist(), strict=True))
        for (topic, _), size in pairs.items():
            by_topic.setdefault(topic, []).append(size)
        subscribers = np.zeros(len(self.topics), np.int64)
        num_of_class = np.bincount(self.class_of_member, minlength=len(self.topics_of_class))
        for listed, number in zip(self.topics_of_class, num_of_class.tolist(), strict=True):
            np.add.at(subscribers, listed, number)
        least = {topic: min(sizes) if len(sizes) >= subscribers[topic] else 0 for topic, sizes in by_topic.items()}
        return all(max(sizes) - least[topic] <= 1 for topic, sizes in by_topic.items())

    def unsafe(self, claims: Rows) -> Flags:
        """Rows that give a member a partition that another member claims and it does not. Nobody may have it before
        the other one gives it up."""
        is_unsafe = np.zeros(len(self.rows), np.bool_)
        claims = self.real(claims)
        claimed, given = self.places(claims), self.owned
        claimants = np.full(int(self.starts[-1]), NOBODY, np.int64)
        claimants[claimed] = claims.members
        others = claimants[given]
        unsafe = (others != NOBODY) & (others != self.real_rows.members)
        if unsafe.any():
            # If several members claim a partition, the member that has it may be one of them.
            own = set(zip(claims.members.tolist(), claimed.tolist(), strict=True))
            pairs = zip(self.real_rows.members[unsafe].tolist(), given[unsafe].tolist(), strict=True)
            unsafe[unsafe] = [pair not in own for pair in pairs]
        is_unsafe[self.is_real] = unsafe
        return is_unsafe

    def named(self, places: Numbers) -> list[Partition]:
        topics = self.topics_of(places)
        partitions = places - self.starts[topics]
        return [(self.topics[topic], each) for topic, each in zip(topics.tolist(), partitions.tolist(), strict=True)]


def largest_difference(classes: Sequence[int], sizes: Sequence[int]) -> int:
    """Among members of one class; 0 without members."""
    by_class: dict[int, list[int]] = {}
    for number, size in zip(classes, sizes, strict=True):
        by_class.setdefault(number, []).append(size)
    return max((max(each) - min(each) for each in by_class.values()), default=0)


def owners_of(rows: Iterable[tuple[int, int, int]]) -> dict[tuple[int, int], set[int]]:
    """By topic and partition."""
    by_partition: dict[tuple[int, int], set[int]] = {}
    for member, topic, partition in rows:
        by_partition.setdefault((topic, partition), set()).add(member)
    return by_partition


# -- checks


def check(name: CheckName, faults: Sequence[str]) -> Check:
    return Check(name, False, "; ".join(faults)) if faults else FINE[name]


def valid(recorded: RecordedAssignment, most_owners: int = 1) -> Check:
    """Topics are subscribed, partitions exist, and none has too many owners."""
    listed = [each[1:] for each in recorded.rows.triples()]
    times = Counter(listed)
    is_repeated = np.array([times[each] > most_owners for each in listed], np.bool_)
    faults = (
        *fault("not subscribed by its member", recorded, recorded.is_unsubscribed),
        *fault("does not exist", recorded, recorded.is_nonexistent),
        *fault("owned twice", recorded, is_repeated),
    )
    return check(CheckName.VALID, faults)


def complete(recorded: RecordedAssignment, withheld: Numbers) -> Check:
    """Each partition has an owner, apart from those that wait for their owners to give them up. If numbers of
    partitions are unknown, so is this."""
    if not recorded.are_counts_known:
        return Check(CheckName.COMPLETE, None, "partition counts of topics are unknown")
    if len(recorded.unowned) == len(withheld):
        return FINE[CheckName.COMPLETE]
    unowned = recorded.named(np.setdiff1d(recorded.unowned, withheld))
    return check(CheckName.COMPLETE, [f"no member has {partition_list(unowned)}"])


def balanced(recorded: RecordedAssignment, num_withheld: int = 0) -> Check:
    """Sizes of members with equal subscriptions. With unequal ones, the best possible balance is not computed."""
    if len(recorded.topics_of_class) > 1:
        return Check(CheckName.BALANCED, None, "subscriptions differ")
    sizes = recorded.sizes
    uneven = [f"members have from {sizes.min()} to {sizes.max()} partitions"]
    return check(CheckName.BALANCED, [] if recorded.is_level(num_withheld) else uneven)


def cooperative_safe(recorded: RecordedAssignment, unsafe: Flags) -> Check:
    return check(CheckName.COOPERATIVE_SAFE, list(fault("assigned before its owner gave it up", recorded, unsafe)))


def static_once(instances: Sequence[str | None]) -> Check:
    """No static instance has two members."""
    if not any(instances):
        return FINE[CheckName.STATIC_ONCE]
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for each in instances:
        if each in seen:
            twice[each] = None
        elif each is not None:
            seen.add(each)
    return check(CheckName.STATIC_ONCE, [f"group.instance.id {each} is that of two members" for each in twice])


def fault(what: str, recorded: RecordedAssignment, chosen: Flags) -> Iterator[str]:
    if chosen.any():
        names = {(recorded.topics[topic], partition) for _, topic, partition in recorded.rows.take(chosen).triples()}
        yield f"{what}: {partition_list(names)}"


def partition_list(partitions: Collection[Partition]) -> str:
    """The first few by name, and the number of the others."""
    shown = ", ".join(f"{topic}-{partition}" for topic, partition in islice(sorted(partitions), MOST_NAMED))
    more = len(partitions) - MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


# -- requirements from the settings


def required_checks(
    rule: GroupRule, recorded: RecordedAssignment, member_racks: Sequence[str | None], racks: Racks
) -> Iterator[Check]:
    for topics in rule.copartitioned:
        yield co_partitioned(recorded, topics)
    if rule.redundancy > 1:
        yield redundant(recorded, rule.redundancy)
    if rule.is_rack_local:
        yield rack_local(recorded, member_racks, racks)


def co_partitioned(recorded: RecordedAssignment, topics: Sequence[str]) -> Check:
    """Each member has the same partitions of all these topics."""
    places = {name: at for at, name in enumerate(recorded.topics)}
    if missing := [name for name in topics if name not in places]:
        return Check(CheckName.CO_PARTITIONED, None, f"no member subscribes to {', '.join(missing)}")
    counts = {name: int(recorded.counts[places[name]]) for name in topics}
    unknown = [name for name in topics if counts[name] == UNKNOWN]
    if len(set(counts.values()) - {UNKNOWN}) > 1:
        return Check(CheckName.CO_PARTITIONED, False, f"the topics {', '.join(topics)} have different partition counts")
    owners = owners_of(recorded.rows.triples())
    first, proved, is_any_unproved = topics[0], [], False
    for other in topics[1:]:
        for partition in sorted({each for topic, each in owners if topic in (places[first], places[other])}):
            one, two = owners.get((places[first], partition)), owners.get((places[other], partition))
            # Where a number is unknown, an owner of only one of the two proves nothing: the other may not exist.
            if one != two and ((one and two) or not unknown):
                proved.append(f"{first}-{partition} and {other}-{partition} have different owners")
            elif one != two:
                is_any_unproved = True
    if is_any_unproved and not proved:
        return Check(CheckName.CO_PARTITIONED, None, f"partition counts of {', '.join(unknown)} are unknown")
    return check(CheckName.CO_PARTITIONED, proved[:MOST_NAMED])


def redundant(recorded: RecordedAssignment, wanted: int) -> Check:
    """This many members have each partition."""
    if not recorded.are_counts_known:
        return Check(CheckName.REDUNDANT, None, "partition counts of topics are unknown")
    wrong = recorded.in_subscribed(recorded.times_owned != wanted)
    if not len(wrong):
        return FINE[CheckName.REDUNDANT]
    times = recorded.times_owned[wrong]
    least, most = int(times.min()), int(times.max())
    seen = f"{least} to {most} do" if least < most else f"{least} does" if least == 1 else f"{least} do"
    places = partition_list(recorded.named(wrong))
    return check(CheckName.REDUNDANT, [f"{places}: {wanted} members must own each, {seen}"])


def rack_local(recorded: RecordedAssignment, member_racks: Sequence[str | None], racks: Racks) -> Check:
    """Members that name their rack have only partitions with a replica there."""
    if not any(member_racks):
        return Check(CheckName.RACK_LOCAL, None, "no member names its rack")
    remote, unknown = set(), set()
    for member, topic, partition in recorded.rows.triples():
        name, rack = recorded.topics[topic], member_racks[member]
        of_topic = racks.get(name, ())
        # A snapshot may be older than a partition.
        of_replicas = of_topic[partition] if 0 <= partition < len(of_topic) else ()
        if rack and not of_replicas:
            unknown.add(name)
        elif rack and rack not in of_replicas:
            remote.add((name, partition))
    if remote:
        return check(CheckName.RACK_LOCAL, [f"no replica in the member's rack: {partition_list(remote)}"])
    if unknown:
        names = ", ".join(sorted(unknown))
        return Check(CheckName.RACK_LOCAL, None, f"racks of the replicas of {names} are not known")
    return FINE[CheckName.RACK_LOCAL]
