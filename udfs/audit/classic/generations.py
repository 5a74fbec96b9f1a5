"""Generations of classic groups: each type 2 value by itself, with members and topics numbered as an assignor orders
them; and each beside the one before: which members are the same, and what they kept."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.words.assignments import ClientLibrary
from udfs.assignors.groups import ABSENT, NOBODY, Codes, Numbers, Rows, are_listed
from udfs.audit.checks.assignments import RecordedAssignment
from udfs.audit.checks.facts import Flags
from udfs.audit.checks.results import GONE, are_equal
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.client_libraries import ANY_LIBRARY, Libraries, library_sets, named

# Of a subscription that cannot be read.
NO_VERSION = -1
NO_ROWS = Rows(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32))
# What later generations and runs need of one.
KEPT = (
    *("group_id", "offset", "time", "protocol_type", "number", "protocol", "members", "instances", "racks", "versions"),
    *("topics", "class_of_member", "topics_of_class", "assigned"),
)


@dataclass(frozen=True, kw_only=True)
class Generation:
    """A value with its members in the record's order, which is the order in which the leader saw them. Topics are those
    that some member subscribes to, claims or has."""

    group_id: str
    offset: int
    time: int | None
    batch: int = ABSENT
    protocol_type: str
    number: int
    protocol: str | None
    leader: str | None = None
    state_time: int | None = None
    members: Sequence[str]
    instances: Sequence[str | None]
    client_ids: Sequence[str | None] = ()
    racks: Sequence[str | None]
    # NO_VERSION if the subscription cannot be read.
    versions: Numbers
    generation_ids: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    user_data: Sequence[bytes | None] = ()
    is_assignment_read: Flags = field(default_factory=lambda: np.empty(0, np.bool_))
    is_omitted: Flags = field(default_factory=lambda: np.empty(0, np.bool_))
    has_assignment_data: Flags = field(default_factory=lambda: np.empty(0, np.bool_))
    topics: Sequence[str]
    class_of_member: Codes
    topics_of_class: Sequence[Codes]
    owned: Rows = NO_ROWS
    assigned: Rows
    # By topic, one more than the highest partition that is assigned or claimed.
    lower_bounds: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    # Finds the libraries that the leader may use.
    find_libraries: Callable[[], Libraries] = lambda: ANY_LIBRARY

    def kept(self) -> "Generation":
        """A copy without what only its own window needs, so that the arrays of the window can be freed."""
        rows = self.assigned
        return Generation(
            **{name: getattr(self, name) for name in KEPT}
            | {
                "versions": self.versions.copy(),
                "class_of_member": self.class_of_member.copy(),
                "topics_of_class": [listed.copy() for listed in self.topics_of_class],
                "assigned": Rows(rows.members.copy(), rows.topics.copy(), rows.partitions.copy()),
            }
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
    def subscriptions(self) -> tuple[Codes, Sequence[Codes]]:
        """Classes of members that subscribe to the same topics, in any order. Kafka's sticky assignors do not look at
        the order either. But its hash tables depend on it, so an assignor's problem keeps the lists."""
        known: dict[frozenset[int], int] = {}
        numbers = [known.setdefault(frozenset(listed.tolist()), len(known)) for listed in self.topics_of_class]
        if len(known) == len(self.topics_of_class):
            return self.class_of_member, self.topics_of_class
        listed = [np.array(sorted(topics), np.int32) for topics in known]
        return np.array(numbers, np.int32)[self.class_of_member], listed

    @property
    def has_one_subscription(self) -> bool:
        return len(self.topics_of_class) == 1 or len(self.subscriptions[1]) == 1

    @cached_property
    def is_subscribed(self) -> Flags:
        """Topics that some member subscribes to."""
        return are_listed(self.topics_of_class, len(self.topics))

    def recorded_assignment(self, counts: Numbers) -> RecordedAssignment:
        return RecordedAssignment(self.members, self.topics, counts, *self.subscriptions, self.assigned)


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
        "versions": read.subscribed_number("version", NO_VERSION),
        # Numbers below 0 are ignored.
        "generation_ids": np.maximum(read.subscribed_number("generation_id", ABSENT), ABSENT),
        "user_data": read.subscription_field("user_data"),
        "is_assignment_read": read.is_assignment_read | read.is_omitted,
        # The leader's SyncGroup request did not name the member at all.
        "is_omitted": read.is_omitted,
        "has_assignment_data": read.has_assigned_data,
    }
    partitions = read.claimed_lists, read.assigned_lists
    # Numbered by name, so that nothing depends on the other names in the window.
    names = sorted({*read.topics.names, *(name for each in partitions for name in each.names)})
    numbers = {name: number for number, name in enumerate(names)}
    lists = [(read.topics.starts, read.topics.names, read.topics.texts)]
    lists += [(each.starts, each.names, each.topics) for each in partitions]
    columns = [(starts, np.array([numbers[name] for name in own] or [0], np.int32)[at]) for starts, own, at in lists]
    # Most logs never need them.
    libraries = cache(lambda: library_sets(read).leaders)
    for at, (start, end) in enumerate(pairwise(read.starts.tolist())):
        if places.are_tombstones[at]:
            yield places.group_ids[at], None
            continue
        spans = [starts[start : end + 1] for starts, _ in columns]
        codes = [column[span[0] : span[-1]] for (_, column), span in zip(columns, spans, strict=True)]
        topics = np.unique(np.concatenate(codes))
        # Topics are numbered among those of this value.
        listed, owned, assigned = (np.searchsorted(topics, each).astype(np.int32) for each in codes)
        rows_of = [
            Rows(
                np.repeat(np.arange(end - start, dtype=np.int32), span[1:] - span[:-1]),
                of_rows,
                each.partitions[span[0] : span[-1]],
            )
            for each, span, of_rows in zip(partitions, spans[1:], (owned, assigned), strict=True)
        ]
        lower_bounds = np.zeros(len(topics), np.int64)
        for each in rows_of:
            np.maximum.at(lower_bounds, each.topics, each.partitions.astype(np.int64) + 1)
        class_of_member, topics_of_class = classes(listed, spans[0] - spans[0][0])
        yield (
            places.group_ids[at],
            Generation(
                **{name: column[at] for name, column in of_value.items()},
                **{name: column[start:end] for name, column in of_member.items()},
                topics=[names[code] for code in topics.tolist()],
                class_of_member=class_of_member,
                topics_of_class=topics_of_class,
                owned=rows_of[0],
                assigned=rows_of[1],
                lower_bounds=lower_bounds,
                find_libraries=partial(libraries_at, libraries, at),
            ),
        )


def libraries_at(of_all: Callable[[], Numbers], at: int) -> Libraries:
    return Libraries(int(of_all()[at]))


def classes(listed: Codes, starts: Numbers) -> tuple[Codes, Sequence[Codes]]:
    """Of members that list the same topics in the same order. Mostly all do."""
    sizes = starts[1:] - starts[:-1]
    num_members = len(sizes)
    if num_members and (sizes == sizes[0]).all():
        rows = listed.reshape(num_members, sizes[0])
        if (rows == rows[0]).all():
            return np.zeros(num_members, np.int32), [rows[0]]
    known: dict[bytes, int] = {}
    topics_of_class: list[Codes] = []
    of_member = []
    for first, last in pairwise(starts.tolist()):
        number = known.setdefault(listed[first:last].tobytes(), len(known))
        if number == len(topics_of_class):
            topics_of_class.append(listed[first:last])
        of_member.append(number)
    return np.array(of_member, np.int32), topics_of_class


# -- beside the value before


def successors(before: Generation, now: Generation) -> Sequence[int]:
    """For each member before, its position now, by its id or else its static id; GONE if it left."""
    if before.members == now.members:
        return range(len(now.members))
    places = {member: at for at, member in enumerate(now.members)}
    statics = {instance: at for at, instance in enumerate(now.instances) if instance is not None}
    return [
        places[member] if member in places else statics.get(instance, GONE) if instance is not None else GONE
        for member, instance in zip(before.members, before.instances, strict=True)
    ]


def owned_before(before: Generation, now: Generation) -> Rows:
    """What members of the value before had, in the numbers of now; GONE: a member that left. Without topics that are
    not among those of now."""
    rows, same = before.assigned, successors(before, now)
    if not isinstance(same, range):
        rows = Rows(np.array(same or [GONE], np.int32)[rows.members], rows.topics, rows.partitions)
    if before.topics != now.topics:
        places = {name: at for at, name in enumerate(now.topics)}
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
