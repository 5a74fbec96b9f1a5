"""Merges overlapping copies of a log into one history: which rows are new, which are known, and which contradict each
other.

The input is rows of decoded tables for one span of offsets: copies of an offsets partition, from several brokers or
from before and after compaction, and the rows in the warehouse. A record is identified by offset and leader epoch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Rows = Mapping[str, pa.Table]
Places = NDArray[np.int64]

REJECTED = "rejected_records"
# Which run wrote a row and which batch brought it depend on the copy, not on the record.
OF_THE_COPY = frozenset({"run_id", "batch_first_offset"})
# What is of a rejected record itself: another release gives the reason in other words.
OF_REJECTED = ("record_time", "is_control", "is_tombstone", "record_bytes", "key_bytes", "value_bytes")
# Archives without producer columns do not contradict segments that have them.
OF_PRODUCERS = ("is_transactional", "producer_id", "producer_epoch")
NO_EPOCH = -(2**31)


class Contradiction(Exception):
    """Two records under one offset and leader epoch: they are of different logs."""


@dataclass
class MergedRows:
    """What a stretch of offsets adds to the warehouse."""

    new: dict[str, pa.Table] = field(default_factory=dict)
    num_known: int = 0
    # Offset and leader epoch of rejected records in the warehouse that are decoded now.
    retracted: list[tuple[int, int | None]] = field(default_factory=list)
    # Offsets at which leaders of two epochs wrote different records.
    conflicts: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Index:
    """Every row of every copy: where it comes from, and its key. `source` 0 is the warehouse."""

    source: NDArray[np.int32]
    table: NDArray[np.int32]
    row: Places
    offset: Places
    epoch: Places

    def sorted_by_key(self) -> "Index":
        order = np.lexsort((self.source, self.epoch, self.offset))
        return Index(*(getattr(self, name)[order] for name in ("source", "table", "row", "offset", "epoch")))


def merge(known: Rows, copies: Sequence[Rows]) -> MergedRows:
    """Raises Contradiction where two sources differ at one offset and leader epoch."""
    names = sorted({name for rows in (known, *copies) for name in rows})
    sources = [known, *copies]
    index = index_of(sources, names).sorted_by_key()
    if not len(index.row):
        return MergedRows()
    winner = winners(index, names)
    is_winner = winner == np.arange(len(winner))
    check_equal(index, np.flatnonzero(~is_winner), winner, sources, names)
    is_new = is_winner & (index.source > 0)
    merged = MergedRows(num_known=int(np.count_nonzero(~is_winner & (index.source > 0))))
    for code, name in enumerate(names):
        parts = [
            rows[name].take(pa.array(np.sort(index.row[is_new & (index.table == code) & (index.source == source)])))
            for source, rows in enumerate(sources)
            if source and name in rows
        ]
        if parts and (whole := pa.concat_tables(parts)).num_rows:
            merged.new[name] = whole.sort_by("record_offset") if len(parts) > 1 else whole
    merged.retracted = retracted_rows(index, winner, names)
    merged.conflicts = conflicts(index, is_winner)
    return merged


def index_of(sources: Sequence[Rows], names: list[str]) -> Index:
    columns: list[tuple[Places, ...]] = [(np.zeros(0, np.int64),) * 5]
    for source, rows in enumerate(sources):
        for code, name in enumerate(names):
            if name in rows:
                table = rows[name]
                offset = table.column("record_offset").to_numpy()
                epoch = pc.fill_null(table.column("partition_leader_epoch"), NO_EPOCH).to_numpy().astype(np.int64)
                size = len(offset)
                columns.append((np.full(size, source), np.full(size, code), np.arange(size), offset, epoch))
    return Index(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))


def winners(index: Index, names: list[str]) -> Places:
    """For each row of the sorted index the row that stands for its record: the first one that is decoded, if any."""
    size = len(index.row)
    is_first = np.ones(size, bool)
    is_first[1:] = (np.diff(index.offset) != 0) | (np.diff(index.epoch) != 0)
    group = np.cumsum(is_first) - 1
    start = np.flatnonzero(is_first)
    rejected = names.index(REJECTED) if REJECTED in names else -1
    place = np.where(index.table == rejected, size, np.arange(size))
    decoded = np.minimum.reduceat(place, start)
    chosen = np.where(decoded == size, start, decoded).astype(np.int64)
    return np.take(chosen, group)


def check_equal(index: Index, losers: Places, winner: Places, sources: Sequence[Rows], names: list[str]) -> None:
    rejected = names.index(REJECTED) if REJECTED in names else -1
    against = winner[losers]
    # Nothing of a rejected record can be compared with its decoded form.
    comparable = (index.table[losers] == rejected) == (index.table[against] == rejected)
    losers, against = losers[comparable], against[comparable]
    if len(other := np.flatnonzero(index.table[losers] != index.table[against])):
        first, second = losers[other[0]], against[other[0]]
        kinds = f"{names[index.table[first]]} in one copy, of {names[index.table[second]]} in the other"
        raise Contradiction(f"{place_of(index, first)}: the record is of {kinds}")
    pairs = index.table[losers] * len(sources) ** 2 + index.source[losers] * len(sources) + index.source[against]
    for pair in np.unique(pairs):
        mine = pairs == pair
        table, of_sources = divmod(int(pair), len(sources) ** 2)
        first, second = divmod(of_sources, len(sources))
        name = names[table]
        rows = sources[first][name].take(pa.array(index.row[losers[mine]]))
        others = sources[second][name].take(pa.array(index.row[against[mine]]))
        if (difference := first_difference(name, rows, others)) is not None:
            row, column = difference
            values = (
                f"{rows.column(column)[row].as_py()!r} in one copy, {others.column(column)[row].as_py()!r} in the other"
            )
            raise Contradiction(f"{place_of(index, losers[mine][row])}: {name}.{column} is {values}")


def place_of(index: Index, place: int) -> str:
    epoch = int(index.epoch[place])
    return f"offset {index.offset[place]}" + (f" of leader epoch {epoch}" if epoch != NO_EPOCH else "")


def first_difference(name: str, rows: pa.Table, others: pa.Table) -> tuple[int, str] | None:
    columns = OF_REJECTED if name == REJECTED else [each for each in rows.column_names if each not in OF_THE_COPY]
    for column in columns:
        if column not in OF_PRODUCERS and (row := differing_row(rows, others, column)) is not None:
            return row, column
    is_known = pc.and_(*(side.column("is_transactional").is_valid() for side in (rows, others)))
    places = np.flatnonzero(is_known.to_numpy())
    rows, others = (side.select(OF_PRODUCERS).take(pa.array(places)) for side in (rows, others))
    for column in OF_PRODUCERS:
        if (row := differing_row(rows, others, column)) is not None:
            return int(places[row]), column
    return None


def differing_row(rows: pa.Table, others: pa.Table, column: str) -> int | None:
    if rows.column(column).equals(others.column(column)):
        return None
    pairs = zip(rows.column(column).to_pylist(), others.column(column).to_pylist(), strict=True)
    return next(row for row, (mine, theirs) in enumerate(pairs) if mine != theirs)


def retracted_rows(index: Index, winner: Places, names: list[str]) -> list[tuple[int, int | None]]:
    if REJECTED not in names:
        return []
    is_rejected = index.table == names.index(REJECTED)
    is_theirs = is_rejected & (index.source == 0) & ~is_rejected[winner]
    return [
        (int(offset), None if epoch == NO_EPOCH else int(epoch))
        for offset, epoch in zip(index.offset[is_theirs], index.epoch[is_theirs], strict=True)
    ]


def conflicts(index: Index, is_winner: NDArray[np.bool_]) -> list[int]:
    """Only rows that say their epoch can differ in it."""
    kept = is_winner & (index.epoch != NO_EPOCH)
    offset, source = index.offset[kept], index.source[kept]
    again = np.flatnonzero(np.diff(offset) == 0)
    # Those among rows of the warehouse alone have been reported before.
    return sorted({int(offset[place]) for place in again if source[place] or source[place + 1]})
