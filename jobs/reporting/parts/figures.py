"""The drawings of one group, each with the rows that it shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from jobs.answers.events.unread_spans import doubt_before, unread_span
from jobs.reporting.drawings.assignment_matrix import assignment_matrix
from jobs.reporting.drawings.lag_chart import lag_chart
from jobs.reporting.drawings.marks import letters_used
from jobs.reporting.drawings.member_intervals import member_intervals
from jobs.reporting.drawings.ownership_map import by_partition, is_held, ownership_map, partition_of
from jobs.reporting.drawings.state_timeline import state_timeline
from jobs.reporting.drawings.time_axis import TimeAxis, axis_of
from jobs.reporting.parts.stories import costliest
from jobs.reporting.rows.listings import Listing, Row, clock, listing, moment
from jobs.reporting.rows.questions import MOST_OF_GROUP, Answers

MOST_ROWS = 30
# Where rows of a group were left out, time begins with those that were not.
TIMES: Mapping[str, str] = {
    "lag": "snapshot_time",
    "members": "from_time",
    "owners": "from_time",
    "rebalances": "start_time",
    "resets": "at_time",
    "states": "from_time",
}
# A second map shows the costliest rebalance alone, where the first one shows so many times as much.
ZOOM = 4
LEAST_AROUND = timedelta(seconds=1)
OF_LAG = (
    "Lag at each snapshot, in messages; the line breaks where lag is unknown. Below: messages read a second. "
    "Vertical lines: rebalances. ▼: resets."
)


@dataclass(frozen=True)
class Figure:
    title: str
    note: str
    drawing: Markup
    listings: Sequence[Listing]


@dataclass(frozen=True)
class GroupRows:
    """`rows` of one group by question, `statements` that give them again, `numbers` of its members. `divisor`: they are
    one in so many of those that were asked for at most."""

    rows: Answers
    statements: Mapping[str, str]
    numbers: Mapping[str, int]
    divisor: int = 1

    def listing(self, name: str, title: str) -> Listing:
        rows = self.rows[name]
        names = [column for column in (rows[0] if rows else ()) if column not in ("cluster", "group_id")]
        return listing(name, title, rows, names, self.statements[name], MOST_ROWS // self.divisor)


def figures(group: GroupRows, until: datetime | None) -> Iterator[Figure]:
    axis = axis_of(times(group), until)
    if axis is not None:
        yield from over_time(group, axis, until)
    worst = costliest(group.rows, until)
    if worst:
        yield from of_one_assignment(group, worst[0])


def times(group: GroupRows) -> list[datetime]:
    """The first times of what is drawn, or the one since when all of it is there."""
    rows = group.rows
    firsts = {name: min((row[column] for row in rows[name]), default=None) for name, column in TIMES.items()}
    is_cut = {name: len(rows[name]) >= MOST_OF_GROUP[name] // group.divisor for name in TIMES}
    whole = [first for name, first in firsts.items() if is_cut[name] and first is not None]
    return [max(whole)] if whole else [first for first in firsts.values() if first is not None]


def over_time(group: GroupRows, axis: TimeAxis, until: datetime | None) -> Iterator[Figure]:
    rows = group.rows
    if rows["states"]:
        listed = [group.listing("states", "States"), group.listing("rebalances", "Rebalances")]
        drawn = state_timeline(rows["states"], rows["rebalances"], axis)
        yield Figure("States and rebalances", letters_note(rows["rebalances"]), drawn, listed)
    if rows["owners"]:
        listed = [group.listing("owners", "Owners"), group.listing("moves", "Moves")]
        drawn = ownership_map(rows["owners"], rows["moves"], group.numbers, axis)
        yield Figure("Owners of partitions", owners_note(rows["owners"]), drawn, listed)
        yield from zoomed_figures(group, axis, until)
    if rows["members"]:
        drawn = member_intervals(rows["members"], group.numbers, axis)
        yield Figure(
            "Members", "Each bar is a member, from joining to leaving.", drawn, [group.listing("members", "Members")]
        )
    if rows["lag"] or rows["rates"] or rows["resets"]:
        drawn = lag_chart(rows["lag"], rows["rates"], rows["resets"], rows["rebalances"], axis)
        listed = [
            group.listing(name, title) for name, title in (("lag", "Lag"), ("rates", "Rates"), ("resets", "Resets"))
        ]
        yield Figure("Lag and messages read", OF_LAG, drawn, listed)


def letters_note(rebalances: Sequence[Row]) -> str:
    used = [f"{letter} {meaning.rstrip('.').lower()}" for letter, meaning in letters_used(rebalances)]
    return f"Letters mark rebalances by cause: {'; '.join(used)}." if used else "No rebalances are known."


def owners_note(owners: Sequence[Row]) -> str:
    held = " Thin bar: held for a static member that is away." if any(map(is_held, owners)) else ""
    return f"Color, pattern and number show the member. Hatched in red: perhaps nobody read the partition.{held}"


def zoomed_figures(group: GroupRows, axis: TimeAxis, until: datetime | None) -> Iterator[Figure]:
    rows = group.rows
    worst = costliest(rows, until)
    near = around(worst[0], rows["moves"], rows["owners"]) if worst else None
    if near is not None and near.seconds * ZOOM < axis.seconds:
        drawn = ownership_map(rows["owners"], rows["moves"], group.numbers, near)
        yield Figure(
            f"The rebalance that left partitions unread for longest, {clock(worst[0]['start_time'])}",
            "The same map, closer.",
            drawn,
            [],
        )


def around(rebalance: Row, moves: Sequence[Row], owners: Sequence[Row]) -> TimeAxis | None:
    """From when the first of its partitions may have become unread. None: none of them did."""
    stays = by_partition(owners)
    own = [row for row in moves if row["assignment_offset"] == rebalance["assignment_offset"]]
    spans = [unread_around(row, stays.get(partition_of(row), [])) for row in own if row["move_time"] is not None]
    times = [each for span in spans if span is not None for each in span]
    if not times:
        return None
    end = rebalance["end_time"] or rebalance["start_time"]
    start, end = min(rebalance["start_time"], *times), max(end, *times)
    room = max((end - start) * 0.25, LEAST_AROUND)
    return TimeAxis(start - room, end + room)


def unread_around(move: Row, stays: Sequence[Row]) -> tuple[datetime, datetime] | None:
    """Until the move gave the partition to somebody, or took it from one who may have stopped before."""
    span = unread_span(move, stays)
    if span is not None:
        return span.first, span.until
    at = move["move_time"]
    return None if move["to_member_id"] is not None else (min(doubt_before(stays, at) or at, at), at)


def of_one_assignment(group: GroupRows, worst: Row) -> Iterator[Figure]:
    """The costliest, or the newest whose members are known."""
    known = {row["assignment_offset"] for row in group.rows["generations"]}
    offset = worst["assignment_offset"] if worst["assignment_offset"] in known else max(known, default=None)
    if offset is None:
        return
    audit = next((row for row in group.rows["audits"] if row["assignment_offset"] == offset), None)
    at = next((row["end_time"] for row in group.rows["rebalances"] if row["assignment_offset"] == offset), None)
    members = [row for row in group.rows["generations"] if row["assignment_offset"] == offset]
    drawn = assignment_matrix(members, (audit or {}).get("differences") or (), group.numbers)
    note = (
        "Ring: the member owned the partition before. Disc: it owns it after. Disc in a ring: it kept it. Square: "
        "Kafka's own assignor assigns it to this member. "
    )
    listed = [group.listing("generations", "Members of assignments"), group.listing("audits", "Audit of assignments")]
    yield Figure(f"Assignment before and after, {moment(at)}", note + audit_words(audit), drawn, listed)


def audit_words(audit: Row | None) -> str:
    if audit is None:
        return "The assignment was not compared with that of Kafka's own assignor."
    reason = f": {audit['reason']}" if audit["reason"] else ""
    verdict = audit["verdict"].replace("_", " ")
    return f"Assignment verdict, compared with Kafka's own assignor ({audit['assignor']}): {verdict}{reason}."
