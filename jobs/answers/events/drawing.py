"""Draws a rebalance in text: who owned the partitions that it moved. The horizontal axis is time, one character per
slice.

A slice in which a partition had no owner, even for a short time, has a dot. A slice in which its owner may have stopped
reading has a question mark. One in which it was held for a static member that was away has a hyphen. So a gap of
milliseconds is visible in a drawing of minutes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from string import ascii_uppercase

from jobs.answers.events.rebalance import SHOWN_MOVES, EventStory
from jobs.answers.events.unread_spans import OF_STAYS, AnyRow, doubt_before, doubt_spans, unread_span
from jobs.answers.history import History
from jobs.answers.table_reader import Condition, Row, equal
from jobs.output.failure import visible
from jobs.output.rows import cut_middle, width_of
from jobs.output.zones import local_time, moved
from schemas.words.history import OwnershipPhase
from udfs.sentences.counts import counted

# With fewer slices nothing would be visible.
LEAST_SLICES = 24
MOST_ROWS = 12
MOST_NAME = 24
UNOWNED, HELD, UNREAD, SHARED, OTHER = ".", "-", "?", "*", "#"
# Margin on both sides of the event, as a share of its length.
MARGIN = 0.25
LEAST_MARGIN = timedelta(seconds=1)
CLOCK = "{:%H:%M:%S}"

Place = tuple[str, int]
Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Axis:
    start: datetime
    end: datetime
    num_slices: int

    def slices(self) -> Iterator[tuple[datetime, datetime]]:
        step = (self.end - self.start) / self.num_slices
        return ((self.start + step * place, self.start + step * (place + 1)) for place in range(self.num_slices))

    def place(self, at: datetime) -> int:
        place = int((at - self.start) / (self.end - self.start) * self.num_slices)
        return max(0, min(self.num_slices - 1, place))


def drawing(history: History, story: EventStory, width: int) -> list[str]:
    """Lines up to this width; none for an event without moves or times, or if it does not fit."""
    moves = {place_of(move): move for move in story.moves[:SHOWN_MOVES] if move["move_time"] is not None}
    places = sorted(moves)[:MOST_ROWS]
    row = story.event.row
    if not places or row["start_time"] is None:
        return []
    names = {place: cut_middle(visible(f"{place[0]}-{place[1]}"), MOST_NAME) for place in places}
    margin = max(map(width_of, names.values())) + 2
    if width - margin < LEAST_SLICES:
        return []
    ends = row["start_time"], row["end_time"] or row["start_time"]
    before = stays_of(history, row["group_id"], *ends)
    axis = axis_of(ends, [begin_and_end(moves[place], before.get(place, [])) for place in places], width - margin)
    stays = stays_of(history, row["group_id"], axis.start, axis.end)
    letters = letters_of([each for place in places for each in stays.get(place, [])])
    lines = [" " * margin + line for line in axis_lines(axis, ends)]
    signs = [slices_text(axis, stays.get(place, []), moves[place], letters) for place in places]
    for place, drawn in zip(places, signs, strict=True):
        lines.append(names[place] + " " * (margin - width_of(names[place])) + drawn)
    if len(moves) > len(places):
        lines.append(f"and {counted(len(moves) - len(places), 'more partition')}")
    return [*lines, *legend(letters, "".join(signs))]


def place_of(row: Row) -> Place:
    return str(row["topic"] or row["topic_id"]), int(row["partition"])


def begin_and_end(move: AnyRow, stays: Sequence[AnyRow]) -> Span:
    """When the partition may have become unread, and when it got its owner, or lost it."""
    span = unread_span(move, stays)
    if span is not None:
        return span.first, span.until
    at = move["move_time"]
    return min(doubt_before(stays, at) or at, at), at


def axis_of(ends: Span, spans: Sequence[Span], num_slices: int) -> Axis:
    """From before the first partition became unread until all of them had an owner again, or had none. `ends`: of the
    rebalance."""
    start = min(ends[0], *(begin for begin, _ in spans))
    end = max(ends[1], *(end for _, end in spans))
    margin = max((end - start) * MARGIN, LEAST_MARGIN)
    return Axis(moved(start, -margin), moved(end, margin), num_slices)


def stays_of(history: History, group: str, start: datetime, end: datetime) -> dict[Place, list[Row]]:
    """In that time, and those that ended when it began."""
    rows = history.rows(
        "ownership_intervals",
        equal("group_id", group),
        Condition("from_time", "<=", end, or_null=True),
        Condition("to_time", ">", moved(start, -timedelta(microseconds=1)), or_null=True),
        columns=OF_STAYS,
    )
    stays: dict[Place, list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["from_record_offset"])):
        stays.setdefault(place_of(row), []).append(row)
    return stays


def letters_of(stays: Sequence[Row]) -> dict[str, str]:
    """By member, in the order in which they appear; members beyond the alphabet share a sign."""
    members = list(dict.fromkeys(row["member_id"] for row in stays))
    return {each: ascii_uppercase[n] if n < len(ascii_uppercase) else OTHER for n, each in enumerate(members)}


def slices_text(axis: Axis, stays: Sequence[Row], move: AnyRow, letters: Mapping[str, str]) -> str:
    unread = unread_by_owners(move, stays, axis.end)
    signs = []
    for start, end in axis.slices():
        sign = owner_sign(start, end, stays, letters)
        within = [(max(start, begin), min(end, until)) for begin, until in unread]
        may_be_unread = sign not in (UNOWNED, SHARED) and any(is_owned(*span, stays) for span in within)
        signs.append(UNREAD if may_be_unread else sign)
    return "".join(signs)


def unread_by_owners(move: AnyRow, stays: Sequence[Row], now: datetime) -> list[Span]:
    """When an owner may not have read: it had stopped, or had not got the partition yet."""
    doubts, span = doubt_spans(stays, now), unread_span(move, stays)
    if span is None:
        return doubts
    # What no ownership shows, the bounds of the move do.
    return [*doubts, (span.until, span.end), *([] if doubts else [(span.first, span.until)])]


def is_owned(start: datetime, end: datetime, stays: Sequence[Row]) -> bool:
    """Not where it is held: there nobody reads."""
    return start < end and any(
        overlap(row, start, end) > timedelta() for row in stays if row["phase"] != OwnershipPhase.HELD
    )


def owner_sign(start: datetime, end: datetime, stays: Sequence[Row], letters: Mapping[str, str]) -> str:
    """The owner in the slice."""
    here = [row for row in stays if (row["from_time"] or start) < end and start < (row["to_time"] or end)]
    owned = sum((overlap(row, start, end) for row in here), timedelta())
    if owned < end - start:
        return UNOWNED
    owners = {row["member_id"] for row in here}
    if len(owners) > 1 and owned > end - start:
        return SHARED
    if any(row["phase"] == OwnershipPhase.HELD for row in here):
        return HELD
    return letters[max(here, key=lambda row: overlap(row, start, end))["member_id"]]


def overlap(row: Row, start: datetime, end: datetime) -> timedelta:
    return min(row["to_time"] or end, end) - max(row["from_time"] or start, start)


def axis_lines(axis: Axis, ends: tuple[datetime, datetime]) -> list[str]:
    """Marks at the beginning, where the rebalance began and ended, and at the end; above these the time, if there is
    room."""
    texts, marks = [" "] * axis.num_slices, [" "] * axis.num_slices
    for at in (axis.start, *ends, axis.end):
        place, text = axis.place(at), CLOCK.format(local_time(at))
        marks[place] = "|"
        for begin in (place, place - len(text) + 1):
            around = texts[max(0, begin - 1) : begin + len(text) + 1]
            if 0 <= begin <= axis.num_slices - len(text) and set(around) == {" "}:
                texts[begin : begin + len(text)] = text
                break
    return ["".join(texts).rstrip(), "".join(marks).rstrip()]


def legend(letters: Mapping[str, str], drawn: str) -> list[str]:
    """Only for signs in the drawing."""
    members = [f"{letter} = {visible(member)}" for member, letter in letters.items() if letter in drawn]
    signs = {
        UNOWNED: "no owner",
        HELD: "held for a static member that is away",
        UNREAD: "perhaps unread by its owner",
        SHARED: "several owners",
        OTHER: "other members",
    }
    shown = [f"{sign} = {meaning}" for sign, meaning in signs.items() if sign in drawn]
    return [each for each in (*dict.fromkeys(members), "  ".join(shown)) if each]
