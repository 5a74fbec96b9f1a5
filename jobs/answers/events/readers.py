"""Who read a partition at a time: the second view of an owner, beside the coordinator's.

The coordinator names an owner as long as its records say so. Whether that member read the partition is certain only up
to its last commit, or another record that proves it alive. After that it is likely, until a sign that it may have
stopped; and from the time that a move proves, nobody read.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from jobs.answers.events.unread_spans import OF_MOVES, OF_STAYS, UnreadSpan, unread_span
from jobs.answers.history import History
from jobs.answers.table_reader import Row, equal
from jobs.output.rows import time_text
from jobs.output.zones import local_time
from schemas.words.history import Confidence, OwnershipPhase, TaskRole

STAY = (
    "group_id",
    "group_type",
    "group_instance_id",
    "client_id",
    "client_host",
    "reader_certain_until_time",
    *OF_STAYS,
)
COMMIT = ("group_id", "last_commit_time")


class Reading(StrEnum):
    """How sure it is that the owner read the partition."""

    CERTAIN = Confidence.CERTAIN
    LIKELY = Confidence.LIKELY
    POSSIBLE = Confidence.POSSIBLE
    NOBODY = "nobody"


class View(NamedTuple):
    reading: Reading | None
    words: str | None


# Standby and warm-up tasks restore state: they are not what reads for the group.
NO_READER = View(None, None)


class Readers:
    """Of one partition, in all groups or in one."""

    def __init__(self, history: History, topic: str, partition: int, group: str | None) -> None:
        place = [equal("topic", topic), equal("partition", partition)]
        place += [] if group is None else [equal("group_id", group)]
        self.stays = by_group(history.rows("ownership_intervals", *place, columns=STAY))
        moves = by_group(history.rows("partition_moves", *place, columns=["group_id", *OF_MOVES]))
        self.spans = {each: spans_of(some, self.stays.get(each, [])) for each, some in moves.items()}
        commits = history.rows("offset_history", *place, equal("is_provisional", True), columns=COMMIT)
        self.newest_commits = {row["group_id"]: row["last_commit_time"] for row in commits}

    def view(self, owner: Row, at: datetime) -> View:
        """`owner`: a row of ownership_intervals that holds at that time."""
        if owner["role"] not in (None, TaskRole.ACTIVE):
            return NO_READER
        span = self.span_around(owner["group_id"], at)
        doubt, until = owner["reader_doubt_from_time"], self.certain_until(owner)
        if span is not None and span.until <= at:
            return View(Reading.POSSIBLE, f"nobody until it has got the partition, by {clock(span.end, at)}")
        if until is not None and at <= until:
            return View(Reading.CERTAIN, f"certain until {clock(until, at)}, likely after")
        if span is not None and span.last <= at:
            return View(Reading.NOBODY, f"nobody from {since_text(span, at)} to {clock(span.until, at)}")
        if owner["phase"] == OwnershipPhase.HELD:
            return View(Reading.NOBODY, "nobody while it is away")
        if doubt is None and span is not None:
            doubt = span.first
        if doubt is not None and doubt <= at:
            later = "" if span is None else f", nobody from {clock(span.last, at)}"
            return View(Reading.POSSIBLE, f"possible since {clock(doubt, at)}{later}")
        return View(Reading.LIKELY, "likely" if until is None else f"likely since {clock(until, at)}")

    def certain_until(self, owner: Row) -> datetime | None:
        """The member of an ownership that goes on committed the newest offset, if that is not older."""
        until: datetime | None = owner["reader_certain_until_time"]
        newest = self.newest_commits.get(owner["group_id"])
        if until is not None or owner["to_time"] is not None or newest is None or owner["from_time"] is None:
            return until
        return newest if newest >= owner["from_time"] else None

    def span_around(self, group: str, at: datetime) -> UnreadSpan | None:
        """In which the time lies; of several the one by which nobody read then."""
        around = (span for span in self.spans.get(group, ()) if span.first <= at < max(span.end, span.until))
        return min(around, key=lambda span: not span.last <= at < span.until, default=None)

    def last_owner(self, group: str, at: datetime) -> Row | None:
        """The one before that time."""
        ended = (row for row in self.stays.get(group, ()) if row["to_time"] is not None and row["to_time"] <= at)
        return max(ended, key=lambda row: (row["to_time"], row["from_record_offset"]), default=None)

    def unowned_words(self, group: str, at: datetime) -> str:
        """For how long nobody read, of a group in which the partition had an owner, and has none at that time."""
        span = self.span_around(group, at)
        if span is not None:
            got = clock(span.until, at) + ("" if span.end == span.until else f", perhaps to {clock(span.end, at)}")
            return f"nobody read it from {since_text(span, at)} to {got}"
        begun = (
            row["from_time"] for row in self.stays[group] if row["from_time"] is not None and row["from_time"] > at
        )
        later, last = min(begun, default=None), self.last_owner(group, at)
        doubt = None if last is None else last["reader_doubt_from_time"]
        perhaps = "" if doubt is None else f"perhaps nobody read it since {clock(doubt, at)}; "
        return perhaps + (
            "nobody has it since then" if later is None else f"it has the next one from {clock(later, at)}"
        )


def by_group(rows: Iterable[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["group_id"], []).append(row)
    return groups


def spans_of(moves: Sequence[Row], stays: Sequence[Row]) -> list[UnreadSpan]:
    return [span for move in moves if (span := unread_span(move, stays)) is not None]


def since_text(span: UnreadSpan, at: datetime) -> str:
    """The latest begin first: from then on it is certain."""
    return clock(span.last, at) + ("" if span.first == span.last else f", perhaps from {clock(span.first, at)},")


def clock(value: datetime, at: datetime) -> str:
    """To the millisecond; without the date if it is of the same day."""
    local, there = local_time(value), local_time(at)
    if (local.date(), local.utcoffset()) != (there.date(), there.utcoffset()):
        return time_text(value)
    return f"{local:%H:%M:%S}.{local.microsecond // 1000:03}"
