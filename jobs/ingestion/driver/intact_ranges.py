"""Offset ranges that the warehouse has read undamaged. If another copy lacks a record there, compaction removed it; it
is not lost."""

from collections import defaultdict
from dataclasses import replace

from jobs.ingestion.driver.covered_ranges import COLUMNS, Row, archive_of, folder_of, ranges_of
from jobs.ingestion.driver.state import LIVE, State, rows_of_cluster, state_of
from jobs.ingestion.task.damaged_bytes import without_damaged
from jobs.warehouses.warehouse import Warehouse
from udfs.log.offset_ranges import Range, join_ranges


def state_with_intact(warehouse: Warehouse, cluster: str) -> State:
    state = state_of(warehouse, cluster)
    return replace(state, intact=intact_ranges(warehouse, cluster, state))


def intact_ranges(warehouse: Warehouse, cluster: str, state: State) -> dict[int, list[Range]]:
    copies: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in rows_of_cluster(warehouse, "source_files", COLUMNS, cluster, "run_id"):
        if row["offsets_partition"] is not None:
            copies[row["offsets_partition"], copy_of(row)].append(row)
    by_partition: dict[int, list[Range]] = defaultdict(list)
    for (partition, _), rows in copies.items():
        names = {row["source_file"] for row in rows}
        damaged = [each for each in state.rejected.get(partition, ()) if each.source_file in names]
        by_partition[partition] += without_damaged(ranges_of(rows), damaged)
    return {partition: join_ranges(ranges) for partition, ranges in by_partition.items()}


def copy_of(row: Row) -> str:
    name = str(row["source_file"])
    if row["kind"] == LIVE:
        return name
    return folder_of(name) if row["kind"] == "segments" else archive_of(name)
