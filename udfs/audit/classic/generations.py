"""Generations of classic groups: each type 2 value by itself, with members and topics numbered as an assignor orders
them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from schemas.words.client_libraries import ClientLibrary
from udfs.assignors.groups import ABSENT, Codes, Numbers, Positions, Rows
from udfs.audit.checks.assignments import RecordedAssignment
from udfs.audit.checks.facts import Flags
from udfs.audit.classic.values import NO_VERSION, Listing, Values
from udfs.groups.readers.client_libraries import ANY_LIBRARY, Libraries, named

# Limits of work at once: cells of a table of values by topics, and rows.
MOST_CELLS, MOST_ROWS = 1 << 22, 1 << 21


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
        is_subscribed = np.zeros(len(self.topics), np.bool_)
        for listed in self.topics_of_class:
            is_subscribed[listed] = True
        return is_subscribed

    def recorded_assignment(self, counts: Numbers) -> RecordedAssignment:
        return RecordedAssignment(self.members, self.topics, counts, *self.subscriptions, self.assigned)


def generations_of(values: Values) -> Iterator[Generation | None]:
    """One for each value in order; None for tombstones."""
    for first, last in ranges_of_values(values):
        yield from generations_in(values, first, last)


def ranges_of_values(values: Values) -> Iterator[tuple[int, int]]:
    members = values.starts
    rows = np.maximum(values.assigned.starts[members], values.owned.starts[members])
    width = max(1, MOST_CELLS // max(1, len(values.topics)))
    first = 0
    while first < len(values):
        last = int(np.searchsorted(rows, rows[first] + MOST_ROWS))
        last = max(first + 1, min(last, first + width, len(values)))
        yield first, last
        first = last


def generations_in(values: Values, first: int, last: int) -> Iterator[Generation | None]:
    bounds = values.starts[first : last + 1]
    of_member = np.repeat(np.arange(last - first), np.diff(bounds))
    members = slice(int(bounds[0]), int(bounds[-1]))
    columns = (
        (values.subscribed_starts, values.subscribed),
        (values.owned.starts, values.owned.topics),
        (values.assigned.starts, values.assigned.topics),
    )
    listings = [member_rows(starts, codes, members, of_member) for starts, codes in columns]
    cells = np.zeros((last - first, max(1, len(values.topics))), np.bool_)
    for each in listings:
        cells[each.of_value, each.codes] = True
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(cells, axis=1))])
    number = np.cumsum(cells).reshape(cells.shape) - 1
    of_window = [number[each.of_value, each.codes] for each in listings]
    lower_bounds = np.zeros(int(starts[-1]), np.int64)
    for at, listing in ((1, values.owned), (2, values.assigned)):
        np.maximum.at(lower_bounds, of_window[at], listing.partitions[listings[at].rows].astype(np.int64) + 1)
    local = [
        (places - starts[each.of_value]).astype(np.int32) for places, each in zip(of_window, listings, strict=True)
    ]
    names = [values.topics[code] for code in np.nonzero(cells)[1].tolist()]
    is_uniform = are_uniform(values, first, last)
    for at, (start, end) in enumerate(pairwise(bounds.tolist())):
        if values.is_tombstone[first + at]:
            yield None
            continue
        subscribed, owned, assigned = (
            rows_between(places, each, start, end) for places, each in zip(local, listings, strict=True)
        )
        topics = slice(int(starts[at]), int(starts[at + 1]))
        class_of_member, topics_of_class = classes(values, subscribed, start, end, bool(is_uniform[at]))
        yield generation(
            values, first + at, start, end, names[topics], class_of_member, topics_of_class,
            rows_of(values.owned, owned, start, end), rows_of(values.assigned, assigned, start, end),
            lower_bounds[topics],
        )  # fmt: skip


@dataclass(frozen=True)
class MemberRows:
    """The rows of some members."""

    rows: slice
    starts: Positions
    codes: Codes
    of_value: Positions


def member_rows(starts: Positions, codes: Codes, members: slice, of_member: Positions) -> MemberRows:
    bounds = starts[members.start : members.stop + 1]
    rows = slice(int(bounds[0]), int(bounds[-1]))
    return MemberRows(rows, starts, codes[rows], np.repeat(of_member, np.diff(bounds)))


def rows_between(codes: Codes, of: MemberRows, start: int, end: int) -> Codes:
    """The rows of one value's members."""
    return codes[int(of.starts[start]) - of.rows.start : int(of.starts[end]) - of.rows.start]


def rows_of(listing: Listing, topics: Codes, start: int, end: int) -> Rows:
    bounds = listing.starts[start : end + 1]
    members = np.repeat(np.arange(end - start, dtype=np.int32), np.diff(bounds))
    return Rows(members, topics, listing.partitions[int(bounds[0]) : int(bounds[-1])])


def are_uniform(values: Values, first: int, last: int) -> Flags:
    """For each value, whether all its members list the same topics in the same order."""
    bounds = values.starts[first : last + 1]
    members = np.arange(int(bounds[0]), int(bounds[-1]))
    leading = np.repeat(bounds[:-1], np.diff(bounds))
    starts = values.subscribed_starts
    sizes = starts[members + 1] - starts[members]
    same = sizes == starts[leading + 1] - starts[leading]
    rows = np.arange(int(starts[bounds[0]]), int(starts[bounds[-1]]))
    beside = rows + np.repeat(starts[leading] - starts[members], sizes)
    is_same = np.repeat(same, sizes)
    is_same[is_same] = values.subscribed[beside[is_same]] == values.subscribed[rows[is_same]]
    is_uniform = np.ones(last - first, np.bool_)
    of_member = np.repeat(np.arange(last - first), np.diff(bounds))
    is_uniform[of_member[~same]] = False
    is_uniform[np.repeat(of_member, sizes)[~is_same]] = False
    return is_uniform


def classes(values: Values, subscribed: Codes, start: int, end: int, is_uniform: bool) -> tuple[Codes, Sequence[Codes]]:
    bounds = (values.subscribed_starts[start : end + 1] - values.subscribed_starts[start]).tolist()
    if is_uniform:
        return np.zeros(end - start, np.int32), [subscribed[: bounds[1]]] if end > start else []
    known: dict[bytes, int] = {}
    topics_of_class: list[Codes] = []
    of_member = []
    for first, last in pairwise(bounds):
        listed = subscribed[first:last]
        number = known.setdefault(listed.tobytes(), len(known))
        if number == len(topics_of_class):
            topics_of_class.append(listed)
        of_member.append(number)
    return np.array(of_member, np.int32), topics_of_class


def generation(
    values: Values, at: int, start: int, end: int, topics: Sequence[str], class_of_member: Codes,
    topics_of_class: Sequence[Codes], owned: Rows, assigned: Rows, lower_bounds: Numbers,
) -> Generation:  # fmt: skip
    return Generation(
        group_id=values.group_ids[at],
        offset=values.offsets[at],
        time=values.times[at],
        batch=values.batches[at],
        protocol_type=values.protocol_types[at] or "",
        number=values.generations[at] or 0,
        protocol=values.protocols[at],
        leader=values.leaders[at],
        state_time=values.state_times[at],
        members=values.member_ids[start:end],
        instances=values.instances[start:end],
        client_ids=values.client_ids[start:end],
        racks=values.racks[start:end],
        versions=values.versions[start:end],
        generation_ids=values.generation_ids[start:end],
        user_data=values.user_data[start:end],
        is_assignment_read=values.is_assignment_read[start:end],
        is_omitted=values.is_omitted[start:end],
        has_assignment_data=values.has_assignment_data[start:end],
        topics=topics,
        class_of_member=class_of_member,
        topics_of_class=topics_of_class,
        owned=owned,
        assigned=assigned,
        lower_bounds=lower_bounds,
        find_libraries=lambda: Libraries(int(values.libraries_of_leaders[at])),
    )
