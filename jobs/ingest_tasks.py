"""What a task of an ingest does: reads its units, decodes them and writes files of all tables in one pass.

It runs in a worker of Spark, which knows neither the driver's objects nor Java; what it is told and what it answers are
plain data. A failure that a user can act on is an answer too: Spark would wrap an exception in pages of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jobs.copies import Copy, RejectedRange, SpanFacts
from jobs.delta_tables import DataFile
from jobs.failpoints import failpoint
from jobs.failure import Failure
from jobs.ingest_plan import Unit
from jobs.known_rows import KnownFile, KnownRows, known_rows
from jobs.table_files import TableFile
from schemas.exit_codes import ExitCode
from schemas.tables import TABLES
from udfs.decoding.decode import decode
from udfs.framing.framed import Records
from udfs.known import REJECTED, Contradiction, merge
from udfs.tables.origin import Origin
from udfs.tables.shape import Shaper, rejected_ranges

PIECE_BYTES = 16 << 20
# Copies are read side by side, each with a piece in memory.
PIECE_BYTES_OF_COPIES = 1 << 20
MOST_RECORDS = 262_144
# Of lines that do not say which partition they are of.
NO_PARTITION = -1
MOST_BYTES = 48 << 20


@dataclass(frozen=True)
class KnownRange:
    """A range of bytes that an earlier run rejected."""

    source_file: str
    byte_position: int
    size_bytes: int
    from_offset: int | None
    to_offset: int | None


@dataclass(frozen=True)
class Assignment:
    """What all tasks of a run are told."""

    root: Path
    cluster: str
    run_id: str
    known_files: dict[str, list[KnownFile]]
    known_ranges: dict[int, list[KnownRange]]


@dataclass
class Counts:
    """Of one unit; `first_offset` to `last_offset` with `gaps` stretches missing between."""

    partition: int
    read: int = 0
    decoded: int = 0
    rejected: int = 0
    known: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    gaps: int = 0


@dataclass
class Answer:
    files: dict[str, DataFile] = field(default_factory=dict)
    facts: list[SpanFacts] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    # By partition, offset and leader epoch, and by file and position: rows of rejected_records that go.
    retracted_records: list[tuple[int, int, int | None]] = field(default_factory=list)
    retracted_ranges: list[tuple[str, int]] = field(default_factory=list)
    # Partition and offset where two leader epochs wrote different records.
    conflicts: list[tuple[int, int]] = field(default_factory=list)
    failure: tuple[int, str] | None = None


def answer(assignment: Assignment, units: tuple[Unit, ...]) -> Answer:
    def take_on(task: "Task") -> None:
        for unit in units:
            task.take_on(unit)

    return guarded_answer(assignment, take_on)


def guarded_answer(assignment: Assignment, take_on: Callable[["Task"], None]) -> Answer:
    """What a task makes of its share, or why it could not."""
    pa.set_cpu_count(1)
    task = Task(assignment)
    try:
        take_on(task)
        task.finish()
    except Failure as failure:
        task.abandon()
        return Answer(failure=(failure.code, str(failure)))
    except OSError as error:
        task.abandon()
        told = f"{error.filename}: {error.strerror or error}"
        return Answer(failure=(failure_code(error, assignment.root), told))
    return task.answer


def failure_code(error: OSError, root: Path) -> int:
    is_ours = error.filename is None or Path(str(error.filename)).is_relative_to(root)
    return ExitCode.UNUSABLE_WAREHOUSE if is_ours else ExitCode.UNREADABLE_INPUT


class Task:
    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.answer = Answer()
        self.shaper = Shaper()
        self.files: dict[str, TableFile] = {}

    def take_on(self, unit: Unit) -> None:
        is_alone = len(unit.copies) == 1
        copies = [Copy(spans, PIECE_BYTES if is_alone else PIECE_BYTES_OF_COPIES) for spans in unit.copies]
        counts = Counts(unit.partition)
        self.answer.counts.append(counts)
        if is_alone and not unit.may_be_known:
            self.copy_through(copies[0], counts)
            ranges = self.unknown_ranges(copies, unit.partition, [], counts)
        else:
            ranges = self.merge(copies, unit, counts)
        counts.read += sum(len(copy.ranges) for copy in copies)
        self.write_ranges(ranges, counts)
        for copy in copies:
            self.note_facts(copy.facts, unit.partition)

    def note_facts(self, found: Iterable[SpanFacts], partition: int) -> None:
        self.answer.facts += [replace(facts, partition=partition) for facts in found]

    def copy_through(self, copy: Copy, counts: Counts) -> None:
        for records in copy.records():
            counts.read += len(records)
            note_offsets(counts, records.offset)
            for chunk in chunks(records):
                for name, rows in self.rows(chunk, counts.partition).items():
                    self.write(name, rows, counts)

    def merge(self, copies: list[Copy], unit: Unit, counts: Counts) -> list[RejectedRange]:
        """The ranges that no copy makes good."""
        known = self.known_rows(unit.partition, unit.first)
        decoded: list[tuple[int, int]] = []
        for last, parts in windows([chunks_of(copy) for copy in copies]):
            try:
                decoded += self.merge_window(known.take_until(last), [(part, True) for part in parts], counts)
            except Contradiction as contradiction:
                names = [facts.source_file for copy in copies for facts in copy.facts]
                raise other_log(names, unit.partition, contradiction) from None
        return self.unknown_ranges(copies, unit.partition, decoded, counts)

    def known_rows(self, partition: int, first: int) -> KnownRows:
        return known_rows(self.assignment.known_files, TABLES, self.assignment.cluster, partition, first)

    def merge_window(
        self, held: dict[str, pa.Table], parts: list[tuple[Records, bool]], counts: Counts
    ) -> list[tuple[int, int]]:
        """Writes what is new of a stretch of offsets; `parts` are copies of it, and whether they know producers. The
        stretches of offsets that are decoded, here or there."""
        counts.read += sum(len(records) for records, _ in parts)
        of_copies = [self.rows(records, counts.partition, has_producers) for records, has_producers in parts]
        merged = merge(held, of_copies)
        note_offsets(counts, np.unique(np.concatenate([records.offset for records, _ in parts])))
        for name, rows in merged.new.items():
            self.write(name, rows, counts)
        counts.known += merged.num_known
        self.answer.retracted_records += [(counts.partition, *key) for key in merged.retracted]
        self.answer.conflicts += [(counts.partition, offset) for offset in merged.conflicts]
        return runs_of(decoded_offsets([held, *of_copies]))

    def unknown_ranges(
        self, copies: list[Copy], partition: int, decoded: list[tuple[int, int]], counts: Counts
    ) -> list[RejectedRange]:
        ranges = [found for copy in copies for found in copy.ranges]
        earlier = self.assignment.known_ranges.get(partition, [])
        known_places = {(each.source_file, each.byte_position) for each in earlier}
        again = {(each.source_file, each.rejected.byte_position) for each in ranges}
        read = {facts.source_file: (facts.start, facts.read_to) for copy in copies for facts in copy.facts}
        for each in earlier:
            start, end = read.get(each.source_file, (0, 0))
            is_gone = start <= each.byte_position < end and (each.source_file, each.byte_position) not in again
            if is_gone or is_made_good(each.from_offset, each.to_offset, decoded):
                self.answer.retracted_ranges.append((each.source_file, each.byte_position))
        unknown = [
            each
            for each in ranges
            if (each.source_file, each.rejected.byte_position) not in known_places
            and not is_made_good(each.from_offset, each.to_offset, decoded)
        ]
        counts.known += len(ranges) - len(unknown)
        return unknown

    def rows(self, records: Records, partition: int, has_producers: bool = True) -> dict[str, pa.Table]:
        origin = Origin(self.assignment.cluster, partition, self.assignment.run_id, has_producers)
        return self.shaper.tables(records, decode(records.keys, records.values, records.is_control), origin)

    def write_ranges(self, ranges: list[RejectedRange], counts: Counts) -> None:
        origin = Origin(self.assignment.cluster, counts.partition, self.assignment.run_id)
        for each in ranges:
            rows = rejected_ranges([each.rejected], each.source_file, origin)
            for name in ("from_offset", "to_offset"):
                place = rows.schema.get_field_index(name)
                value = pa.array([getattr(each, name)], rows.schema.field(place).type)
                rows = rows.set_column(place, rows.schema.field(place), value)
            self.write(REJECTED, rows, counts)

    def write(self, name: str, rows: pa.Table, counts: Counts) -> None:
        if name == REJECTED:
            counts.rejected += rows.num_rows
            for reason in rows.column("reason").to_pylist():
                self.answer.reasons[reason] = self.answer.reasons.get(reason, 0) + 1
        else:
            counts.decoded += rows.num_rows
        if name not in self.files:
            self.files[name] = TableFile(self.assignment.root / name, TABLES[name], self.assignment.run_id)
        self.files[name].write(rows, counts.partition)

    def finish(self) -> None:
        for name, file in self.files.items():
            if (done := file.close()) is not None:
                self.answer.files[name] = done
                failpoint("file_written", name)

    def abandon(self) -> None:
        for file in self.files.values():
            file.abandon()


def chunks_of(copy: Copy) -> Iterator[Records]:
    for records in copy.records():
        yield from chunks(records)


def chunks(records: Records) -> Iterator[Records]:
    """As many records at a time as are decoded best together, fewer when they are long."""
    ends = np.cumsum(records.keys.length.clip(0) + records.values.length.clip(0), dtype=np.int64)
    if len(records) <= MOST_RECORDS and ends[-1] <= MOST_BYTES:
        yield records
        return
    start = 0
    while start < len(records):
        begun = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, begun + MOST_BYTES, side="right"))
        stop = min(max(stop, start + 1), start + MOST_RECORDS)
        yield sliced(records, start, stop)
        start = stop


def sliced(records: Records, start: int, stop: int) -> Records:
    return records.take(np.arange(start, stop))


def windows(copies: list[Iterator[Records]]) -> Iterator[tuple[int, list[Records]]]:
    """Stretches of offsets that every copy has been read up to: the last offset, and the records of each copy."""
    waiting = {number: first for number, copy in enumerate(copies) if (first := next(copy, None)) is not None}
    while waiting:
        last = min(int(records.offset[-1]) for records in waiting.values())
        parts = []
        for number, records in list(waiting.items()):
            stop = int(np.searchsorted(records.offset, last, side="right"))
            if stop:
                parts.append(sliced(records, 0, stop))
            rest = sliced(records, stop, len(records)) if stop < len(records) else next(copies[number], None)
            if rest is None:
                del waiting[number]
            else:
                waiting[number] = rest
        yield last, parts


def note_offsets(counts: Counts, offsets: NDArray[np.int64]) -> None:
    """Offsets rise from call to call."""
    if counts.last_offset is None:
        counts.first_offset = int(offsets[0])
    elif offsets[0] > counts.last_offset + 1:
        counts.gaps += 1
    counts.gaps += int(np.count_nonzero(np.diff(offsets) > 1))
    counts.last_offset = int(offsets[-1])


def decoded_offsets(sources: list[dict[str, pa.Table]]) -> NDArray[np.int64]:
    found = [
        rows.column("record_offset").to_numpy()
        for source in sources
        for name, rows in source.items()
        if name != REJECTED
    ]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def runs_of(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """First and last of each stretch without a gap."""
    if not len(offsets):
        return []
    cuts = np.flatnonzero(np.diff(offsets) > 1) + 1
    bounds = [0, *cuts.tolist(), len(offsets)]
    return [(int(offsets[start]), int(offsets[stop - 1])) for start, stop in pairwise(bounds)]


def is_made_good(first: int | None, last: int | None, decoded: list[tuple[int, int]]) -> bool:
    """Whether another copy gave a record that the range may have held."""
    if first is None:
        return False
    last = first if last is None else last
    return any(begin <= last and first <= end for begin, end in decoded)


def other_log(names: Iterable[str], partition: int, contradiction: Contradiction) -> Failure:
    told = f"{min(names)}: not of the log that the warehouse or another copy holds, {contradiction}"
    return Failure(ExitCode.UNREADABLE_INPUT, f"{told} (partition {partition}): use another --cluster")


def merged_facts(parts: list[SpanFacts]) -> SpanFacts:
    """Of a whole file, from those of its parts in order."""
    whole = replace(parts[0])
    for part in parts[1:]:
        for name in ("num_records", "num_batches", "num_tombstones", "num_delete_horizon_batches", "torn_tail_bytes"):
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.read_to = part.read_to
        whole.first_offset = part.first_offset if whole.first_offset is None else whole.first_offset
        for name in ("last_offset", "last_batch_position", "last_batch_crc"):
            value = getattr(part, name)
            setattr(whole, name, getattr(whole, name) if value is None else value)
    return whole
