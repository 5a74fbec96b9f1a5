"""Rows of decoded tables to remove: records of an archive without leader epochs, of which a copy of the log has given
the epoch in this run. Their other rows stay in new files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import DataFile, RemovedFile, clusters_of, file_path, files_of
from jobs.warehouses.small_files import by_partition
from jobs.warehouses.table_files import TableFile
from schemas.contract.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import Flags
from udfs.log.offset_ranges import Range, join_by_group

KEY = ["cluster", "offsets_partition", "record_offset", "partition_leader_epoch"]


@dataclass(frozen=True)
class Replaced:
    """By offsets partition, ranges of offsets in which no record without an epoch stays."""

    cluster: str
    ranges: Mapping[int, Sequence[Range]]

    def are_in(self, rows: pa.Table) -> Flags:
        is_ours = pc.and_(
            pc.equal(rows.column("cluster"), self.cluster), rows.column("partition_leader_epoch").is_null()
        )
        places = np.flatnonzero(is_ours.to_numpy())
        partitions, offsets = (rows.column(name).to_numpy() for name in ("offsets_partition", "record_offset"))
        are_in = np.zeros(rows.num_rows, np.bool_)
        for partition in np.unique(partitions[places]).tolist():
            mine = places[partitions[places] == partition]
            are_in[mine] = within(offsets[mine], self.ranges.get(partition, ()))
        return are_in

    def may_be_in(self, file: Mapping[str, object]) -> bool:
        """By the file's entry in the Delta log."""
        least, most = ((file[side] or {}).get("offsets_partition") for side in ("min", "max"))  # type: ignore[attr-defined]
        partitions = (
            each for each in self.ranges if (least is None or each >= least) and (most is None or each <= most)
        )
        return bool(clusters_of(file, [self.cluster])) and any(True for _ in partitions)


@dataclass
class Rewritten:
    """The change in one table."""

    added: list[DataFile] = field(default_factory=list)
    removed: list[RemovedFile] = field(default_factory=list)


def replaced_of(cluster: str, ranges: Iterable[tuple[int, int, int]]) -> Replaced:
    columns = np.array(sorted(ranges), np.int64).reshape(-1, 3).T
    return Replaced(cluster, join_by_group(*columns))


def within(offsets: np.ndarray, ranges: Sequence[Range]) -> Flags:
    """`ranges` rise."""
    if not ranges:
        return np.zeros(len(offsets), np.bool_)
    firsts, lasts = np.array(ranges, np.int64).T
    place = np.searchsorted(firsts, offsets, "right") - 1
    return np.asarray((place >= 0) & (offsets <= lasts[place]))


def without_replaced(delta: DeltaTable, folder: Place, table: str, replaced: Replaced, run_id: str) -> Rewritten:
    """`delta`: the table's current version, not that in `runs`: files that others have merged since then must not come
    back."""
    done = Rewritten()
    for row in files_of(delta).to_pylist():
        if not replaced.may_be_in(row):
            continue
        kept = TableFile(folder, TABLES[table], run_id)
        if rewrite(folder / file_path(row["path"]), kept, replaced):
            done.removed.append(RemovedFile(row["path"], is_data_change=True))
            if (file := kept.close()) is not None:
                done.added.append(file)
    return done


def rewrite(path: Place, kept: TableFile, replaced: Replaced) -> bool:
    """Writes the rows that stay, unless all do; returns whether any row goes."""
    schema = table_schema(kept.table)
    with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
        groups = range(file.num_row_groups)
        goes = [replaced.are_in(file.read_row_group(group, KEY, use_threads=False)) for group in groups]
        if not any(mask.any() for mask in goes):
            return False
        for group, mask in zip(groups, goes, strict=True):
            if not mask.all():
                rows = file.read_row_group(group, use_threads=False).cast(schema).filter(pa.array(~mask))
                for partition, part in by_partition(rows):
                    kept.write(part, partition)
    return True
