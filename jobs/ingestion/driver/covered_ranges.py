"""Which offsets of each offsets partition were read, by the rows of `source_files`.

An offset without a record inside such a range was removed by compaction, or was in damaged bytes. Offsets outside were
never read. All is computed in columns: a year of hourly runs has hundreds of thousands of rows.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.ingestion.driver.damaged_ranges import damaged_ranges
from jobs.ingestion.driver.state import LIVE, SEGMENTS, table_of_cluster
from jobs.sources.unreadable import unpacked_name
from jobs.warehouses.warehouse import Warehouse
from udfs.arrays.nullable import NONE, Numbers, first_of, numbers
from udfs.log.offset_ranges import Range, join_by_group, join_ranges, running_most

COLUMNS = [
    "cluster", "run_id", "offsets_partition", "source_file", "kind", "first_offset", "last_offset",
    "read_from_position", "read_to_position", "skipped_reason",
]  # fmt: skip
# A segment's name is the first offset that it may contain.
SEGMENT = re.compile(r"(\d{20})\.log$")
MOST = 2**63 - 1


def covered_ranges(warehouse: Warehouse, cluster: str) -> dict[int, list[Range]]:
    rows = table_of_cluster(warehouse, "source_files", COLUMNS, cluster, "run_id")
    if rows is None:
        return {}
    read, damage = read_ranges(rows), damaged_ranges(warehouse, cluster)
    by_partition = join_by_group(read.partitions, read.firsts, read.lasts)
    damaged = {
        partition: [(each.first_offset, each.last_offset) for each in some] for partition, some in damage.items()
    }
    return {
        partition: join_ranges([*by_partition.get(partition, ()), *damaged.get(partition, ())])
        for partition in sorted(pc.unique(rows_read(rows)["offsets_partition"]).drop_null().to_pylist())
    }


@dataclass(frozen=True)
class ReadRanges:
    """`copies`: for each range the place in `names` of the copy it was read from: a folder of segments, an archive, or
    a live log."""

    partitions: Numbers
    copies: Numbers
    firsts: Numbers
    lasts: Numbers
    names: list[str]


@dataclass(frozen=True)
class FileRows:
    """Rows of one kind of source. `files`: places in the list of distinct names, `copies` likewise."""

    rows: pa.Table
    partitions: Numbers
    files: Numbers
    copies: Numbers
    names: Sequence[str]

    def numbers(self, column: str) -> Numbers:
        return numbers(self.rows[column])


def read_ranges(rows: pa.Table) -> ReadRanges:
    """`rows` by run."""
    holes = holes_of(rows)
    rows = rows_read(rows)
    rows = rows.filter(pc.is_valid(rows["offsets_partition"]))
    copies: dict[str, int] = {}
    kinds = rows["kind"].cast(pa.string())
    is_live, is_segment = pc.equal(kinds, LIVE), pc.equal(kinds, SEGMENTS)
    is_archive = pc.invert(pc.or_(is_live, is_segment))
    parts = [
        of_live(file_rows(rows.filter(is_live), copies, str)),
        of_segments(file_rows(rows.filter(is_segment), copies, folder_of), holes),
        of_archives(file_rows(rows.filter(is_archive), copies, archive_of), holes),
    ]
    partitions, places, firsts, lasts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return ReadRanges(partitions, places, firsts, lasts, [*copies])


def rows_read(rows: pa.Table) -> pa.Table:
    return rows.filter(rows["skipped_reason"].is_null())


@dataclass(frozen=True)
class Holes:
    """What could not be read. `segments`: by offsets partition, folder and run, the first offsets of segments.
    `archives`: of which some file was never read since."""

    segments: Mapping[tuple[int | None, str, str], Sequence[int]]
    archives: frozenset[str]


def holes_of(rows: pa.Table) -> Holes:
    """Mostly, there are none."""
    skipped = rows.filter(rows["skipped_reason"].is_valid()).to_pylist()
    if not skipped:
        return Holes({}, frozenset())
    segments: dict[tuple[int | None, str, str], list[int]] = {}
    left = {row["source_file"]: row["run_id"] for row in skipped if row["kind"] != SEGMENTS}
    of_left = rows_read(rows).filter(
        pc.is_in(rows_read(rows)["source_file"].cast(pa.string()), pa.array(list(left), pa.string()))
    )
    for row in of_left.to_pylist():
        if row["run_id"] > left.get(row["source_file"], row["run_id"]):
            del left[row["source_file"]]
    for row in skipped:
        if row["kind"] == SEGMENTS and (base := base_of(unpacked_name(row["source_file"]))) != NONE:
            place = row["offsets_partition"], folder_of(row["source_file"]), row["run_id"]
            segments.setdefault(place, []).append(base)
    return Holes(segments, frozenset(map(archive_of, left)))


def file_rows(rows: pa.Table, copies: dict[str, int], copy_of: Callable[[str], str]) -> FileRows:
    encoded = rows["source_file"].cast(pa.string()).combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    of_name = np.array([copies.setdefault(copy_of(name), len(copies)) for name in names], np.int64)
    files = np.asarray(encoded.indices.to_numpy(), np.int64)
    partitions = numbers(rows["offsets_partition"].cast(pa.int64()))
    return FileRows(rows, partitions, files, of_name[files], names)


Columns = tuple[Numbers, Numbers, Numbers, Numbers]


def of_live(live: FileRows) -> Columns:
    """For a live log, positions are offsets."""
    firsts, ends = live.numbers("read_from_position"), live.numbers("read_to_position")
    has_read = ends > firsts
    return live.partitions[has_read], live.copies[has_read], firsts[has_read], ends[has_read] - 1


def of_archives(archives: FileRows, holes: Holes) -> Columns:
    """Between the files of one archive nothing is missing, except records that archives leave out, such as markers; if
    a file could not be read, each of the others counts only for the offsets that it has."""
    is_torn = np.array([archive_of(name) in holes.archives for name in archives.names], np.bool_)[archives.files]
    firsts, lasts = archives.numbers("first_offset"), archives.numbers("last_offset")
    begins, ends = np.where(firsts == NONE, MOST, firsts), np.where(firsts == NONE, NONE, lasts)
    return spans(archives, begins, ends, np.where(is_torn, archives.files + 1, 0))


def of_segments(segments: FileRows, holes: Holes) -> Columns:
    """Segments of one folder that a run read follow each other, but for one between them that could not be read. A file
    that was there before was read from the offset it had reached."""
    firsts, lasts = segments.numbers("first_offset"), segments.numbers("last_offset")
    base = np.array([base_of(name) for name in segments.names], np.int64)[segments.files]
    reached = reached_before(segments, lasts)
    goes_on = (segments.numbers("read_from_position") > 0) & (reached != NONE)
    begins = np.where(goes_on, np.minimum(reached, MOST - 1) + 1, np.where(base != NONE, base, firsts))
    # The previous segment ends where this one begins, even if this one has no records yet.
    ends = np.maximum(np.where(base != NONE, base - 1, NONE), lasts)
    encoded = segments.rows["run_id"].cast(pa.string()).combine_chunks().dictionary_encode()
    runs, names = np.asarray(encoded.indices.to_numpy(), np.int64), encoded.dictionary.to_pylist()
    for (partition, folder, run), bases in holes.segments.items():
        if run in names:
            folders = np.array([folder_of(name) == folder for name in segments.names], np.bool_)[segments.files]
            is_there = (segments.partitions == partition) & folders & (runs == names.index(run))
            # Parts of a run that do not follow each other count as several.
            beyond = np.searchsorted(np.sort(np.array(bases)), base, side="right")
            runs = np.where(is_there, len(names) * (beyond + 1) + runs, runs)
    return spans(segments, np.where(begins == NONE, MOST, begins), ends, runs)


def base_of(name: str) -> int:
    match = SEGMENT.search(name)
    return NONE if match is None else min(int(match[1]), MOST)


def reached_before(segments: FileRows, lasts: Numbers) -> Numbers:
    """The last offset that earlier rows of the same file have; NONE where there is none."""
    order = np.lexsort((segments.files, segments.partitions))
    files, partitions = segments.files[order], segments.partitions[order]
    begins = first_of(files) | first_of(partitions)
    most = running_most(begins, lasts[order])
    reached = np.full(len(lasts), NONE)
    reached[order[1:]] = np.where(begins[1:], NONE, most[:-1])
    return reached


def spans(rows: FileRows, begins: Numbers, ends: Numbers, runs: Numbers | None = None) -> Columns:
    """From the lowest begin to the highest end of each copy, or of what one run read of it."""
    runs = np.zeros(len(begins), np.int64) if runs is None else runs
    order = np.lexsort((runs, rows.copies, rows.partitions))
    keys = rows.partitions[order], rows.copies[order], runs[order]
    starts = np.flatnonzero(np.logical_or.reduce([first_of(key) for key in keys]))
    if not len(starts):
        return (np.empty(0, np.int64),) * 4
    firsts, lasts = np.minimum.reduceat(begins[order], starts), np.maximum.reduceat(ends[order], starts)
    is_range = (lasts >= firsts) & (lasts != NONE)
    return keys[0][starts][is_range], keys[1][starts][is_range], firsts[is_range], lasts[is_range]


def copy_of(kind: str, file: str) -> str:
    if kind == LIVE:
        return file
    return folder_of(file) if kind == SEGMENTS else archive_of(file)


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def archive_of(path: str) -> str:
    """The archive's folder, without subfolders such as date=2026-11-21."""
    parts = path.split("/")[:-1]
    while parts and "=" in parts[-1]:
        parts.pop()
    return "/".join(parts)
