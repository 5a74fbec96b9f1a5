"""What a warehouse already has of a cluster's offsets log: an ingest needs this before it reads."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.command_line.values import EPOCH
from jobs.ingestion.task.messages import KnownRange
from jobs.ingestion.task.stored_rows import KnownFile
from jobs.sources.segment_source import Marks
from jobs.storage.places.together import done_together
from jobs.warehouses.delta_tables import files_of
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import SUBJECTS
from udfs.arrays.nullable import Flags, Positions, numbers
from udfs.log.offset_ranges import Range, join_by_group, join_ranges
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
    "skipped_reason",
]
RANGE_COLUMNS = [
    "cluster",
    "offsets_partition",
    "source_file",
    "byte_position",
    "size_bytes",
    "from_record_offset",
    "to_record_offset",
]

# Kinds: segments of a log, files of an archive, and what was fetched from a live log.
SEGMENTS, ARCHIVE, LIVE = "segments", "records", "kafka"


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


def state_of(warehouse: Warehouse, cluster: str, files: pa.Table | None) -> State:
    """`files`: rows of `source_files`, by run."""
    state = State()
    if files is not None:
        note_files(state, files)
    for row in rows_of_cluster(warehouse, REJECTED, RANGE_COLUMNS, cluster, "byte_position"):
        if row["byte_position"] is not None and row["offsets_partition"] is not None:
            partition = row.pop("offsets_partition")
            state.rejected.setdefault(partition, []).append(KnownRange(**row))
            if (first := row["from_record_offset"]) is not None:
                last = first if row["to_record_offset"] is None else row["to_record_offset"]
                state.ranges.setdefault(partition, []).append((first, last))
    state.ranges = {partition: join_ranges(ranges) for partition, ranges in state.ranges.items()}
    return state


def note_files(state: State, files: pa.Table) -> None:
    files = files.filter(files["skipped_reason"].is_null())
    for row in files.take(pa.array(telling_rows(files))).to_pylist():
        name = row["source_file"]
        if row["kind"] == SEGMENTS:
            state.marks[name] = marks_of(row, state.marks.get(name))
        elif row["kind"] == ARCHIVE:
            state.archives[name] = (row["size_bytes"], in_ms(row["modified_time"]))
        elif row["kind"] == LIVE:
            state.log_ids[row["offsets_partition"]] = row["file_id"]
    is_live = pc.equal(files["kind"], LIVE)
    has_offsets = pc.and_(files["first_offset"].is_valid(), files["offsets_partition"].is_valid())
    state.ranges = ranges_between(files.filter(has_offsets), "first_offset", "last_offset")
    of_files = files.filter(pc.and_(has_offsets, pc.invert(is_live)))
    state.of_files = ranges_between(of_files, "first_offset", "last_offset")
    # For a live log, positions are offsets.
    state.requested = ranges_between(files.filter(is_live), "read_from_position", "read_to_position", num_beyond=1)


def ranges_between(rows: pa.Table, first: str, last: str, num_beyond: int = 0) -> dict[int, list[Range]]:
    """By offsets partition. `num_beyond`: by how much `last` is beyond the end."""
    partitions = numbers(rows["offsets_partition"].cast(pa.int64()))
    return join_by_group(partitions, numbers(rows[first]), numbers(rows[last]) - num_beyond)


def telling_rows(files: pa.Table) -> Positions:
    """Rows that say what is known of each file now: a year of hourly runs has many of each. Of a segment the newest one
    that was read from its begin, else its first one, the newest one with a batch, and the newest one; of an archive's
    file and of a live log the newest one."""
    kinds = files["kind"].cast(pa.string())
    is_segment, is_archive, is_live = (
        pc.equal(kinds, kind).to_numpy().astype(np.bool_) for kind in (SEGMENTS, ARCHIVE, LIVE)
    )
    names = codes_of(files["source_file"])
    is_whole = is_segment & (numbers(files["read_from_position"]) <= 0)
    has_batch = is_segment & files["last_batch_position"].is_valid().to_numpy()
    places = [
        np.maximum(newest(names, is_whole), oldest(names, is_segment)),
        newest(names, has_batch),
        newest(names, is_segment),
        newest(names, is_archive),
        newest(codes_of(files["offsets_partition"]), is_live),
    ]
    rows = np.unique(np.concatenate(places))
    return rows[rows >= 0]


def codes_of(column: pa.ChunkedArray) -> Positions:
    """NULL has the last code."""
    indices = column.combine_chunks().dictionary_encode().indices
    return np.asarray(indices.fill_null(len(column)).to_numpy(), np.intp)


def newest(codes: Positions, is_chosen: Flags) -> Positions:
    """By code the last place of the chosen ones; -1: none."""
    return last_by_code(codes, np.flatnonzero(is_chosen))


def oldest(codes: Positions, is_chosen: Flags) -> Positions:
    """By code the first place of the chosen ones; -1: none."""
    return last_by_code(codes, np.flatnonzero(is_chosen)[::-1])


def last_by_code(codes: Positions, places: Positions) -> Positions:
    by_code = np.full(codes.max(initial=-1) + 1, -1, np.intp)
    # Of equal codes the last one stays.
    by_code[codes[places]] = places
    return by_code


def table_of_cluster(warehouse: Warehouse, name: str, columns: list[str], cluster: str, order: str) -> pa.Table | None:
    table = warehouse.rows(name, columns)
    if table is None:
        return None
    return table.filter(pc.equal(table.column("cluster"), cluster)).sort_by(order).drop_columns("cluster")


def rows_of_cluster(
    warehouse: Warehouse, name: str, columns: list[str], cluster: str, order: str
) -> list[dict[str, Any]]:
    table = table_of_cluster(warehouse, name, columns, cluster, order)
    return [] if table is None else [dict(row) for row in table.to_pylist()]


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


DECODED = tuple(table.name for table in SUBJECTS["decoded"])


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
