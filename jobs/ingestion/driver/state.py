"""What a warehouse already has of a cluster's offsets log: an ingest needs this before it reads."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow.compute as pc

from jobs.command_line.flags import EPOCH
from jobs.ingestion.task.messages import KnownRange
from jobs.ingestion.task.stored_rows import KnownFile
from jobs.sources.segment_source import Marks
from jobs.storage.places.together import done_together
from jobs.warehouses.delta_tables import files_of
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import decoded_records
from udfs.log.offset_ranges import Range, join_ranges
from udfs.rows.merge_copies import REJECTED

FILE_COLUMNS = [
    "cluster",
    "run_id",
    "offsets_partition",
    "source_file",
    "kind",
    "size_bytes",
    "modified_time",
    "first_offset",
    "last_offset",
    "read_from_position",
    "read_to_position",
    "first_batch_crc",
    "last_batch_position",
    "last_batch_crc",
    "file_id",
]
RANGE_COLUMNS = [
    "cluster",
    "offsets_partition",
    "source_file",
    "byte_position",
    "size_bytes",
    "from_offset",
    "to_offset",
]

# The kind for what was fetched from a live log.
LIVE = "kafka"


@dataclass
class State:
    """`marks` and `archives` (size, time): by file. By offsets partition: `ranges` of offsets that earlier runs read;
    `of_files`, those of them from files; `asked`, ranges that were requested from live logs, and what identifies the
    log; `intact`, offsets that some copy has undamaged."""

    marks: dict[str, Marks] = field(default_factory=dict)
    archives: dict[str, tuple[int, int]] = field(default_factory=dict)
    ranges: dict[int, list[Range]] = field(default_factory=dict)
    rejected: dict[int, list[KnownRange]] = field(default_factory=dict)
    of_files: dict[int, list[Range]] = field(default_factory=dict)
    requested: dict[int, list[Range]] = field(default_factory=dict)
    log_ids: dict[int, str] = field(default_factory=dict)
    intact: dict[int, list[Range]] = field(default_factory=dict)


def state_of(warehouse: Warehouse, cluster: str) -> State:
    state = State()
    for row in rows_of_cluster(warehouse, "source_files", FILE_COLUMNS, cluster, "run_id"):
        name = row["source_file"]
        if row["kind"] == "segments":
            state.marks[name] = marks_of(row, state.marks.get(name))
        elif row["kind"] == "records":
            state.archives[name] = (row["size_bytes"], in_ms(row["modified_time"]))
        elif row["kind"] == LIVE:
            state.requested.setdefault(row["offsets_partition"], []).append(requested_range(row))
            state.log_ids[row["offsets_partition"]] = row["file_id"]
        if row["first_offset"] is not None and row["offsets_partition"] is not None:
            bounds = (row["first_offset"], row["last_offset"])
            state.ranges.setdefault(row["offsets_partition"], []).append(bounds)
            if row["kind"] != LIVE:
                state.of_files.setdefault(row["offsets_partition"], []).append(bounds)
    for row in rows_of_cluster(warehouse, REJECTED, RANGE_COLUMNS, cluster, "byte_position"):
        if row["byte_position"] is not None and row["offsets_partition"] is not None:
            partition = row.pop("offsets_partition")
            state.rejected.setdefault(partition, []).append(KnownRange(**row))
            if (first := row["from_offset"]) is not None:
                last = first if row["to_offset"] is None else row["to_offset"]
                state.ranges.setdefault(partition, []).append((first, last))
    for name in ("ranges", "of_files", "requested"):
        setattr(state, name, {partition: join_ranges(ranges) for partition, ranges in getattr(state, name).items()})
    return state


def requested_range(row: dict[str, Any]) -> Range:
    """For a live log, positions are offsets."""
    return row["read_from_position"], row["read_to_position"] - 1


def rows_of_cluster(
    warehouse: Warehouse, name: str, columns: list[str], cluster: str, order: str
) -> list[dict[str, Any]]:
    table = warehouse.rows(name, columns)
    if table is None:
        return []
    table = table.filter(pc.equal(table.column("cluster"), cluster)).sort_by(order).drop_columns("cluster")
    return [dict(row) for row in table.to_pylist()]


def marks_of(row: dict[str, Any], before: Marks | None) -> Marks:
    """A run that continued to read a grown file has no information about its beginning, nor about batches if it found
    none."""
    marks = Marks(
        size=row["size_bytes"],
        modified_ms=in_ms(row["modified_time"]),
        read_to=row["read_to_position"],
        last_offset=row["last_offset"],
        first_batch_crc=row["first_batch_crc"],
        last_batch_position=row["last_batch_position"],
        last_batch_crc=row["last_batch_crc"],
    )
    if before is None or not row["read_from_position"]:
        return marks
    marks = replace(marks, first_batch_crc=before.first_batch_crc)
    if marks.last_batch_position is None:
        kept = {name: getattr(before, name) for name in ("last_offset", "last_batch_position", "last_batch_crc")}
        marks = replace(marks, **kept)
    return marks


def in_ms(time: datetime) -> int:
    return (time - EPOCH) // timedelta(milliseconds=1)


DECODED = tuple(table.name for table in decoded_records.TABLES)


def known_files(warehouse: Warehouse, tables: Iterable[str] = DECODED) -> dict[str, list[KnownFile]]:
    """Files of decoded tables, by the offsets partitions in Delta's statistics."""
    by_table: dict[str, list[KnownFile]] = {}
    versions = warehouse.versions()
    names = [name for name in tables if name in versions]
    opened = done_together(warehouse.root, lambda name: warehouse.open_at(name, versions[name]), names)
    for name, delta in zip(names, opened, strict=True):
        assert delta is not None, f"{name}: Delta version {versions[name]} does not exist"
        files = files_of(delta)
        if not files.num_rows:
            continue
        low, high = (pc.struct_field(files.column(side), "offsets_partition") for side in ("min", "max"))
        by_table[name] = [
            KnownFile(warehouse.path(name) / path, first, last)
            for path, first, last in zip(
                files.column("path").to_pylist(), low.to_pylist(), high.to_pylist(), strict=True
            )
            # A file that has only ranges without a partition.
            if first is not None
        ]
    return by_table
