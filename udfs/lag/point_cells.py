"""Which rows are in force at each snapshot: cells ordered by key, then by time, so that neighbors are alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from udfs.arrays.nullable import NONE, Numbers, first_of
from udfs.arrays.number_ranges import ranges
from udfs.lag.as_of import NOWHERE
from udfs.lag.watermarks import Watermarks

STILL = np.iinfo(np.int64).max
# Nearly as many as a row group holds: a piece is written as it is, without being put together with others. The last key
# of a piece may go beyond.
CELLS = 122_880


@dataclass(frozen=True)
class RowsInForce:
    """Rows of a table in the order of their keys, each with the snapshots at which it is in force: `number` of them
    from `first` on."""

    keys: Numbers
    rows: Numbers
    first: Numbers
    number: Numbers

    @classmethod
    def of(cls, keys: Numbers, begun: Numbers, ended: Numbers, times: Numbers) -> "RowsInForce":
        """Half-open intervals; NONE as an end: still so. Rows that hold at none of the snapshots are left out."""
        first = np.searchsorted(times, begun, side="left")
        number = np.searchsorted(times, np.where(ended == NONE, STILL, ended), side="left") - first
        rows = np.flatnonzero((number > 0) & (begun != NONE))
        if not (keys[rows][1:] >= keys[rows][:-1]).all():
            rows = rows[np.argsort(keys[rows], kind="stable")]
        return cls(keys[rows], rows, first[rows], number[rows])

    def within(self, asked: range) -> "RowsInForce":
        """Of these snapshots alone."""
        first = np.maximum(self.first, asked.start)
        number = np.minimum(self.first + self.number, asked.stop) - first
        which = np.flatnonzero(number > 0)
        return RowsInForce(self.keys[which], self.rows[which], first[which], number[which])

    def of_keys(self, begin: int, end: int) -> "RowsInForce":
        part = slice(*np.searchsorted(self.keys, (begin, end)))
        return RowsInForce(self.keys[part], self.rows[part], self.first[part], self.number[part])


@dataclass(frozen=True)
class Cells:
    """`key`, `snapshot`: of each cell. `held`: for each source the row in force there, or NOWHERE. `mark`: the row of
    the partition's newest snapshot at that time, or NOWHERE."""

    key: Numbers
    snapshot: Numbers
    held: tuple[Numbers, ...]
    mark: Numbers

    def take(self, which: Numbers) -> "Cells":
        return Cells(self.key[which], self.snapshot[which], tuple(rows[which] for rows in self.held), self.mark[which])


@dataclass(frozen=True)
class Spans:
    """For consecutive keys from `begin` on: the first snapshot of each key, and its number of snapshots."""

    begin: int
    first: Numbers
    number: Numbers

    @property
    def places(self) -> Numbers:
        """The position of the first cell of each key."""
        return np.asarray(np.cumsum(self.number) - self.number)


def spans_of(sources: Sequence[RowsInForce]) -> Iterator[Spans]:
    """For each key, from the first snapshot at which a row of any source is in force to the last one; in pieces of
    whole keys."""
    size = max((int(each.keys.max(initial=-1)) + 1 for each in sources), default=0)
    first, end = np.full(size, STILL), np.zeros(size, np.int64)
    for each in sources:
        np.minimum.at(first, each.keys, each.first)
        np.maximum.at(end, each.keys, each.first + each.number)
    number = np.maximum(end - first, 0)
    piece = np.cumsum(number) // CELLS
    bounds = [*np.flatnonzero(first_of(piece)).tolist(), size]
    for begin, stop in pairwise(bounds):
        if number[begin:stop].any():
            yield Spans(begin, np.where(number[begin:stop] > 0, first[begin:stop], 0), number[begin:stop])


def cells_of(spans: Spans, sources: Sequence[RowsInForce], mark: Numbers) -> Cells:
    """`mark`: of each cell."""
    size = len(mark)
    # For each key, the position of a cell minus its snapshot.
    ahead = spans.places - spans.first
    stop = spans.begin + len(spans.number)
    return Cells(
        np.repeat(np.arange(spans.begin, stop), spans.number),
        np.arange(size) - np.repeat(ahead, spans.number),
        tuple(rows_of_cells(each.of_keys(spans.begin, stop), spans.begin, ahead, size) for each in sources),
        mark,
    )


def rows_of_cells(source: RowsInForce, begin: int, ahead: Numbers, size: int) -> Numbers:
    """If several rows are in force, the last one counts: of two owners the later."""
    rows = np.full(size, NOWHERE)
    if len(source.rows):
        places = source.first + ahead[source.keys - begin]
        rows[ranges(places, source.number)] = np.repeat(source.rows, source.number)
    return rows


def marks_of_cells(watermarks: Watermarks, spans: Spans, first_places: Numbers) -> Numbers:
    """For each cell, the row of the newest snapshot up to then that has an end offset of the partition; NOWHERE if
    there is none. `first_places`: the place of each key at snapshot 0, as in `Watermarks.place`."""
    if not len(watermarks.place):
        return np.full(int(spans.number.sum()), NOWHERE)
    used = np.flatnonzero(spans.number)
    base, number, begin = first_places[used], spans.number[used], spans.places[used]
    first = base + spans.first[used]
    # Rows after the first cell's snapshot. The first cell's own row, which may be older, comes before them.
    low, high = (np.searchsorted(watermarks.place, each, side="right") for each in (first, first + number - 1))
    is_known = (low > 0) & (watermarks.place[np.maximum(low - 1, 0)] >= base)
    counts = high - low + 1
    head = np.cumsum(counts) - counts
    rows = ranges(low - 1, counts)
    cell = watermarks.place[np.maximum(rows, 0)] + np.repeat(begin - first, counts)
    cell[head], rows[head] = begin, np.where(is_known, rows[head], NOWHERE)
    return np.asarray(np.repeat(rows, np.diff(cell, append=int(number.sum()))))
