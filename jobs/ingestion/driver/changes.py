"""Turns the results of tasks into the changes of the run: counts that add up, files per table, rows of
`source_files`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, TypeAlias

import pyarrow as pa

from jobs.ingestion.task.damaged_bytes import made_good_together
from jobs.ingestion.task.messages import NO_PARTITION, Counts, IngestResult, KnownRange, merged_facts
from jobs.ingestion.task.plan import Reading
from jobs.output.failure import Failure
from jobs.sources.archive_files import ArchiveFile
from jobs.sources.log_span import SpanFacts
from jobs.sources.segment_source import Marks, SegmentFile
from jobs.sources.unreadable import Unreadable
from jobs.warehouses.delta_tables import DataFile
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from udfs.arrays.arrow_schema import table_schema
from udfs.framing.rejected_ranges import RejectedRange
from udfs.log.offset_ranges import Range, join_ranges

Row = dict[str, Any]
Rows: TypeAlias = Sequence[Row] | pa.Table


@dataclass
class Outcome:
    """The combined results of all tasks of a run."""

    files: dict[str, list[DataFile]] = field(default_factory=dict)
    num_rows: Counter[str] = field(default_factory=Counter)
    counts: list[Row] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    unknown_tags: Counter[int] = field(default_factory=Counter)
    source_rows: list[Row] = field(default_factory=list)
    retracted_records: list[tuple[int, int, int | None]] = field(default_factory=list)
    retracted_ranges: list[tuple[str, int | None]] = field(default_factory=list)
    replaced: list[tuple[int, int, int]] = field(default_factory=list)
    conflicts: list[tuple[int, int]] = field(default_factory=list)
    damage: list[RejectedRange] = field(default_factory=list)
    # Rows of an archive that are not records of the offsets topic.
    num_other_topics: int = 0

    def total(self, name: str) -> int:
        return sum(int(row[name]) for row in self.counts)


def outcome_of(answers: Sequence[IngestResult], rejected: Mapping[int, Sequence[KnownRange]]) -> Outcome:
    """`rejected`: ranges of bytes from earlier runs. Raises the first failure that a task returned."""
    for each in answers:
        if each.failure is not None:
            raise Failure(*each.failure)
    outcome = Outcome(counts=counts_by_partition([counts for each in answers for counts in each.counts]))
    for each in answers:
        for name, file in each.files:
            outcome.files.setdefault(name, []).append(file)
        outcome.num_rows.update(each.num_rows)
        outcome.reasons.update(each.reasons)
        outcome.unknown_tags.update(each.unknown_tags)
        outcome.retracted_records += each.retracted_records
        outcome.retracted_ranges += each.retracted_ranges
        outcome.replaced += each.replaced
        outcome.conflicts += each.conflicts
        outcome.damage += each.damage
    # Without those of which none is left.
    outcome.reasons = +outcome.reasons
    gone = made_good_together(rejected, seen_by_partition(answers))
    outcome.retracted_ranges += sorted(gone.difference(outcome.retracted_ranges))
    outcome.damage.sort(key=lambda each: (each.source_file, each.rejected.byte_position))
    return outcome


def seen_by_partition(answers: Iterable[IngestResult]) -> dict[int, list[Range]]:
    by_partition: dict[int, list[Range]] = defaultdict(list)
    for each in answers:
        for partition, ranges in each.seen.items():
            by_partition[partition] += ranges
    return {partition: join_ranges(ranges) for partition, ranges in by_partition.items()}


def counts_by_partition(units: Iterable[Counts]) -> list[Row]:
    """One row per offsets partition, in the form of `ingest_counts` in `runs`."""
    rows = []
    for partition, group in groupby(sorted(units, key=unit_order), key=lambda unit: unit.partition):
        of = None if partition == NO_PARTITION else partition
        row: Row = {"offsets_partition": of, "read": 0, "decoded": 0, "rejected": 0, "already_known": 0, "damaged": 0}
        first = last = None
        gaps = 0
        for unit in group:
            row["decoded"] += unit.decoded
            row["rejected"] += unit.rejected
            row["already_known"] += unit.known
            row["read"] += unit.read
            row["damaged"] += unit.damaged
            gaps += unit.gaps
            if unit.first_offset is not None:
                if last is not None and unit.first_offset <= last:
                    raise overlap(partition, unit.first_offset, last)
                gaps += last is not None and unit.first_offset > last + 1
                first, last = unit.first_offset if first is None else first, unit.last_offset
        if row["read"] != row["decoded"] + row["rejected"] + row["already_known"]:
            raise Failure(
                ExitCode.FAILED, f"records of offsets partition {partition} do not add up: {row}, please report it"
            )
        rows.append(row | {"first_offset": first, "last_offset": last, "gaps": gaps})
    return rows


def unit_order(unit: Counts) -> tuple[int, int]:
    return unit.partition, -1 if unit.first_offset is None else unit.first_offset


def overlap(partition: int, first: int, last: int) -> Failure:
    line = f"offsets partition {partition}: segments overlap: one begins at offset {first}, the previous ends at {last}"
    return Failure(
        ExitCode.UNREADABLE_INPUT, f"{line}; put each broker's copy of the partition into a folder of its own"
    )


def source_rows(readings: Sequence[Reading], answers: Sequence[IngestResult], cluster: str, run_id: str) -> list[Row]:
    """Rows of `source_files` for segments."""
    facts = sorted(
        (each for answer in answers for each in answer.facts), key=lambda each: (each.source_file, each.start)
    )
    by_file = {name: merged_facts(list(parts)) for name, parts in groupby(facts, key=lambda each: each.source_file)}
    rows = []
    for reading in readings:
        whole = by_file[str(reading.file.path)]
        row = asdict(whole)
        row["read_from_position"], row["read_to_position"] = reading.start, row.pop("read_to")
        del row["start"], row["partition"]
        rows.append(row | about_segment(reading.file, cluster, run_id))
    return rows


def unchanged_rows(files: Iterable[SegmentFile], marks: Mapping[str, Marks], cluster: str, run_id: str) -> list[Row]:
    """Rows of `source_files` for unchanged segments, which were not read."""
    nothing = ("num_records", "num_batches", "num_tombstones", "num_delete_horizon_batches", "torn_tail_bytes")
    return [
        dict.fromkeys(nothing, 0)
        | {"source_file": str(file.path), "read_from_position": end, "read_to_position": end}
        | about_segment(file, cluster, run_id)
        for file in files
        for end in [marks[str(file.path)].read_to]
    ]


def skipped_rows(unreadable: Iterable[Unreadable], kind: str, cluster: str, run_id: str) -> list[Row]:
    """Rows of `source_files` for what was there and could not be read."""
    return [
        {
            "cluster": cluster,
            "run_id": run_id,
            "offsets_partition": each.offsets_partition,
            "source_file": each.path,
            "kind": kind,
            "skipped_reason": each.reason,
        }
        for each in unreadable
    ]


def about_segment(file: SegmentFile, cluster: str, run_id: str) -> Row:
    return {
        "cluster": cluster,
        "run_id": run_id,
        "offsets_partition": file.partition,
        "kind": "segments",
        "size_bytes": file.size,
        "modified_time": datetime.fromtimestamp(file.modified_ms / 1000, UTC),
    }


def archive_rows(files: Sequence[ArchiveFile], answers: Sequence[IngestResult], cluster: str, run_id: str) -> list[Row]:
    """Rows of `source_files` for an archive: one per offsets partition, or one without a partition if a file has no
    records of the topic."""
    by_file: dict[str, list[SpanFacts]] = {}
    for facts in (each for answer in answers for each in answer.facts):
        by_file.setdefault(facts.source_file, []).append(facts)
    return [
        {
            "cluster": cluster,
            "run_id": run_id,
            "offsets_partition": None if facts.partition == NO_PARTITION else facts.partition,
            "source_file": file.path,
            "kind": "records",
            "size_bytes": file.size_bytes,
            "modified_time": datetime.fromtimestamp(file.modified_ms / 1000, UTC),
            "first_offset": facts.first_offset,
            "last_offset": facts.last_offset,
            "num_records": facts.num_records,
            "num_tombstones": facts.num_tombstones,
        }
        for file in files
        for facts in by_file.get(file.path, [SpanFacts(file.path, 0, 0)])
    ]


def arrow_rows(table: str, rows: Rows) -> pa.Table:
    return rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows), table_schema(TABLES[table]))
