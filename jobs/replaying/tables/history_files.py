"""The files that one task writes for the replay's tables: per table one for closed rows and one for rows that may
change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import IS_PROVISIONAL, DataFile, partitioning
from jobs.warehouses.table_files import MOST_ROWS, TableFile, Waiting, closing
from schemas.tables import TABLES, Table
from udfs.arrays.nullable import numbers
from udfs.arrays.texts import codes_of, encoded

MOST = int(np.iinfo(np.int64).max)


@dataclass
class HistoryFiles:
    root: Place
    run_id: str
    files: dict[tuple[str, bool | None], TableFile] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int, *, is_ordered: bool = False) -> None:
        """Writes rows of one cluster and offsets partition."""
        table = TABLES[name]
        for is_provisional, part in by_openness(table, rows) if is_ordered else by_openness_in_order(table, rows):
            key = (name, is_provisional)
            if key not in self.files:
                self.files[key] = TableFile(self.root / table.folder, table, self.run_id)
            for start in range(0, part.num_rows, MOST_ROWS):
                self.files[key].write(part.slice(start, MOST_ROWS), partition)

    def closing(self) -> tuple[list[tuple[str, DataFile]], Waiting]:
        """The entries of the files, and a function that waits until they are closed."""
        ended, wait = closing(self.root, list(self.files.values()))
        return [
            (name, replace(file, is_provisional=is_provisional))
            for (name, is_provisional), file in zip(self.files, ended, strict=True)
            if file is not None
        ], wait

    def abandon(self) -> None:
        for file in self.files.values():
            file.abandon()


def by_openness(table: Table, rows: pa.Table) -> Iterator[tuple[bool | None, pa.Table]]:
    if not rows.num_rows:
        return
    if not partitioning(table):
        yield None, rows
        return
    mask = rows.column(IS_PROVISIONAL)
    num_open = pc.sum(mask).as_py()
    if num_open in (0, rows.num_rows):
        yield bool(num_open), rows
        return
    yield False, rows.filter(pc.invert(mask))
    yield True, rows.filter(mask)


def by_openness_in_order(table: Table, rows: pa.Table) -> Iterator[tuple[bool | None, pa.Table]]:
    """Sorted together, so that each row is copied once."""
    if not rows.num_rows:
        return
    if not partitioning(table):
        yield None, in_order(rows, table)
        return
    are_open = rows.column(IS_PROVISIONAL)
    ordered = in_order(rows, table, [numbers(are_open.cast(pa.int64()))])
    num_closed = rows.num_rows - pc.sum(are_open).as_py()
    for is_provisional, part in ((False, ordered.slice(0, num_closed)), (True, ordered.slice(num_closed))):
        if part.num_rows:
            yield is_provisional, part


def in_order(rows: pa.Table, table: Table, by: Sequence[np.ndarray] = ()) -> pa.Table:
    """In the table's order, as far as the rows have its columns, NULL last. Sorts numbers, which compare several times
    as fast as text. `by`: columns that come first."""
    known = set(rows.column_names)
    names = [name for name in table.order if name != "cluster" and name in known]
    if not names or not rows.num_rows:
        return rows
    columns = merge_columns([*by, *(ranks(rows.column(name)) for name in names)])
    if len(columns) == 1 and bool((columns[0][1:] >= columns[0][:-1]).all()):
        return rows
    return rows.take(np.lexsort(columns[::-1]))


def merge_columns(columns: list[np.ndarray]) -> list[np.ndarray]:
    """The same order with fewer numbers: each combines as many neighboring columns as fit, since each number costs a
    sort."""
    merged: list[np.ndarray] = []
    room = 0
    for column in columns:
        least = int(column.min(initial=0))
        span = int(column.max(initial=0)) - least + 1
        if merged and span <= room:
            merged[-1] = merged[-1] * span + (column - least)
            room //= span
        elif span < MOST:
            merged.append(column - least)
            room = MOST // span
        else:
            merged.append(column)
            room = 0
    return merged


def ranks(column: pa.ChunkedArray) -> np.ndarray:
    """Numbers in the order of the values."""
    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        texts = encoded(column)
        rank = np.append(pc.rank(texts.dictionary).to_numpy().astype(np.int64), 0)
        places = rank[codes_of(texts)]
    else:
        places = numbers(column)
    if not column.null_count:
        return np.asarray(places)
    return np.where(column.is_null().to_numpy(), min(int(places.max(initial=0)), MOST - 1) + 1, places)
