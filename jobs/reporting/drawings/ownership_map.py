"""Who owned which partition when: a row a partition, coloured by member, thin where it was held for one that was away,
hatched where perhaps nobody read it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from markupsafe import Markup

from jobs.answers.durations import duration_text, longest_text
from jobs.answers.events.unread_spans import doubt_spans, unread_span
from jobs.reporting.drawings.member_bar import member_bar, member_class
from jobs.reporting.drawings.svg import Svg, box, drawing, join, row_label, text
from jobs.reporting.drawings.time_axis import HEIGHT, TimeAxis
from jobs.reporting.rows.listings import Row, moment
from schemas.words.history import OwnershipPhase
from udfs.sentences.counts import counted

ROW, BAR, THIN_BAR = 18, 14, 4
MOST_PARTITIONS = 32
# Room for a member's number.
LABEL_WIDTH = 24

Partition = tuple[str, int]


def partition_of(row: Row) -> Partition:
    return str(row["topic"] or row["topic_id"] or "?"), int(row["partition"])


def partition_name(partition: Partition) -> str:
    return f"{partition[0]}-{partition[1]}"


def by_partition(rows: Sequence[Row]) -> dict[Partition, list[Row]]:
    rows_of: dict[Partition, list[Row]] = {}
    for row in rows:
        rows_of.setdefault(partition_of(row), []).append(row)
    return rows_of


def shown_partitions(stays: Mapping[Partition, Sequence[Row]], most: int = MOST_PARTITIONS) -> list[Partition]:
    """Those that changed hands most often, by name."""
    return sorted(sorted(stays, key=lambda each: (-len(stays[each]), each))[:most])


def ownership_map(owners: Sequence[Row], moves: Sequence[Row], members: Mapping[str, int], axis: TimeAxis) -> Markup:
    """`members`: their numbers."""
    stays = by_partition(owners)
    partitions = shown_partitions(stays)
    tops = {partition: place * ROW + 2 for place, partition in enumerate(partitions)}
    height = len(partitions) * ROW + 4
    left_out = len(stays) - len(partitions)
    more = f", {left_out} more are in the table below" if left_out else ""
    words = f"{counted(len(partitions), 'partition')}{more}"
    here = {each: [row for row in stays[each] if axis.shows(row["from_time"], row["to_time"])] for each in partitions}
    return drawing(
        "Owners of partitions", words, height + HEIGHT,
        axis.draw(height),
        join(row_label(partition_name(each), top + 11) for each, top in tops.items()),
        join(owner_box(row, tops[each], members, axis) for each, rows in here.items() for row in rows),
        join(gaps(here, tops, axis)),
        join(unread_boxes(by_partition(moves), stays, tops, axis)),
    )  # fmt: skip


def owner_box(row: Row, top: float, members: Mapping[str, int], axis: TimeAxis) -> Svg:
    left, right = axis.x(row["from_time"]), axis.x(row["to_time"])
    number = members.get(row["member_id"], 0)
    until = "now" if row["to_time"] is None else moment(row["to_time"])
    role = f" as {row['role']}" if row["role"] else ""
    hint = f"M{number} {row['member_id']}{role}, {row['phase']}, {moment(row['from_time'])} to {until}"
    if is_held(row):
        return member_bar(number, left, top + (BAR - THIN_BAR) / 2, right - left, THIN_BAR, hint=hint)
    revoking = "" if row["phase"] == OwnershipPhase.ASSIGNED else " revoking"
    parts = [member_bar(number, left, top, right - left, BAR, revoking, hint)]
    if right - left > LABEL_WIDTH:
        parts.append(text(f"M{number}", left + 4, top + 11, f"on-bar on-{member_class(number)}"))
    return join(parts)


def is_held(row: Row) -> bool:
    return bool(row["phase"] == OwnershipPhase.HELD)


def gaps(owners: Mapping[Partition, Sequence[Row]], tops: Mapping[Partition, float], axis: TimeAxis) -> Iterator[Svg]:
    """Between two owners of a partition. Stays of share and streams groups may overlap: then there is none."""
    for partition, top in tops.items():
        end = None
        for before, after in pairwise(sorted(owners[partition], key=lambda row: row["from_time"])):
            end = before["to_time"] if end is None else max(end, before["to_time"] or after["from_time"])
            if end is not None and end < after["from_time"]:
                left, right = axis.x(end), axis.x(after["from_time"])
                words = f"unowned for {duration_text(round((after['from_time'] - end).total_seconds() * 1000))}"
                yield box(left, top, right - left, BAR, "unowned", words)


def unread_boxes(
    moves: Mapping[Partition, Sequence[Row]],
    owners: Mapping[Partition, Sequence[Row]],
    tops: Mapping[Partition, float],
    axis: TimeAxis,
) -> Iterator[Svg]:
    """From the first sign that the owner may have stopped, until the next one has the partition at the latest; without
    a next one, as long as it was the owner's."""
    for partition, top in tops.items():
        drawn = []
        for move in moves.get(partition, ()):
            if (span := unread_span(move, owners[partition])) is not None:
                low, high = duration_text(move["unread_low_ms"] or 0), longest_text(move["unread_high_ms"])
                hint = f"{partition_name(partition)} was unread for {low} to {high} before {moment(span.until)}"
                drawn.append((span.first, span.end, hint))
        for since, until in doubt_spans(owners[partition], axis.end):
            if not any(first <= since < end for first, end, _ in drawn):
                hint = f"{partition_name(partition)}: perhaps unread since {moment(since)}"
                drawn.append((since, until, hint))
        for first, end, hint in drawn:
            if axis.shows(first, end):
                left, right = axis.x(first), axis.x(end)
                yield box(left, top, right - left, BAR, "unread", hint, fill="url(#hatch)")
