"""Passes an archive's rows, sorted by offsets partition and offset, through the same steps as the bytes of segments."""

from collections.abc import Iterator
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from jobs.ingestion.task.messages import NO_PARTITION, Counts
from jobs.ingestion.task.task import Task, other_log
from jobs.sources.log_span import SpanFacts
from udfs.rows.merge_copies import REJECTED, Contradiction
from udfs.sources.archive_rows import by_producers, problem_rows, records_of

MOST_ROWS = 131_072
MOST_BYTES = 24 << 20


def archive_steps(batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[None]:
    """`batches` contain whole offsets partitions, sorted by partition, offset and leader epoch."""
    for partition, parts in groupby(of_one_partition(batches), key=partition_of):
        yield from take_on_partition(task, partition, parts)


def of_one_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        ends = pc.run_end_encode(batch.column("partition")).run_ends.to_pylist() if batch.num_rows else []
        start = 0
        for end in ends:
            yield batch.slice(start, end - start)
            start = end


def partition_of(batch: pa.RecordBatch) -> int:
    partition = batch.column("partition")[0].as_py()
    return NO_PARTITION if partition is None else int(partition)


def take_on_partition(task: Task, partition: int, parts: Iterator[pa.RecordBatch]) -> Iterator[None]:
    counts, facts = Counts(partition), Facts()
    task.answer.counts.append(counts)
    first, last, known = 0, None, None
    decoded = []
    for batch in windows(with_lost_lines_written(task, parts, counts, facts)):
        facts.note(batch)
        offsets = batch.column("offset")
        last = offsets[-1].as_py()
        if known is None:
            first = offsets[0].as_py()
            known = task.known_rows(counts.partition, first)
        is_problem = batch.column("problem").is_valid()
        sides = [
            (records_of(rows), has_producers)
            for has_producers, rows in by_producers(batch.filter(pc.invert(is_problem)))
        ]
        lines = lines_of(task, batch.filter(is_problem), counts)
        held = known.take_until(last)
        try:
            decoded += task.merge_window(held, sides, counts, lines)
        except Contradiction as contradiction:
            names = pc.unique(batch.column("source_file")).to_pylist()
            raise other_log(names, counts.partition, contradiction) from None
        yield
    # Between an archive's records nothing is missing, except what archives leave out, such as markers.
    task.retract_ranges(partition, decoded + ([] if last is None else [(first, last)]))
    task.note_facts(facts.by_file.values(), partition)


def with_lost_lines_written(
    task: Task, parts: Iterator[pa.RecordBatch], counts: Counts, facts: "Facts"
) -> Iterator[pa.RecordBatch]:
    """The rows that have an offset. The other rows are not records and come first: they go to rejected_records at
    once."""
    before: tuple[str, bytes] | None = None
    for batch in parts:
        has_offset = batch.column("offset").is_valid()
        if (lost := batch.filter(pc.invert(has_offset))).num_rows:
            facts.note(lost)
            again = lines_again(lost, before)
            before = lost.column("source_file")[-1].as_py(), lost.column("raw")[-1].as_py()
            counts.read += len(again)
            counts.known += sum(again)
            lines = lost.filter(pa.array([not each for each in again], pa.bool_()))
            if lines.num_rows:
                task.write(REJECTED, problem_rows(lines, task.input.cluster, task.input.run_id), counts)
        if (placed := batch.filter(has_offset)).num_rows:
            yield placed


def lines_of(task: Task, lines: pa.RecordBatch, counts: Counts) -> pa.Table:
    """Rows of rejected_records, one for each line of a file."""
    again = lines_again(lines, None)
    counts.read += sum(again)
    counts.known += sum(again)
    first = lines.filter(pa.array([not each for each in again], pa.bool_()))
    return problem_rows(first, task.input.cluster, task.input.run_id)


def lines_again(lines: pa.RecordBatch, before: tuple[str, bytes] | None) -> list[bool]:
    """Which lines equal the previous line of their file: sorting has brought these together."""
    is_repeat = []
    for line in zip(lines.column("source_file").to_pylist(), lines.column("raw").to_pylist(), strict=True):
        is_repeat.append(line == before)
        before = line
    return is_repeat


def windows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Windows with as many rows as decode efficiently together. Rows with the same offset stay together."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) < MOST_ROWS and sum(each.nbytes for each in waiting) < MOST_BYTES:
            continue
        whole = pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]
        last = whole.column("offset")[-1]
        stop = pc.index(whole.column("offset"), last).as_py()
        waiting = [whole.slice(stop)]
        if stop:
            yield whole.slice(0, stop)
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]


class Facts:
    """The row of `source_files` for each file of an archive, for one offsets partition."""

    def __init__(self) -> None:
        self.by_file: dict[str, SpanFacts] = {}

    def note(self, batch: pa.RecordBatch) -> None:
        columns = ["source_file", "offset", "is_tombstone"]
        is_tombstone = pc.and_(batch.column("value").is_null(), batch.column("problem").is_null())
        table = pa.table([batch.column("source_file"), batch.column("offset"), is_tombstone], columns)
        aggregates = [("offset", "min"), ("offset", "max"), ("source_file", "count"), ("is_tombstone", "sum")]
        for row in table.group_by("source_file").aggregate(aggregates).to_pylist():
            facts = self.by_file.setdefault(row["source_file"], SpanFacts(row["source_file"], 0, 0))
            facts.num_records += row["source_file_count"]
            facts.num_tombstones += row["is_tombstone_sum"] or 0
            facts.first_offset = lowest(facts.first_offset, row["offset_min"])
            facts.last_offset = highest(facts.last_offset, row["offset_max"])


def lowest(first: int | None, second: int | None) -> int | None:
    return min((each for each in (first, second) if each is not None), default=None)


def highest(first: int | None, second: int | None) -> int | None:
    return max((each for each in (first, second) if each is not None), default=None)
