"""Merges overlapping copies of a log into one history: which rows are new, which are known, and which contradict each
other.

The input is rows of decoded tables for one span of offsets: copies of an offsets partition, from several brokers or
from before and after compaction, and the rows in the warehouse. A record is identified by offset and leader epoch; a
row without an epoch by its offset, if a row with one is equal to it (`unknown_epochs.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.log.offset_ranges import Range
from udfs.rows.compare_rows import equal_rows, first_difference
from udfs.rows.unknown_epochs import NO_EPOCH, Flags, Places, known_epochs, of_other_log

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
    # Offsets of decoded records in the warehouse without a leader epoch, of which a copy has the epoch: their rows with
    # it are among the new ones, but the records were known. In the ranges, all records without an epoch are replaced.
    replaced: list[Range] = field(default_factory=list)
    num_replaced: int = 0
    # Offsets at which leaders of two epochs wrote different records.
    conflicts: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Index:
    """Every row of every copy: where it comes from, and its key. `source` 0 is the warehouse."""

    source: NDArray[np.int32]
    table: NDArray[np.int32]
    row: Places
    offset: Places
    # As the row has it.
    own_epoch: Places
    # Of the record. It differs from its own where that is unknown and another row at the offset has it.
    epoch: Places

    def taken(self, order: Places) -> "Index":
        columns = ("source", "table", "row", "offset", "own_epoch", "epoch")
        return Index(*(getattr(self, name)[order] for name in columns))


def merge(known: Rows, copies: Sequence[Rows]) -> MergedRows:
    """Raises Contradiction where two sources differ at one offset and leader epoch."""
    names = sorted({name for rows in (known, *copies) for name in rows})
    sources = [known, *copies]
    index = index_of(sources, names)
    index = index.taken(np.lexsort((index.source, index.own_epoch, index.offset)))
    if not len(index.row):
        return MergedRows()
    index = with_known_epochs(index, sources, names)
    winner = winners(index, names)
    is_winner = winner == np.arange(len(winner))
    check_equal(index, np.flatnonzero(~is_winner), winner, sources, names)
    is_new = is_winner & (index.source > 0)
    is_replaced = replaced_rows(index, winner, names)
    merged = MergedRows(num_replaced=int(np.count_nonzero(is_replaced)))
    merged.num_known = int(np.count_nonzero(~is_winner & (index.source > 0))) + merged.num_replaced
    merged.replaced = replaced_ranges(index, is_replaced)
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
    columns: list[tuple[Places, ...]] = [(np.zeros(0, np.int64),) * 6]
    for source, rows in enumerate(sources):
        for code, name in enumerate(names):
            if name in rows:
                table = rows[name]
                offset = table.column("record_offset").to_numpy()
                epoch = pc.fill_null(table.column("partition_leader_epoch"), NO_EPOCH).to_numpy().astype(np.int64)
                size = len(offset)
                columns.append((np.full(size, source), np.full(size, code), np.arange(size), offset, epoch, epoch))
    return Index(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))


def with_known_epochs(index: Index, sources: Sequence[Rows], names: list[str]) -> Index:
    """Rows that have an epoch come before those of the same record that have none."""
    is_unknown = index.own_epoch == NO_EPOCH
    if is_unknown.all() or not is_unknown.any():
        return index
    is_decoded = index.table != place_of_rejected(names)

    def are_equal(places: Places, against: Places) -> Flags:
        return equal_records(index, places, against, sources, names)

    known = known_epochs(index.offset, index.own_epoch, is_decoded, are_equal)
    if len(other := of_other_log(known, index.offset, index.own_epoch, index.source)):
        against = np.arange(len(index.row))
        against[known.unequal] = known.unequal_to
        check_equal(index, other[:1], against, sources, names)
    index = replace(index, epoch=known.epochs)
    return index.taken(np.lexsort((index.source, is_unknown, index.epoch, index.offset)))


def winners(index: Index, names: list[str]) -> Places:
    """For each row of the sorted index the row that stands for its record: the first one that is decoded, if any."""
    size = len(index.row)
    is_first = np.ones(size, bool)
    is_first[1:] = (np.diff(index.offset) != 0) | (np.diff(index.epoch) != 0)
    group = np.cumsum(is_first) - 1
    start = np.flatnonzero(is_first)
    rejected = place_of_rejected(names)
    place = np.where(index.table == rejected, size, np.arange(size))
    decoded = np.minimum.reduceat(place, start)
    chosen = np.where(decoded == size, start, decoded).astype(np.int64)
    return np.take(chosen, group)


def place_of_rejected(names: list[str]) -> int:
    return names.index(REJECTED) if REJECTED in names else -1


def check_equal(index: Index, losers: Places, winner: Places, sources: Sequence[Rows], names: list[str]) -> None:
    against = winner[losers]
    # Nothing of a rejected record can be compared with its decoded form.
    comparable = comparable_records(index, losers, against, names)
    losers, against = losers[comparable], against[comparable]
    if len(other := np.flatnonzero(index.table[losers] != index.table[against])):
        first, second = losers[other[0]], against[other[0]]
        kinds = f"{names[index.table[first]]} in one copy, of {names[index.table[second]]} in the other"
        raise Contradiction(f"{place_of(index, first)}: the record is of {kinds}")
    for name, places, rows, others in side_by_side(index, losers, against, sources, names):
        if (difference := first_difference(name, rows, others)) is not None:
            row, column = difference
            values = (
                f"{rows.column(column)[row].as_py()!r} in one copy, {others.column(column)[row].as_py()!r} in the other"
            )
            raise Contradiction(f"{place_of(index, losers[places[row]])}: {name}.{column} is {values}")


def comparable_records(index: Index, places: Places, against: Places, names: list[str]) -> Flags:
    rejected = place_of_rejected(names)
    return np.asarray((index.table[places] == rejected) == (index.table[against] == rejected))


def equal_records(index: Index, places: Places, against: Places, sources: Sequence[Rows], names: list[str]) -> Flags:
    """Rows that cannot be compared count as equal."""
    is_equal = ~comparable_records(index, places, against, names)
    same = np.flatnonzero(~is_equal & (index.table[places] == index.table[against]))
    for name, mine, rows, others in side_by_side(index, places[same], against[same], sources, names):
        is_equal[same[mine]] = equal_rows(name, rows, others)
    return is_equal


def side_by_side(
    index: Index, places: Places, against: Places, sources: Sequence[Rows], names: list[str]
) -> Iterator[tuple[str, Places, pa.Table, pa.Table]]:
    """The rows of two lists of places whose tables are the same: by table and sources, which of them, and both sides'
    rows."""
    pairs = index.table[places] * len(sources) ** 2 + index.source[places] * len(sources) + index.source[against]
    for pair in np.unique(pairs):
        mine = np.flatnonzero(pairs == pair)
        table, of_sources = divmod(int(pair), len(sources) ** 2)
        first, second = divmod(of_sources, len(sources))
        rows = sources[first][names[table]].take(pa.array(index.row[places[mine]]))
        yield names[table], mine, rows, sources[second][names[table]].take(pa.array(index.row[against[mine]]))


def place_of(index: Index, place: int) -> str:
    epoch = int(index.own_epoch[place])
    return f"offset {index.offset[place]}" + (f" of leader epoch {epoch}" if epoch != NO_EPOCH else "")


def replaced_rows(index: Index, winner: Places, names: list[str]) -> Flags:
    """Decoded rows of the warehouse for which rows of copies stand: only a row with an epoch stands for one without."""
    is_decoded = index.table != place_of_rejected(names)
    return np.asarray(is_decoded & (index.source == 0) & (index.source[winner] > 0))


def replaced_ranges(index: Index, is_replaced: Flags) -> list[Range]:
    """As few as there can be without a row of the warehouse in them that has no epoch and stays."""
    if not is_replaced.any():
        return []
    places = np.flatnonzero((index.source == 0) & (index.own_epoch == NO_EPOCH))
    places = places[np.argsort(index.offset[places], kind="stable")]
    goes = np.concatenate([[False], is_replaced[places], [False]])
    starts, stops = np.flatnonzero(~goes[:-1] & goes[1:]), np.flatnonzero(goes[:-1] & ~goes[1:])
    offsets = index.offset[places]
    return list(zip(offsets[starts].tolist(), offsets[stops - 1].tolist(), strict=True))


def retracted_rows(index: Index, winner: Places, names: list[str]) -> list[tuple[int, int | None]]:
    if REJECTED not in names:
        return []
    is_rejected = index.table == names.index(REJECTED)
    is_theirs = is_rejected & (index.source == 0) & (~is_rejected[winner] | (index.source[winner] > 0))
    return [
        (int(offset), None if epoch == NO_EPOCH else int(epoch))
        for offset, epoch in zip(index.offset[is_theirs], index.own_epoch[is_theirs], strict=True)
    ]


def conflicts(index: Index, is_winner: Flags) -> list[int]:
    """Only rows that say their epoch can differ in it."""
    kept = is_winner & (index.epoch != NO_EPOCH)
    offset, source = index.offset[kept], index.source[kept]
    again = np.flatnonzero(np.diff(offset) == 0)
    # Those among rows of the warehouse alone have been reported before.
    return sorted({int(offset[place]) for place in again if source[place] or source[place + 1]})
