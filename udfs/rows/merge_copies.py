"""Merges overlapping copies of a log into one history: which rows are new, which are known, and which contradict each
other.

The input is rows of decoded tables for one span of offsets: copies of an offsets partition, from several brokers or
from before and after compaction, and the rows in the warehouse. A record is identified by offset and leader epoch; a
row without an epoch is also the record of an equal row with one at its offset (`unknown_epochs.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udfs.arrays.nullable import Flags, filled
from udfs.rows.compare_rows import can_replace, first_difference
from udfs.rows.unknown_epochs import NO_EPOCH, Places, with_epochs_known

Rows = Mapping[str, pa.Table]

REJECTED = "rejected_records"


class Contradiction(Exception):
    """Two records under one offset and leader epoch: they are of different logs."""


@dataclass
class MergedRows:
    """What a stretch of offsets adds to the warehouse."""

    new: dict[str, pa.Table] = field(default_factory=dict)
    num_known: int = 0
    # Offset and leader epoch of rejected records in the warehouse that are decoded now, or have an epoch now.
    retracted: list[tuple[int, int | None]] = field(default_factory=list)
    # Offsets of decoded rows of the warehouse without a leader epoch, of which rows with one take the place.
    replaced: Places = field(default_factory=lambda: np.empty(0, np.int64))
    # Rows among the new ones whose records were known without an epoch: the number of decoded ones, and the others.
    num_decoded_again: int = 0
    rejected_again: pa.Table | None = None
    # Offsets at which leaders of two epochs wrote different records.
    conflicts: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Index:
    """Every row of every copy, in the order of offset, epoch and copy: where it comes from, and its key. `source` 0 is
    the warehouse. `names`: of the tables."""

    sources: Sequence[Rows]
    names: list[str]
    source: NDArray[np.int32]
    table: NDArray[np.int32]
    row: Places
    offset: Places
    epoch: Places

    @property
    def is_rejected(self) -> Flags:
        return np.asarray(self.table == (self.names.index(REJECTED) if REJECTED in self.names else -1))

    def rows(self, table: int, source: int, places: Places) -> pa.Table:
        return rows_at(self.sources[source][self.names[table]], self.row[places])

    def chosen(self, name: str, is_chosen: Flags) -> pa.Table | None:
        """Rows of copies, in the order of offsets; None if there are none."""
        is_chosen = is_chosen & (self.table == self.names.index(name))
        parts = [
            rows[name].take(pa.array(np.sort(self.row[is_chosen & (self.source == source)])))
            for source, rows in enumerate(self.sources)
            if source and name in rows
        ]
        if not parts or not (whole := pa.concat_tables(parts)).num_rows:
            return None
        return whole.sort_by("record_offset") if len(parts) > 1 else whole


def merge(known: Rows, copies: Sequence[Rows]) -> MergedRows:
    """Raises Contradiction where two sources differ at one offset and leader epoch."""
    index = index_of([known, *copies])
    if not len(index.row):
        return MergedRows()
    winner = winners(index)
    check_equal(index, np.flatnonzero(winner != np.arange(len(winner))), winner)
    winner = with_epochs_known(winner, index.offset, index.epoch, lambda *places: are_equal(index, *places))
    is_new = (winner == np.arange(len(winner))) & (index.source > 0)
    is_replaced = replaced_rows(index, winner)
    is_again = new_again(index, winner, is_replaced)
    merged = MergedRows(num_known=int(np.count_nonzero((index.source > 0) & ~(is_new & ~is_again))))
    for name in index.names:
        if (rows := index.chosen(name, is_new)) is not None:
            merged.new[name] = rows
    merged.retracted = retracted_rows(index, winner, is_replaced)
    merged.replaced = index.offset[is_replaced & ~index.is_rejected]
    merged.num_decoded_again = int(np.count_nonzero(is_again & ~index.is_rejected))
    if (is_again & index.is_rejected).any():
        merged.rejected_again = index.chosen(REJECTED, is_again)
    merged.conflicts = conflicts(index, winner)
    return merged


def index_of(sources: Sequence[Rows]) -> Index:
    names = sorted({name for rows in sources for name in rows})
    columns: list[tuple[Places, ...]] = [(np.zeros(0, np.int64),) * 5]
    for number, rows in enumerate(sources):
        for code, name in enumerate(names):
            if name in rows:
                offsets = rows[name].column("record_offset").to_numpy()
                epochs = filled(rows[name].column("partition_leader_epoch"), NO_EPOCH).to_numpy().astype(np.int64)
                size = len(offsets)
                columns.append((np.full(size, number), np.full(size, code), np.arange(size), offsets, epochs))
    source, table, row, offset, epoch = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = np.lexsort((source, epoch, offset))
    return Index(sources, names, *(column[order] for column in (source, table, row, offset, epoch)))


def rows_at(rows: pa.Table, places: Places) -> pa.Table:
    """Without a copy if they are next to each other, as they mostly are."""
    if len(places) and (np.diff(places) == 1).all():
        return rows.slice(int(places[0]), len(places))
    return rows.take(pa.array(places))


def winners(index: Index) -> Places:
    """For each row the one that takes the place of all rows of its offset and epoch: the first decoded one, if any."""
    size = len(index.row)
    is_first = np.ones(size, bool)
    is_first[1:] = (np.diff(index.offset) != 0) | (np.diff(index.epoch) != 0)
    group = np.cumsum(is_first) - 1
    start = np.flatnonzero(is_first)
    place = np.where(index.is_rejected, size, np.arange(size))
    decoded = np.minimum.reduceat(place, start)
    chosen = np.where(decoded == size, start, decoded).astype(np.int64)
    return np.take(chosen, group)


def check_equal(index: Index, losers: Places, winner: Places) -> None:
    against = winner[losers]
    # Nothing of a rejected record can be compared with its decoded form.
    comparable = index.is_rejected[losers] == index.is_rejected[against]
    losers, against = losers[comparable], against[comparable]
    if len(other := np.flatnonzero(index.table[losers] != index.table[against])):
        first, second = losers[other[0]], against[other[0]]
        names = index.names
        kinds = f"{names[index.table[first]]} in one copy, of {names[index.table[second]]} in the other"
        raise Contradiction(f"{place_of(index, first)}: the record is of {kinds}")
    for places, (name, rows), (_, others) in side_by_side(index, losers, against):
        if (difference := first_difference(name, rows, others)) is not None:
            row, column = difference
            values = (
                f"{rows.column(column)[row].as_py()!r} in one copy, {others.column(column)[row].as_py()!r} in the other"
            )
            raise Contradiction(f"{place_of(index, losers[places[row]])}: {name}.{column} is {values}")


def are_equal(index: Index, unknown: Places, named: Places) -> Flags:
    """Whether the rows at `named`, which have epochs, can take the place of those at `unknown`, without."""
    is_equal = np.zeros(len(unknown), np.bool_)
    for places, rows, others in side_by_side(index, unknown, named):
        is_equal[places] = can_replace(*others, *rows)
    return is_equal


NamedRows = tuple[str, pa.Table]


def side_by_side(index: Index, mine: Places, theirs: Places) -> Iterator[tuple[Places, NamedRows, NamedRows]]:
    """Pairs of rows by their tables and sources: which pairs, and the rows of both sides."""
    sides = [index.table[mine], index.table[theirs], index.source[mine], index.source[theirs]]
    shape = (len(index.names), len(index.names), len(index.sources), len(index.sources))
    kinds = np.ravel_multi_index(sides, shape)
    for kind in np.unique(kinds):
        places = np.flatnonzero(kinds == kind)
        table, other, source, second = (int(each) for each in np.unravel_index(kind, shape))
        rows = index.names[table], index.rows(table, source, mine[places])
        yield places, rows, (index.names[other], index.rows(other, second, theirs[places]))


def place_of(index: Index, place: int) -> str:
    epoch = int(index.epoch[place])
    return f"offset {index.offset[place]}" + (f" of leader epoch {epoch}" if epoch != NO_EPOCH else "")


def replaced_rows(index: Index, winner: Places) -> Flags:
    """Rows of the warehouse without an epoch, of which rows with one take the place."""
    is_unknown = index.epoch == NO_EPOCH
    return np.asarray(is_unknown & ~is_unknown[winner] & (index.source == 0))


def new_again(index: Index, winner: Places, is_replaced: Flags) -> Flags:
    """New rows whose records the warehouse had, decoded or rejected as they are."""
    is_again = np.zeros(len(winner), np.bool_)
    is_again[winner[is_replaced & (index.is_rejected == index.is_rejected[winner])]] = True
    return is_again & (index.source > 0)


def retracted_rows(index: Index, winner: Places, is_replaced: Flags) -> list[tuple[int, int | None]]:
    is_better = is_replaced | ~index.is_rejected[winner]
    is_theirs = index.is_rejected & (index.source == 0) & is_better
    return [
        (int(offset), None if epoch == NO_EPOCH else int(epoch))
        for offset, epoch in zip(index.offset[is_theirs], index.epoch[is_theirs], strict=True)
    ]


def conflicts(index: Index, winner: Places) -> list[int]:
    """Only rows that say their epoch can differ in it."""
    kept = (winner == np.arange(len(winner))) & (index.epoch != NO_EPOCH)
    offset, source = index.offset[kept], index.source[kept]
    again = np.flatnonzero(np.diff(offset) == 0)
    # Those among rows of the warehouse alone have been reported before.
    return sorted({int(offset[place]) for place in again if source[place] or source[place + 1]})
