"""Offset ranges that the warehouse has read undamaged. If another copy lacks a record there, compaction removed it; it
is not lost."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from jobs.ingestion.driver.covered_ranges import copy_of, read_ranges
from jobs.ingestion.driver.state import FILE_COLUMNS, State, state_of, table_of_cluster
from jobs.ingestion.task.damaged_bytes import without_damaged
from jobs.ingestion.task.messages import KnownRange
from jobs.warehouses.warehouse import Warehouse
from udfs.log.offset_ranges import Range, join_by_group, join_ranges


def state_with_intact(warehouse: Warehouse, cluster: str) -> State:
    rows = table_of_cluster(warehouse, "source_files", FILE_COLUMNS, cluster, "run_id")
    state = state_of(warehouse, cluster, rows)
    return state if rows is None else replace(state, intact=intact_ranges(rows, state.rejected))


def intact_ranges(rows: pa.Table, rejected: Mapping[int, Sequence[KnownRange]]) -> dict[int, list[Range]]:
    read, damaged = read_ranges(rows), damaged_by_copy(rows, rejected)
    size = max(len(read.names), 1)
    by_partition: dict[int, list[Range]] = defaultdict(list)
    for place, ranges in join_by_group(read.partitions * size + read.copies, read.firsts, read.lasts).items():
        partition, copy = divmod(place, size)
        by_partition[partition] += without_damaged(ranges, damaged.get((partition, read.names[copy]), ()))
    return {partition: join_ranges(ranges) for partition, ranges in by_partition.items()}


def damaged_by_copy(
    rows: pa.Table, rejected: Mapping[int, Sequence[KnownRange]]
) -> dict[tuple[int, str], list[KnownRange]]:
    """By offsets partition and copy, what is damaged in its files."""
    by_file: dict[tuple[int, str], list[KnownRange]] = defaultdict(list)
    for partition, some in rejected.items():
        for each in some:
            by_file[partition, each.source_file].append(each)
    names = pa.array(sorted({name for _, name in by_file}), pa.string())
    columns = ["offsets_partition", "kind", "source_file"]
    files = rows.select(columns).filter(pc.is_in(rows["source_file"].cast(pa.string()), value_set=names))
    by_copy: dict[tuple[int, str], list[KnownRange]] = defaultdict(list)
    for row in files.group_by(columns).aggregate([]).to_pylist():
        partition, file = row["offsets_partition"], row["source_file"]
        by_copy[partition, copy_of(row["kind"], file)] += by_file.get((partition, file), ())
    return by_copy
