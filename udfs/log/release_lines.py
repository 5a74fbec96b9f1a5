"""Whose rules apply to which part of the log: coordinators of other releases read some records in another way.

A coordinator is one process of one release for as long as its leader epoch lasts, and what it writes shows which
releases it can be (`SIGNS`). So each leader epoch of an offsets partition has one line of releases with the same rules
(`LINES`). Where no record shows a release, it is today's.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from udfs.log.leader_epochs import NO_EPOCH, Epoch

Release = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """`keeps_last_commit`: of two commits of an offset the one whose COMMIT came last is in effect, and a deletion
    leaves what waits for its COMMIT. `first_epoch`: of a consumer, share or streams group until its first record of
    an epoch."""

    name: str
    keeps_last_commit: bool
    first_epoch: int


PREVIEW = Line("Kafka 3.7 with the new coordinator", keeps_last_commit=True, first_epoch=0)
EARLIER = Line("Kafka before 4.3", keeps_last_commit=False, first_epoch=0)
TODAY = Line("today's Kafka (4.3 and later)", keeps_last_commit=False, first_epoch=1)
LINES: Mapping[str, Line] = {line.name: line for line in (PREVIEW, EARLIER, TODAY)}
# By the names that the setting may have. 3.7 to 3.9 have two coordinators: "-new" means that of KIP-848.
BY_RELEASE: Mapping[str, Line] = {
    **{f"2.{minor}": EARLIER for minor in range(9)},
    **{f"3.{minor}": EARLIER for minor in range(10)},
    "3.7-new": PREVIEW,
    **dict.fromkeys(("3.8-new", "3.9-new", "4.0", "4.1", "4.2"), EARLIER),
    **dict.fromkeys(("4.3", "4.4"), TODAY),
}

# What only some releases write: the first and the last of them that do.
EARLY_SHAPE, NEW_GROUP, LISTED_TOPICS, HASHED_TOPICS = "shape of 3.7", "new group", "listed topics", "hash of topics"
COMMIT_3, COMMIT_4, TARGET, TIMED_TARGET = "commit below 4", "commit 4", "target", "target with a time"
VALIDATED, DESCRIBED = "validated topology", "description of a topology"
OLDEST, NEWEST = (0, 8), (99, 0)
SIGNS: Mapping[str, tuple[Release, Release]] = {
    EARLY_SHAPE: ((3, 7), (3, 7)),
    # A classic group of generation 0: only the new coordinator writes it, when the first member joins.
    NEW_GROUP: ((3, 7), NEWEST),
    # In the shape of later releases.
    LISTED_TOPICS: ((3, 8), (4, 0)),
    HASHED_TOPICS: ((4, 1), NEWEST),
    # Value versions of commits. Every release writes version 1 for a request with a retention time.
    COMMIT_3: (OLDEST, (4, 0)),
    COMMIT_4: ((4, 1), NEWEST),
    TARGET: ((3, 7), NEWEST),
    TIMED_TARGET: ((4, 3), NEWEST),
    VALIDATED: ((4, 2), NEWEST),
    DESCRIBED: ((4, 4), NEWEST),
}
UNTIMED_UNTIL = (4, 2)


class Sign(NamedTuple):
    """Records of a leader epoch that show one of SIGNS. Times are those of the first and the last of them, and only
    known of records of groups."""

    epoch: int
    name: str
    first_time: int | None = None
    last_time: int | None = None


class LineSpan(NamedTuple):
    """From this offset on the rules of this line apply."""

    first_offset: int
    name: str


class EarlyTime(NamedTuple):
    """Between the first and the last record of the cluster by new coordinators, while they were those of 3.7."""

    first: int
    last: int

    def has(self, from_time: int | None, until_time: int | None) -> bool:
        """Whether a coordinator worked in that time: from its first record to that of the next; None: still."""
        return from_time is not None and from_time <= self.last and (until_time is None or until_time > self.first)


def merged_signs(*parts: Iterable[Sign]) -> tuple[Sign, ...]:
    by_name: dict[tuple[int, str], list[Sign]] = {}
    for each in (sign for part in parts for sign in part):
        by_name.setdefault((each.epoch, each.name), []).append(each)
    return tuple(
        Sign(
            *name,
            min((each.first_time for each in signs if each.first_time is not None), default=None),
            max((each.last_time for each in signs if each.last_time is not None), default=None),
        )
        for name, signs in sorted(by_name.items())
    )


def early_time(signs: Iterable[Sign]) -> EarlyTime | None:
    """`signs`: of the cluster. None: never, or brokers of several releases wrote at the same time, so that records
    without a sign of their own may be of either."""
    times = [(each.name, time) for each in signs for time in (each.first_time, each.last_time) if time is not None]
    later = min((time for name, time in times if SIGNS[name][0] > (3, 7)), default=None)
    early = [time for name, time in times if name == EARLY_SHAPE]
    if not early or (later is not None and later <= max(early)):
        return None
    new = [time for name, time in times if name == NEW_GROUP and (later is None or time < later)]
    return EarlyTime(min(early + new), max(early + new))


def line_spans(
    epochs: Mapping[int, Epoch], signs: Iterable[Sign], early: EarlyTime | None, setting: Line | None = None
) -> tuple[LineSpan, ...]:
    """Of one offsets partition, from the beginning of its log; none: today's rules apply to all of it. `signs`: its
    own. `setting`: applies to all of it, whatever its records show."""
    if setting is not None:
        return without_repeats([LineSpan(0, setting.name)])
    by_epoch: dict[int, set[str]] = {}
    for each in signs:
        by_epoch.setdefault(each.epoch, set()).add(each.name)
    spans, line = [], TODAY
    if NO_EPOCH in by_epoch:
        line = line_of(by_epoch[NO_EPOCH], TODAY, is_early=False)
        spans.append(LineSpan(0, line.name))
    terms = sorted((term.first_offset, number) for number, term in epochs.items() if term.last_offset is not None)
    times = [*(epochs[number].from_time for _, number in terms), None]
    for (first_offset, number), from_time, until_time in zip(terms, times, times[1:], strict=False):
        is_early = early is not None and early.has(from_time, until_time)
        line = line_of(by_epoch.get(number, set()), line, is_early=is_early)
        spans.append(LineSpan(first_offset if spans else 0, line.name))
    return without_repeats(spans)


def without_repeats(spans: Sequence[LineSpan]) -> tuple[LineSpan, ...]:
    before = [TODAY.name, *(each.name for each in spans)]
    return tuple(each for each, name in zip(spans, before, strict=False) if each.name != name)


def line_of(names: set[str], before: Line, *, is_early: bool) -> Line:
    """`before`: the line of the coordinator before. It stays where the records do not show another one. `is_early`: at
    that time new coordinators of the cluster were of 3.7."""
    since = max((SIGNS[each][0] for each in names), default=OLDEST)
    until = min((SIGNS[each][1] for each in names), default=NEWEST)
    if TARGET in names and TIMED_TARGET not in names:
        until = min(until, UNTIMED_UNTIL)
    if since > until:
        # Without leader epochs, records of several coordinators are not told apart.
        return TODAY
    if EARLY_SHAPE in names:
        return PREVIEW
    if is_early and since <= (3, 7) <= until:
        return PREVIEW
    if since >= (4, 3):
        return TODAY
    if until < (4, 3):
        return EARLIER
    return EARLIER if before is EARLIER else TODAY


class Lines:
    """The lines of one offsets partition."""

    def __init__(self, spans: Sequence[LineSpan] = ()) -> None:
        self.spans = tuple(spans)
        self.firsts = [each.first_offset for each in self.spans]

    def at(self, offset: int) -> Line:
        place = bisect_right(self.firsts, offset)
        return LINES[self.spans[place - 1].name] if place else TODAY

    def last_commits_after(self, through: int) -> list[tuple[int, int | None]]:
        """Where after this offset the last COMMIT counts: first offsets, and those from which on it no longer does;
        None: to the end."""
        ends: list[int | None] = [*self.firsts, None]
        return [
            (first, end)
            for first, end, each in zip(self.firsts, ends[1:], self.spans, strict=True)
            if LINES[each.name].keeps_last_commit and (end is None or end > through)
        ]


# -- in words, for the page of a run


def rules_text(progress: Sequence[Mapping[str, Any]], release: str) -> str:
    """`progress`: of each offsets partition, its `line_spans` and `release_signs`. `release`: the setting."""
    names = lines_in(progress)
    of = ", ".join(f"of {name}" for name in names)
    if release:
        return f'{of}: setting release = "{release}"'
    if len(names) > 1:
        return f"{of}: each where the records show it"
    signs = {each["name"] for row in progress for each in row["release_signs"] or ()}
    is_shown = names != [TODAY.name] or any(SIGNS[each][0] >= (4, 3) for each in signs)
    return f"{of}: {'the records show it' if is_shown else 'no record shows an earlier one'}"


def lines_in(progress: Sequence[Mapping[str, Any]]) -> list[str]:
    """In the order of releases. An offsets partition without records of commits or groups shows none."""
    spans = [row["line_spans"] or () for row in progress if row["release_signs"] or row["line_spans"]]
    used = {each["name"] for of_partition in spans for each in of_partition}
    used |= {TODAY.name for of_partition in spans if not of_partition or of_partition[0]["first_offset"] > 0}
    return [name for name in LINES if name in used] or [TODAY.name]
