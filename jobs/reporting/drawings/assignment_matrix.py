"""One assignment as a matrix: a row a partition, a column a member, what each had before and has after."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from jobs.reporting.drawings.ownership_map import Partition, partition_name, partition_of
from jobs.reporting.drawings.svg import GUTTER, WIDTH, Svg, disc, drawing, element, join, row_label, text
from jobs.reporting.rows.listings import Row

ROW, HEAD, COLUMN = 18, 22, 56
MOST_PARTITIONS = 40
MOST_MEMBERS = (WIDTH - GUTTER) // COLUMN
RADIUS = 5

Assigned = set[tuple[Partition, str]]


def assignment_matrix(
    generation: Sequence[Row], differences: Sequence[Mapping[str, Any]], members: Mapping[str, int]
) -> Markup:
    """`generation`: rows of generation_members of one assignment; `differences`: what Kafka's own assignor gives other
    than was recorded; `members`: their numbers."""
    before, after = assigned_pairs(generation, "previous_assigned"), assigned_pairs(generation, "assigned")
    expected = {(partition_of(each), each["expected_member_id"]) for each in differences if each["expected_member_id"]}
    columns = shown_members(generation, members)
    rows = shown_partitions(before, after, expected)
    moved = {partition for partition, _ in before ^ after}
    words = (
        f"partitions: {len(rows)}, changed: {len(moved)}, other owner than Kafka's assignor computes: "
        f"{len(differences)}, members: {len(columns)}"
    )
    return drawing(
        "Assignment before and after", words, HEAD + len(rows) * ROW + 4,
        join(text(f"M{members.get(each, 0)}", x, 15, "label", "middle") for each, x in columns.items()),
        join(
            matrix_row(each, HEAD + place * ROW, each in moved, columns, before, after, expected)
            for place, each in enumerate(rows)
        ),
    )  # fmt: skip


def assigned_pairs(generation: Iterable[Row], column: str) -> Assigned:
    return {
        (partition_of({**topic, "partition": number}), row["member_id"])
        for row in generation
        for topic in row[column] or ()
        for number in topic["partitions"]
    }


def shown_members(generation: Sequence[Row], members: Mapping[str, int]) -> dict[str, float]:
    """The middle of each one's column."""
    ids = sorted({row["member_id"] for row in generation}, key=lambda each: (members.get(each, 0), each))
    return {each: GUTTER + COLUMN * (place + 0.5) for place, each in enumerate(ids[:MOST_MEMBERS])}


def shown_partitions(before: Assigned, after: Assigned, expected: Assigned) -> list[Partition]:
    """Those that changed first, where there is no room for all."""
    changed = {partition for partition, _ in (before ^ after) | expected}
    every = {partition for partition, _ in before | after | expected}
    return sorted(sorted(every, key=lambda each: (each not in changed, each))[:MOST_PARTITIONS])


def matrix_row(
    partition: Partition,
    top: float,
    is_moved: bool,
    columns: Mapping[str, float],
    before: Assigned,
    after: Assigned,
    expected: Assigned,
) -> Svg:
    parts = [row_label(partition_name(partition), top + 12)]
    if is_moved:
        band = element("rect", x=GUTTER, y=top, width=WIDTH - GUTTER - 10, height=ROW - 2, class_="moved-row")
        parts.insert(0, band)
    for member, x in columns.items():
        place = (partition, member)
        parts += marks(x, top + ROW / 2 - 1, place in before, place in after, place in expected)
    return join(parts)


def marks(x: float, y: float, had: bool, has: bool, should: bool) -> Iterator[Svg]:
    """A ring: before. A disc: after. Both: kept. A square: Kafka's assignor gives it here."""
    if had and not has:
        yield disc(x, y, RADIUS, "before", "before")
    if has:
        words, kind = ("before and after", "kept") if had else ("after", "after")
        yield disc(x, y, RADIUS, kind, words)
    if should:
        hint = element("title", "Kafka's own assignor assigns the partition to this member")
        yield element("rect", hint, x=x - 8, y=y - 8, width=16, height=16, class_="expected")
