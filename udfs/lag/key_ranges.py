"""Ranges of keys: a partition with very many commits is measured one range after the other, so that a process never
holds all of its rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import Numbers, first_of, numbers
from udfs.arrays.texts import as_texts
from udfs.lag.as_of import first_rows, key_codes

KEY = ("group_id", "name", "partition")
# No topic name contains it, and it sorts after all of them.
UNNAMED = "\U0010ffff/"
# Before each key of a group: a partition that a member owns may come before all that have commits.
FIRST_OF_GROUP = {"name": "", "partition": -(1 << 31)}


NO_BOUNDS = pa.table({"group_id": pa.array([], pa.string()), "name": pa.array([], pa.string()),
                      "partition": pa.array([], pa.int32())})  # fmt: skip


@dataclass(frozen=True)
class GroupRange:
    """Groups from the first on, up to the one that begins the next range; None: no bound."""

    first: str | None = None
    next: str | None = None

    def rows(self, rows: pa.Table) -> pa.Table:
        """Those of these groups; all of a table that has no groups."""
        if "group_id" in rows.column_names and self.first is not None:
            rows = rows.filter(pc.greater_equal(rows.column("group_id"), self.first))
        if "group_id" in rows.column_names and self.next is not None:
            rows = rows.filter(pc.less(rows.column("group_id"), self.next))
        return rows


@dataclass(frozen=True, eq=False)
class KeyRange:
    """Keys between two of the bounds, in the order of groups, topics and partitions: `number` of the bounds are not
    after them. `groups`: of these no other range has a key, except those that share its list."""

    bounds: pa.Table
    number: int
    groups: GroupRange = GroupRange()

    def rows(self, rows: pa.Table) -> pa.Table:
        """Those of these keys."""
        if not self.bounds.num_rows:
            return rows
        return rows.filter(pa.array(range_numbers(self.bounds, rows) == self.number))


EVERY_KEY = KeyRange(NO_BOUNDS, 0)


def range_numbers(bounds: pa.Table, rows: pa.Table) -> Numbers:
    """Of each row, in which range its key is."""
    codes, of_bounds = key_codes(KEY, with_names(rows), bounds)
    return np.searchsorted(of_bounds, codes, side="right")


def parts_by_range(bounds: pa.Table, rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each range that has some, in the order that they have."""
    number = range_numbers(bounds, rows)
    if (number[1:] < number[:-1]).any():
        order = np.argsort(number, kind="stable")
        rows, number = rows.take(pa.array(order)), number[order]
    starts = np.flatnonzero(first_of(number))
    for start, stop in pairwise([*starts.tolist(), len(number)]):
        yield int(number[start]), rows.slice(start, stop - start)


def with_names(rows: pa.Table) -> pa.Table:
    """Adds the name of the topic, or its id if only that is known."""
    names = rows.column("topic")
    if names.null_count:
        by_id = pc.binary_join_element_wise("", rows.column("topic_id").cast(pa.string()), UNNAMED)
        names = pc.coalesce(names.cast(pa.string()), by_id)
    return rows.select(["group_id", "partition"]).append_column("name", names)


def rows_by_key(rows: pa.Table) -> pa.Table:
    """One row per key, with the number of its rows."""
    named = with_names(rows)
    (codes,) = key_codes(KEY, named)
    counts = np.bincount(codes).astype(np.int64)
    return as_texts(first_rows(KEY, [named], codes)).append_column("count", pa.array(counts))


def ranges_of(counts: Iterable[pa.Table], most_rows: int) -> list[list[KeyRange]]:
    """Of whole keys, with about so many rows each; the first key of a range may go beyond. No group is in two of the
    lists, and a list with less than twice as many rows is one range. `counts`: of `rows_by_key`."""
    keys, sizes = sized_keys(counts)
    (group,) = key_codes(("group_id",), keys)
    groups = np.flatnonzero(first_of(group))
    before = (np.cumsum(sizes) - sizes)[groups]
    begins = groups[first_of(before // most_rows)].tolist()
    starts = [
        (start + starts_of_ranges(sizes[start:stop], most_rows)).tolist()
        for start, stop in pairwise([*begins, len(sizes)])
    ]
    firsts: list[dict[str, Any]] = []
    for some in starts:
        first, *rest = keys.take(pa.array(some, pa.int64())).to_pylist()
        firsts += [first | FIRST_OF_GROUP, *rest]
    bounds, number = pa.Table.from_pylist(firsts[1:], NO_BOUNDS.schema), count()
    names = [None, *keys.column("group_id").take(pa.array(begins[1:], pa.int64())).to_pylist(), None]
    return [
        [KeyRange(bounds, next(number), GroupRange(*some)) for _ in own]
        for own, some in zip(starts, pairwise(names), strict=True)
    ]


def sized_keys(counts: Iterable[pa.Table]) -> tuple[pa.Table, Numbers]:
    """In their order, and how many rows each has."""
    rows = pa.concat_tables(counts)
    (codes,) = key_codes(KEY, rows)
    sizes = np.bincount(codes, weights=numbers(rows.column("count"))).astype(np.int64)
    return first_rows(KEY, [rows], codes), sizes


def starts_of_ranges(sizes: Numbers, most_rows: int) -> Numbers:
    if sizes.sum() < 2 * most_rows:
        return np.zeros(1, np.int64)
    return np.flatnonzero(first_of(np.cumsum(sizes) // most_rows))
