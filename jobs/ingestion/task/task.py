"""An ingest task: reads its units, decodes them, and writes files of all tables in one pass.

It may run in a Spark worker, which has neither the driver's objects nor Java, so its input and its result are plain
data. A failure that a user can act on is a result too: Spark would bury an exception in pages of its own text.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.task import Closing
from jobs.ingestion.task.broken_lines import NO_LINES, sort_out_lines, with_lines, without_lines
from jobs.ingestion.task.copies import Copy
from jobs.ingestion.task.damaged_bytes import sort_out
from jobs.ingestion.task.messages import Counts, IngestInput, IngestResult
from jobs.ingestion.task.plan import PartitionSpan
from jobs.ingestion.task.stored_rows import KnownRows, known_rows
from jobs.ingestion.task.windows import note_offsets, read_offsets, runs_of, runs_replaced, windows
from jobs.output.failure import Failure, os_error_line
from jobs.processes.freed_memory import keep_memory
from jobs.sources.log_span import SpanFacts
from jobs.sources.segment_files import Span
from jobs.storage.places.place import Place
from jobs.warehouses.table_files import RowFiles, Waiting
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from udfs.decoding.decode import decode
from udfs.framing.log_bytes.framed_records import Records
from udfs.framing.rejected_ranges import RejectedRange
from udfs.groups.misplaced_folders import ENOUGH_GROUPS
from udfs.log.offset_ranges import Range, join_ranges
from udfs.rows.merge_copies import REJECTED, Contradiction, MergedRows, merge
from udfs.rows.origin import Origin
from udfs.rows.shape import Shaper, rejected_ranges

PIECE_BYTES = 16 << 20
# Copies are read side by side, each with a piece in memory.
PIECE_BYTES_OF_COPIES = 1 << 20

# What a task does with a share, piece by piece.
Steps = Callable[["Task"], Iterator[None]]


def run_task(
    assignment: IngestInput,
    steps: Callable[[Sequence[PartitionSpan], "Task"], Iterator[None]],
    units: tuple[PartitionSpan, ...],
) -> IngestResult | Closing[IngestResult]:
    return guarded_answer(assignment, partial(steps, units))


def unit_steps(units: Iterable[PartitionSpan], task: "Task") -> Iterator[None]:
    for unit in units:
        yield from task.take_on(unit)


def guarded_answer(assignment: IngestInput, steps: Steps) -> IngestResult | Closing[IngestResult]:
    """Does the share and writes table files; returns a failure if that is not possible."""
    pa.set_cpu_count(1)
    keep_memory()
    task = Task(assignment)
    try:
        for _ in steps(task):
            pass
        task.answer.files, wait = task.files.closing()
        return Closing(partial(task.finish, wait))
    except (Failure, OSError) as error:
        return task.failure_result(error)


def failure_code(error: OSError, root: Place) -> int:
    is_ours = error.filename is None or is_below(str(error.filename), root)
    return ExitCode.UNUSABLE_WAREHOUSE if is_ours else ExitCode.UNREADABLE_INPUT


def is_below(name: str, root: Place) -> bool:
    return name == str(root) or name.startswith(f"{str(root).rstrip('/')}/")


class Task:
    def __init__(self, assignment: IngestInput) -> None:
        self.input = assignment
        self.files = RowFiles(assignment.root, assignment.run_id)
        self.answer = IngestResult()
        self.shaper = Shaper()
        # Of the segments that are being read; none for other sources.
        self.folders: tuple[str, ...] = ()

    def take_on(self, unit: PartitionSpan) -> Iterator[None]:
        is_alone = len(unit.copies) == 1
        piece_bytes = PIECE_BYTES if is_alone else PIECE_BYTES_OF_COPIES
        copies = [Copy(spans, piece_bytes) for spans in unit.copies]
        self.folders = folders_of(unit)
        counts = Counts(unit.partition)
        self.answer.counts.append(counts)
        if is_alone and not unit.may_be_known:
            yield from self.copy_through(copies[0], counts)
            ranges = self.sort_out_ranges(ranges_of(copies), read_of(copies), copies[0].intact(), counts)
        else:
            ranges = yield from self.merge(copies, unit, counts)
        counts.read += sum(len(copy.ranges) for copy in copies)
        self.write_ranges(ranges, counts)
        for copy in copies:
            self.note_facts(copy.facts, unit.partition)

    def note_facts(self, all_facts: Iterable[SpanFacts], partition: int) -> None:
        self.answer.facts += [replace(facts, partition=partition) for facts in all_facts]

    def copy_through(self, copy: Copy, counts: Counts) -> Iterator[None]:
        for chunk in copy.chunks():
            counts.read += len(chunk)
            note_offsets(counts, chunk.offset)
            for name, rows in self.rows(chunk, counts.partition, may_share_keys=True).items():
                self.write(name, rows, counts)
            yield

    def merge(
        self, copies: list[Copy], unit: PartitionSpan, counts: Counts
    ) -> Generator[None, None, list[RejectedRange]]:
        """The ranges that no copy replaces."""
        known = self.known_rows(unit.partition, unit.first)
        decoded: list[tuple[int, int]] = []
        for last, parts in windows([copy.chunks() for copy in copies]):
            try:
                sides = [(part, True) for part in parts]
                decoded += self.merge_window(known.take_until(last), sides, counts)
            except Contradiction as contradiction:
                names = [facts.source_file for copy in copies for facts in copy.facts]
                raise other_log(names, unit.partition, contradiction) from None
            yield
        ranges = ranges_of(copies)
        intact = [each for copy in copies for each in copy.intact()]
        # Only the warehouse can know what follows the last record.
        decoded += runs_of(read_offsets([known.take_until(reach_of(ranges))]))
        return self.sort_out_ranges(ranges, read_of(copies), decoded + intact, counts)

    def known_rows(self, partition: int, first: int) -> KnownRows:
        return known_rows(self.input.known_files, TABLES, self.input.cluster, partition, first)

    def merge_window(
        self,
        held: dict[str, pa.Table],
        parts: list[tuple[Records, bool]],
        counts: Counts,
        lines: pa.Table = NO_LINES,
    ) -> list[tuple[int, int]]:
        """Writes the new records of a span of offsets. `parts`: copies of it, and whether they have producers. `lines`
        of an archive are not records, but have an offset. Returns the spans that are decoded, here or in the
        warehouse."""
        counts.read += sum(len(records) for records, _ in parts) + lines.num_rows
        of_copies = [self.rows(records, counts.partition, has_producers) for records, has_producers in parts]
        if parts:
            note_offsets(counts, np.unique(np.concatenate([records.offset for records, _ in parts])))
        held, held_lines = without_lines(held)
        merged = merge(held, of_copies)
        offsets = read_offsets([held, *of_copies])
        unknown, good = sort_out_lines(lines, held_lines, offsets)
        counts.known += merged.num_known + lines.num_rows - unknown.num_rows
        self.write_merged(merged, with_lines(merged.new, unknown), counts)
        self.answer.replaced += [(counts.partition, *each) for each in runs_replaced(merged.replaced, held)]
        self.answer.retracted_records += [(counts.partition, *key) for key in (*merged.retracted, *good)]
        self.answer.conflicts += [(counts.partition, offset) for offset in merged.conflicts]
        return runs_of(offsets)

    def write_merged(self, merged: MergedRows, tables: Mapping[str, pa.Table], counts: Counts) -> None:
        for name, rows in tables.items():
            self.write(name, rows, counts)
        # Rows that have an epoch now; their records were known.
        counts.decoded -= merged.num_decoded_again
        if merged.rejected_again is not None:
            self.count_rejected(merged.rejected_again, counts, -1)

    def retract_ranges(self, partition: int, decoded: list[tuple[int, int]]) -> None:
        """Removes ranges of segments that an archive replaces."""
        _, gone = sort_out([], self.input.known_ranges.get(partition, []), {}, self.note_seen(partition, decoded))
        self.answer.retracted_ranges += gone

    def note_seen(self, partition: int, decoded: list[Range]) -> list[Range]:
        """Including what the warehouse knows."""
        seen = join_ranges([*decoded, *self.input.intact.get(partition, [])])
        self.answer.seen.setdefault(partition, []).extend(seen)
        return seen

    def sort_out_ranges(
        self,
        ranges: list[RejectedRange],
        read: dict[str, tuple[int, int]],
        decoded: list[tuple[int, int]],
        counts: Counts,
    ) -> list[RejectedRange]:
        """The ranges to write."""
        seen = self.note_seen(counts.partition, decoded)
        unknown, gone = sort_out(ranges, self.input.known_ranges.get(counts.partition, []), read, seen)
        self.answer.retracted_ranges += gone
        counts.known += len(ranges) - len(unknown)
        return unknown

    def rows(
        self, records: Records, partition: int, has_producers: bool = True, *, may_share_keys: bool = False
    ) -> dict[str, pa.Table]:
        """`may_share_keys`: only for files; rows that are compared with others have the types of the table."""
        origin = Origin(self.input.cluster, partition, self.input.run_id, has_producers)
        decoded = decode(records.keys, records.values, records.is_control, may_share_keys=may_share_keys)
        for part in decoded.parts:
            if part.unknown_tags:
                self.answer.unknown_tags[part.record_type] += part.unknown_tags
        tables = self.shaper.tables(records, decoded, origin)
        self.note_groups(tables)
        return tables

    def note_groups(self, tables: Mapping[str, pa.Table]) -> None:
        """The first ones are enough. Copies that are read side by side are of one log."""
        for folder in self.folders:
            names = self.answer.groups.setdefault(folder, [])
            for rows in tables.values():
                if len(names) < ENOUGH_GROUPS and "group_id" in rows.column_names:
                    found = (name for name in distinct(rows.column("group_id")) if name not in names)
                    names += islice(found, ENOUGH_GROUPS - len(names))

    def write_ranges(self, ranges: list[RejectedRange], counts: Counts) -> None:
        if ranges:
            origin = Origin(self.input.cluster, counts.partition, self.input.run_id)
            self.write(REJECTED, rejected_ranges(ranges, origin), counts)
            counts.damaged += sum(each.num_records for each in ranges)
            self.answer.damage += ranges

    def write(self, name: str, rows: pa.Table, counts: Counts) -> None:
        if name == REJECTED:
            self.count_rejected(rows, counts, 1)
        else:
            counts.decoded += rows.num_rows
        self.answer.num_rows[name] = self.answer.num_rows.get(name, 0) + rows.num_rows
        self.files.write(name, rows, counts.partition)

    def count_rejected(self, rows: pa.Table, counts: Counts, number: int) -> None:
        """`number`: for each row, -1 if it does not count after all."""
        counts.rejected += number * rows.num_rows
        for reason in rows.column("reason").to_pylist():
            self.answer.reasons[reason] = self.answer.reasons.get(reason, 0) + number

    def finish(self, wait: Waiting) -> IngestResult:
        try:
            wait()
        except (Failure, OSError) as error:
            return self.failure_result(error)
        return self.answer

    def failure_result(self, error: Failure | OSError) -> IngestResult:
        self.files.abandon()
        if isinstance(error, Failure):
            return IngestResult(failure=(error.code, str(error)))
        root = self.input.root
        return IngestResult(failure=(failure_code(error, root), os_error_line(error, root)))


def folders_of(unit: PartitionSpan) -> tuple[str, ...]:
    spans = (part.span for copy in unit.copies for part in copy)
    return tuple(sorted({str(span.path.parent) for span in spans if isinstance(span, Span)}))


def distinct(column: pa.ChunkedArray) -> Iterator[str]:
    """Texts that are stored once for many rows are looked at once."""
    for chunk in column.chunks:
        texts = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        yield from filter(None, pc.unique(texts).to_pylist())


def reach_of(ranges: Iterable[RejectedRange]) -> int:
    """The highest offset that one of the ranges may contain."""
    bounds = (
        offset for each in ranges for offset in (each.from_record_offset, each.to_record_offset) if offset is not None
    )
    return max(bounds, default=-1)


def ranges_of(copies: Iterable[Copy]) -> list[RejectedRange]:
    return [each for copy in copies for each in copy.ranges]


def read_of(copies: Iterable[Copy]) -> dict[str, tuple[int, int]]:
    """The part of each file that was read."""
    return {facts.source_file: (facts.start, facts.read_to) for copy in copies for facts in copy.facts}


def other_log(names: Iterable[str], partition: int, contradiction: Contradiction) -> Failure:
    line = f"{min(names)}: conflicts with the warehouse or another copy of partition {partition}: {contradiction}"
    return Failure(ExitCode.UNREADABLE_INPUT, f"{line}; give this Kafka cluster another name: --cluster NAME")
