"""Merges small files of a table into a few large ones, with rows in the table's order. Runs that add little leave many
small files. Files of other programs without statistics are rewritten too, if the user asks for all that can be done."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.configuration.settings import Tables
from jobs.storage.places.place import Place
from jobs.storage.places.together import done_together
from jobs.storage.stored_files import nothing
from jobs.warehouses.delta_tables import Change, DataFile, RemovedFile, partitioning
from jobs.warehouses.older_tables import of_this_release
from jobs.warehouses.table_files import STATISTICS_COLUMNS, TableFile
from schemas.tables import TABLES, Table

# Limit for all files that are merged together: the size of their values before compression. In memory they take up to
# ten times as much.
MOST_RAW_BYTES = {"auto": 16 << 20, "full": 64 << 20}
# Merging fewer files is not worth the work, unless the settings ask for it.
FEWEST_TOGETHER = {"auto": 4, "full": 2}


@dataclass(frozen=True)
class Rewriting:
    """Which table, by which run, and how many small files are too many."""

    root: Place
    table: str
    run_id: str
    limits: Tables
    mode: str = "auto"
    # Waits for files of this run that are still being closed.
    wait_for_files: Callable[[], None] = nothing

    @property
    def folder(self) -> Place:
        return self.root / TABLES[self.table].folder


@dataclass(frozen=True)
class Small:
    name: str
    size: int
    raw_bytes: int


def with_small_files_rewritten(
    of: Rewriting, change: Change, held: Iterable[str], bare: Collection[str] = ()
) -> Change:
    """`held`: names of files that earlier runs wrote. They are merged separately from the files of this run, which no
    reader has seen yet: only these have rows that are new to readers of the table's changes. `bare`: names of files to
    rewrite even if they are large."""
    old = staying(change, held)
    # Each run writes open rows to new files anyway.
    new = [file.name for file in change.added if not file.is_provisional]
    again, made = together(of, [name for name in old if name not in bare]), together(of, new)
    again += [(small(of.folder / name),) for name in staying(change, bare)]
    old += [name for name in bare if name not in old]
    rewritten = {file.name for files in (*again, *made) for file in files}
    stays = [file for file in change.added if file.name not in rewritten]
    moved = [RemovedFile(name, is_data_change=False) for name in old if name in rewritten]
    files = [rewrite(of, each, is_new=False) for each in again] + [rewrite(of, each, is_new=True) for each in made]
    return Change((*stays, *files), (*change.removed, *moved))


def num_merged(of: Rewriting, change: Change, held: Iterable[str]) -> int:
    """How many files that earlier runs wrote are merged."""
    return sum(map(len, together(of, staying(change, held))))


def staying(change: Change, held: Iterable[str]) -> list[str]:
    gone = {file.name for file in change.removed}
    return [name for name in held if name not in gone]


def together(of: Rewriting, names: Sequence[str]) -> list[tuple[Small, ...]]:
    """Chooses the small files that are merged into one. If there are too few, none is opened."""
    fewest = of.limits.small_files if of.mode == "auto" else FEWEST_TOGETHER["full"]
    if of.mode == "never" or len(names) < fewest:
        return []
    of.wait_for_files()
    candidates = done_together(of.root, small, [of.folder / name for name in names])
    few = sorted((file for file in candidates if file.size < of.limits.small_file_bytes), key=lambda file: file.name)
    if len(few) < fewest:
        return []
    parts = bins(few, of.limits.file_bytes, MOST_RAW_BYTES[of.mode])
    least = min(FEWEST_TOGETHER[of.mode], fewest)
    return [each for each in parts if len(each) >= least]


def bins(files: Sequence[Small], most_bytes: int, most_raw_bytes: int) -> list[tuple[Small, ...]]:
    groups: list[list[Small]] = [[]]
    for file in files:
        size, raw = sum(each.size for each in groups[-1]), sum(each.raw_bytes for each in groups[-1])
        if groups[-1] and (size + file.size > most_bytes or raw + file.raw_bytes > most_raw_bytes):
            groups.append([])
        groups[-1].append(file)
    return [tuple(each) for each in groups]


def small(path: Place) -> Small:
    metadata = pq.read_metadata(path.parquet_source())
    raw_bytes = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return Small(path.name, path.size(), raw_bytes)


def rewrite(of: Rewriting, files: Sequence[Small], *, is_new: bool) -> DataFile:
    table = TABLES[of.table]
    names = [column.name for column in table.columns]
    file = TableFile(of.folder, table, of.run_id)
    for rows in parts_of([of.folder / each.name for each in files], table):
        if "offsets_partition" not in names or not rows.num_rows:
            file.write(rows)
        else:
            for partition, part in by_partition(rows):
                file.write(part, partition)
    done = file.close()
    assert done is not None
    return replace(done, is_data_change=is_new, is_provisional=False if partitioning(table) else None)


def parts_of(paths: Sequence[Place], table: Table) -> Iterator[pa.Table]:
    """One file, which may be large, row group by row group; several in the table's order."""
    if len(paths) == 1:
        yield from row_groups(paths[0], table)
    else:
        yield in_table_order(pa.concat_tables([read_table_file(path, table) for path in paths]), table)


def row_groups(path: Place, table: Table) -> Iterator[pa.Table]:
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        for group in range(file.num_row_groups):
            yield of_this_release(file.read_row_group(group, use_threads=False), table, path)


def read_table_file(path: Place, table: Table) -> pa.Table:
    with pq.ParquetFile(path.parquet_source()) as file:
        return of_this_release(file.read(), table, path)


def in_table_order(rows: pa.Table, table: Table) -> pa.Table:
    keys = [(name, "ascending") for name in table.order]
    return rows.take(pc.sort_indices(rows.select(table.order), sort_keys=keys))


def by_partition(rows: pa.Table) -> Iterable[tuple[int | None, pa.Table]]:
    """Rows of each offsets partition; they are next to each other."""
    ends = pc.run_end_encode(rows.column("offsets_partition").combine_chunks())
    start = 0
    for end, partition in zip(ends.run_ends.to_pylist(), ends.values.to_pylist(), strict=True):
        yield partition, rows.slice(start, end - start)
        start = end


def has_statistics(table: Table, file: Mapping[str, Any]) -> bool:
    """Whether the file's entry in the Delta log, as `files_of` returns it, has min and max of the table's key
    columns."""
    leading = [column.name for column in table.columns[:STATISTICS_COLUMNS]]
    number = file["num_records"]
    least, most, nulls = (file.get(kind) or {} for kind in ("min", "max", "null_count"))
    return number is not None and all(
        nulls.get(key) == number or (least.get(key) is not None and most.get(key) is not None)
        for key in table.key
        if key in leading
    )
