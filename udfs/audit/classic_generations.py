"""Generations of classic groups: each type 2 value as the group that its leader saw, what is remembered of a group's
newest value, and a value beside the one before."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.words.assignments import ClientLibrary, PartitionCountsSource
from schemas.words.records import GroupType
from udfs.assignors.groups import ABSENT, NOBODY, Codes, Group, Numbers, Rows
from udfs.assignors.questions import Member, Topic
from udfs.audit.checks.assignments import are_listed
from udfs.audit.checks.facts import Facts, Flags
from udfs.audit.checks.results import GONE, Latest, are_equal
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.client_libraries import ANY_LIBRARY, Libraries, library_sets, named

# Of a subscription that cannot be read.
NO_VERSION = -1
NO_NUMBERS = np.empty(0, np.int64)
NO_FLAGS = np.empty(0, np.bool_)
NO_ROWS = Rows(*[np.empty(0, np.int32)] * 3)
# What later generations and runs need of one.
KEPT = (
    *("group_id", "offset", "time", "protocol_type", "number", "protocol", "members", "instances", "racks", "versions"),
    *("topics", "class_of_member", "topics_of_class", "assigned"),
)


@dataclass(frozen=True, kw_only=True)
class Generation:
    """A `Group` in columns. Members are in the record's order, which is the order in which the leader saw them. Topics
    are those that some member subscribes to, claims or has."""

    members: Sequence[str]
    instances: Sequence[str | None]
    racks: Sequence[str | None]
    generations: Sequence[int] = ()
    user_data: Sequence[bytes | None] = ()
    topics: Sequence[str]
    # Members that list the same topics in the same order share a class.
    class_of_member: Codes
    topics_of_class: Sequence[Codes]
    # By topic, one more than the highest partition that is assigned or claimed.
    counts: Numbers = field(default_factory=lambda: NO_NUMBERS)
    owned: Rows = NO_ROWS
    assigned: Rows
    group_id: str
    offset: int
    time: int | None
    batch: int = ABSENT
    protocol_type: str
    number: int
    protocol: str | None
    leader: str | None = None
    state_time: int | None = None
    client_ids: Sequence[str | None] = ()
    # NO_VERSION if the subscription cannot be read.
    versions: Numbers
    is_assignment_read: Flags = field(default_factory=lambda: NO_FLAGS)
    # The leader's SyncGroup request did not name the member at all.
    is_omitted: Flags = field(default_factory=lambda: NO_FLAGS)
    find_libraries: Callable[[], Libraries] = lambda: ANY_LIBRARY

    def kept(self) -> "Generation":
        return Generation(**{name: getattr(self, name) for name in KEPT})

    @cached_property
    def as_asked(self) -> Group:
        """As its assignor saw it, with the numbers of partitions that the record shows."""
        return Group(
            members=self.members,
            instances=self.instances,
            racks=self.racks,
            topics=self.topics,
            counts=self.counts.tolist(),
            classes=self.class_of_member.tolist(),
            subscriptions=[listed.tolist() for listed in self.topics_of_class],
            owned=self.owned.lists(len(self.members)),
            generations=self.generations,
            user_data=self.user_data,
        )

    @cached_property
    def leader_at(self) -> int | None:
        """The leader's position among the members."""
        return next((at for at, member in enumerate(self.members) if member == self.leader), None)

    @cached_property
    def libraries(self) -> Libraries:
        """Those that the leader may use, as far as the record shows it."""
        return self.find_libraries()

    @cached_property
    def leader_library(self) -> ClientLibrary | None:
        """The one that it probably uses."""
        client_id = None if self.leader_at is None else self.client_ids[self.leader_at]
        return named(self.libraries, self.group_id, client_id).library

    @cached_property
    def repeated_member(self) -> str | None:
        """The first member that appears twice. Coordinators keep its last entry; the leader never saw two."""
        if len(set(self.members)) == len(self.members):
            return None
        return next(each for each, times in Counter(self.members).items() if times > 1)

    @cached_property
    def unread(self) -> str | None:
        """The first member and field that cannot be read."""
        for flags, what in ((self.versions != NO_VERSION, "subscription"), (self.is_assignment_read, "assignment")):
            if not flags.all():
                return f"{self.members[int(np.flatnonzero(~flags)[0])]}: its {what} cannot be read"
        return None

    @cached_property
    def equal_classes(self) -> tuple[Codes, Sequence[Codes]]:
        """Classes of members that subscribe to the same topics, in any order. Kafka's sticky assignors do not look at
        the order either. But its hash tables depend on it, so `topics_of_class` keeps the lists."""
        known: dict[frozenset[int], int] = {}
        numbers = [known.setdefault(frozenset(listed), len(known)) for listed in self.as_asked.subscriptions]
        if len(known) == len(numbers):
            return self.class_of_member, self.topics_of_class
        listed = [np.array(sorted(topics), np.int32) for topics in known]
        return np.array(numbers, np.int32)[self.class_of_member], listed

    @cached_property
    def has_one_subscription(self) -> bool:
        return len(self.equal_classes[1]) == 1

    @cached_property
    def is_subscribed(self) -> Flags:
        """Topics that some member subscribes to."""
        return are_listed(self.topics_of_class, len(self.topics))


# -- from the log


def generations_of(rows: pa.Table) -> Iterator[tuple[str, Generation | None]]:
    """From rows of `classic_group_metadata`, in their order, each with its group; None for tombstones."""
    read = ClassicColumns(rows)
    places = read.places
    of_value: Mapping[str, Sequence[Any]] = {
        "group_id": places.group_ids,
        "offset": places.offsets,
        "time": places.times,
        "batch": places.batches,
        "protocol_type": [each or "" for each in read.column("protocol_type")],
        "number": [each or 0 for each in read.column("generation")],
        "protocol": read.column("protocol"),
        "leader": read.column("leader"),
        "state_time": read.state_times,
    }
    of_member: Mapping[str, Any] = {
        "members": read.of_member("member_id"),
        "instances": read.of_member("group_instance_id"),
        "client_ids": read.of_member("client_id"),
        "racks": read.subscription_field("rack_id"),
        # Numbers below 0 are ignored.
        "generations": np.maximum(read.subscribed_number("generation_id", ABSENT), ABSENT).tolist(),
        "user_data": read.subscription_field("user_data"),
        "is_assignment_read": read.is_assignment_read | read.is_omitted,
        "is_omitted": read.is_omitted,
    }
    versions = read.subscribed_number("version", NO_VERSION)
    partitions = read.claimed_lists, read.assigned_lists
    # Numbered by name, so that nothing depends on the other names in the window.
    names = sorted({*read.topics.names, *(name for each in partitions for name in each.names)})
    numbers = {name: number for number, name in enumerate(names)}
    lists = [(read.topics.starts, read.topics.names, read.topics.texts)]
    lists += [(each.starts, each.names, each.topics) for each in partitions]
    columns = [(starts, np.array([numbers[name] for name in own] or [0], np.int32)[at]) for starts, own, at in lists]
    # Most logs never need them.
    leaders = cache(lambda: library_sets(read).leaders)
    for at, (start, end) in enumerate(pairwise(read.starts.tolist())):
        if places.are_tombstones[at]:
            yield places.group_ids[at], None
            continue
        spans = [starts[start : end + 1] for starts, _ in columns]
        codes = [column[span[0] : span[-1]] for (_, column), span in zip(columns, spans, strict=True)]
        # Topics are numbered among those of this value.
        topics = np.unique(np.concatenate(codes))
        listed, *of_rows = (np.searchsorted(topics, each).astype(np.int32) for each in codes)
        # Copied: what is remembered of a group must not keep the window.
        owned, assigned = (
            Rows(np.repeat(np.arange(end - start, dtype=np.int32), np.diff(span)), topics_of_rows,
                 each.partitions[span[0] : span[-1]].copy())
            for each, span, topics_of_rows in zip(partitions, spans[1:], of_rows, strict=True)
        )  # fmt: skip
        class_of_member, topics_of_class = classes(listed, spans[0] - spans[0][0])
        yield (
            places.group_ids[at],
            Generation(
                **{name: column[at] for name, column in of_value.items()},
                **{name: column[start:end] for name, column in of_member.items()},
                versions=versions[start:end].copy(),
                topics=[names[code] for code in topics.tolist()],
                counts=np.maximum(least(owned, len(topics)), least(assigned, len(topics))),
                class_of_member=class_of_member,
                topics_of_class=topics_of_class,
                owned=owned,
                assigned=assigned,
                find_libraries=partial(lambda at: Libraries(int(leaders()[at])), at),
            ),
        )


def least(rows: Rows, num_topics: int) -> Numbers:
    """By topic, one more than the highest partition that the rows name."""
    ends = np.zeros(num_topics, np.int64)
    np.maximum.at(ends, rows.topics, rows.partitions.astype(np.int64) + 1)
    return ends


def classes(listed: Codes, starts: Numbers) -> tuple[Codes, Sequence[Codes]]:
    """Of members that list the same topics in the same order. Mostly all do."""
    sizes = np.diff(starts)
    num_members = len(sizes)
    if num_members and (sizes == sizes[0]).all():
        rows = listed.reshape(num_members, sizes[0])
        if (rows == rows[0]).all():
            return np.zeros(num_members, np.int32), [rows[0]]
    known: dict[bytes, int] = {}
    numbers = [known.setdefault(listed[first:last].tobytes(), len(known)) for first, last in pairwise(starts.tolist())]
    return np.array(numbers, np.int32), [np.frombuffer(each, np.int32) for each in known]


# -- what is remembered of a group


@dataclass(frozen=True)
class Before:
    """A group's newest value; without members: the group was emptied."""

    generation: Generation
    counts: Numbers
    source: PartitionCountsSource | None
    # The release whose rules gave the assignment. None: none did, or none was tried.
    line: str | None
    # Why nothing can be computed at all.
    reason: str | None
    # The same members with the same lists as in the previous value.
    is_repeat: bool = False

    @cached_property
    def least(self) -> Numbers:
        """By topic, one more than the highest partition that was assigned."""
        return least(self.generation.assigned, len(self.generation.topics))

    def by_topic(self, numbers: Numbers) -> Mapping[str, int]:
        return dict(zip(self.generation.topics, numbers.tolist(), strict=True))

    def without_window(self) -> "Before":
        return replace(self, counts=self.counts.copy(), generation=self.generation.kept())


def latest(before: Before, facts: Facts) -> Latest | None:
    """None: the group has no members."""
    of = before.generation
    if not of.members:
        return None
    owned: list[dict[str, list[int]]] = [{} for _ in of.members]
    for member, topic, partition in of.assigned.triples():
        owned[member].setdefault(of.topics[topic], []).append(partition)
    members = []
    for at, by_topic in enumerate(owned):
        has = tuple((topic, tuple(partitions)) for topic, partitions in by_topic.items())
        topics = tuple(of.topics[topic] for topic in of.as_asked.subscriptions[of.as_asked.classes[at]])
        members.append(
            Member(of.members[at], of.instances[at], of.racks[at], topics, has, of.number, user_data=None, target=has)
        )
    return Latest(
        group_id=of.group_id,
        group_type=GroupType.CLASSIC,
        assignment_offset=of.offset,
        record_time=of.time,
        assignor=of.protocol,
        topics=tuple(
            topic_of(of.topics[at], int(before.counts[at]), facts) for at in np.flatnonzero(of.is_subscribed).tolist()
        ),
        members=tuple(members),
        counts_source=before.source,
        evidence_first_offset=of.offset,
        subscription_versions=tuple(None if version < 0 else version for version in of.versions.tolist()),
        reason=before.reason,
    )


def topic_of(name: str, count: int, facts: Facts) -> Topic:
    """With id and racks from the newest snapshot, if it has the same number of partitions."""
    known = facts.topics.get(name)
    return known[-1].topic if known and known[-1].topic.partitions == count else Topic(name, count)


# -- beside the value before


def successors(before: Generation, now: Generation) -> Sequence[int]:
    """For each member before, its position now, by its id or else its static id; GONE if it left."""
    if before.members == now.members:
        return range(len(now.members))
    places = {member: at for at, member in enumerate(now.members)}
    statics = {instance: at for at, instance in enumerate(now.instances) if instance is not None}
    return [
        places[member] if member in places else GONE if instance is None else statics.get(instance, GONE)
        for member, instance in zip(before.members, before.instances, strict=True)
    ]


def owned_before(before: Generation, now: Generation) -> Rows:
    """What members of the value before had, in the numbers of now; GONE: a member that left. Without topics that are
    not among those of now."""
    rows, same = before.assigned, successors(before, now)
    if not isinstance(same, range):
        rows = Rows(np.array(same or [GONE], np.int32)[rows.members], rows.topics, rows.partitions)
    if before.topics != now.topics:
        places = now.as_asked.topic_positions
        topics = np.array([places.get(name, NOBODY) for name in before.topics] or [NOBODY], np.int32)[rows.topics]
        rows = Rows(rows.members, topics, rows.partitions).take(topics != NOBODY)
    return rows


def are_carried_over(before: Generation, now: Generation) -> bool:
    """The same generation with the same lists: a static member came back, and no assignor ran."""
    if before.number != now.number or len(before.members) != len(now.members):
        return False
    same = successors(before, now)
    if GONE in same or len(set(same)) < len(same):
        return False
    rows = owned_before(before, now)
    is_whole = len(rows) == len(before.assigned)
    return is_whole and are_equal(rows.take(np.argsort(rows.members, kind="stable")), now.assigned)


def are_alike(before: Generation, now: Generation) -> bool:
    """The same members with the same lists, apart from the generation."""
    return (
        list(before.members) == list(now.members)
        and list(before.topics) == list(now.topics)
        and are_equal(before.assigned, now.assigned)
    )
