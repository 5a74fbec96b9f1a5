"""Rows that a run removes from decoded tables: those of rejected records that are decoded now, from another copy or by
a newer release, and those without a leader epoch of records that a copy has with one. The other rows of their files
stay, in new files."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import Change, DataFile, RemovedFile, clusters_of, file_path, files_of
from jobs.warehouses.older_tables import of_this_release
from jobs.warehouses.small_files import by_partition
from jobs.warehouses.table_files import TableFile
from schemas.tables import Table
from udfs.arrays.nullable import NONE, Flags, Numbers, flags, numbers
from udfs.log.offset_ranges import Range, join_ranges

# Partition and leader epoch.
LogKey = tuple[int, int | None]
# File and position of bytes; lines of an archive have no position.
BytesKey = tuple[str, int | None]

KEY = ["cluster", "offsets_partition", "record_offset", "partition_leader_epoch"]
# Columns that only rejected_records has.
PLACE = ["source_file", "byte_position"]


@dataclass(frozen=True)
class RemovedRows:
    """`offsets`: by partition and leader epoch (None: rows without one), ranges in which no row of these stays."""

    cluster: str
    offsets: Mapping[LogKey, Sequence[Range]] = field(default_factory=dict)
    places: frozenset[BytesKey] = frozenset()

    def may_be_in(self, file: Mapping[str, Any]) -> bool:
        """By the file's entry in the Delta log. Where it says no partitions, no run knows the rows, so no other row
        has taken the place of one of them."""
        if not clusters_of(file, [self.cluster]):
            return False
        least, most = ((file[side] or {}).get("offsets_partition") for side in ("min", "max"))
        if self.places or least is None or most is None:
            return bool(self.places)
        lacks_epochs = (file["null_count"] or {}).get("partition_leader_epoch") != 0
        return any(
            least <= partition <= most and (lacks_epochs or epoch is not None) for partition, epoch in self.offsets
        )

    def are_in(self, rows: pa.Table) -> Flags:
        is_ours = flags(pc.equal(rows.column("cluster"), self.cluster))
        partitions, offsets, epochs = (numbers(rows.column(name)) for name in KEY[1:])
        gone = np.zeros(rows.num_rows, np.bool_)
        for (partition, epoch), ranges in self.offsets.items():
            has_epoch = epochs == (NONE if epoch is None else epoch)
            mine = np.flatnonzero(is_ours & (partitions == partition) & has_epoch)
            gone[mine] = within(offsets[mine], ranges)
        if self.places:
            found = zip(*(rows.column(name).to_pylist() for name in PLACE), strict=True)
            gone |= is_ours & np.fromiter((each in self.places for each in found), np.bool_, rows.num_rows)
        return gone


def by_log_key(ranges: Iterable[tuple[LogKey, Range]]) -> dict[LogKey, list[Range]]:
    found: dict[LogKey, list[Range]] = defaultdict(list)
    for key, each in ranges:
        found[key].append(each)
    return {key: join_ranges(some) for key, some in found.items()}


def within(offsets: Numbers, ranges: Sequence[Range]) -> Flags:
    """`ranges` rise."""
    firsts, lasts = np.array(ranges, np.int64).T
    place = np.searchsorted(firsts, offsets, "right") - 1
    return np.asarray((place >= 0) & (offsets <= lasts[place]))


def without_rows(delta: DeltaTable | None, folder: Place, table: Table, removed: RemovedRows, run_id: str) -> Change:
    """`delta`: the table's current version, not that in `runs`: files that others have merged since then must not come
    back. None: there is no table yet."""
    added: list[DataFile] = []
    gone: list[RemovedFile] = []
    if delta is None or not (removed.offsets or removed.places):
        return Change()
    for row in files_of(delta).to_pylist():
        if not removed.may_be_in(row):
            continue
        kept = TableFile(folder, table, run_id)
        if rewrite(folder / file_path(row["path"]), kept, removed):
            gone.append(RemovedFile(row["path"], is_data_change=True))
            if (file := kept.close()) is not None:
                added.append(file)
    return Change(tuple(added), tuple(gone))


def rewrite(path: Place, kept: TableFile, removed: RemovedRows) -> bool:
    """Writes the rows that stay, unless all do; returns whether any row goes."""
    columns = [*KEY, *(PLACE if removed.places else ())]
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        groups = range(file.num_row_groups)
        goes = [removed.are_in(file.read_row_group(group, columns, use_threads=False)) for group in groups]
        if not any(mask.any() for mask in goes):
            return False
        for group, mask in zip(groups, goes, strict=True):
            if not mask.all():
                stored = of_this_release(file.read_row_group(group, use_threads=False), kept.table, path)
                rows = stored.filter(pa.array(~mask))
                for partition, part in by_partition(rows):
                    kept.write(part, partition)
    return True
