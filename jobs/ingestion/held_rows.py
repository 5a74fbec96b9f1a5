"""Rows of an ingest that the warehouse may have, compared with what it has, a stretch of offsets at a time.

Where tasks cannot read the tables' files Spark brings both sides together; what is known, new or another log is seen by
the same function as elsewhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter, or_

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.ingestion.broken_lines import without_lines
from jobs.ingestion.row_sinks import HELD, deserialized, held_blobs
from jobs.ingestion.staging import SCHEMA, batch_of
from jobs.ingestion.task_answers import Answer, Counts, Held
from jobs.ingestion.tasks import Task, other_log
from schemas.tables import TABLES
from udfs.known import Contradiction
from udfs.tables.arrow_schema import table_schema

KNOWN = "known-"
Stretch = tuple[int, int]


@dataclass(frozen=True)
class Comparison:
    """`files` names a file of each offsets partition; of those in `with_ranges` it is asked what is decoded."""

    files: Mapping[int, str]
    with_ranges: frozenset[int]


def comparison(answers: Sequence[Answer], known_ranges: Iterable[int]) -> Comparison:
    files: dict[int, str] = {}
    for facts in (each for answer in answers for each in answer.facts):
        if facts.partition is not None:
            files[facts.partition] = min(files.get(facts.partition, facts.source_file), facts.source_file)
    held = [each for answer in answers for each in answer.held]
    return Comparison(files, frozenset(known_ranges) | {each.partition for each in held if each.ranges})


def known_blobs(name: str, frame: DataFrame, cluster: str, held: Sequence[Held]) -> DataFrame:
    """What a table has of the stretches that are held."""
    is_there = reduce(or_, (lies_in(partition, stretch) for partition, stretch in stretches_of(held)))
    rows = frame.where((F.col("cluster") == cluster) & is_there)
    return rows.select(*table_schema(TABLES[name]).names).mapInArrow(partial(packed, name), SCHEMA)


def stretches_of(held: Sequence[Held]) -> Iterator[tuple[int, Stretch]]:
    """In as few pieces as there can be."""
    in_order = sorted(held, key=lambda each: (each.partition, each.first))
    for partition, group in groupby(in_order, key=lambda each: each.partition):
        first, last = -1, -1
        for each in group:
            if each.first > last + 1 and first >= 0:
                yield partition, (first, last)
                first = -1
            first, last = each.first if first < 0 else first, max(last, each.last)
        yield partition, (first, last)


def lies_in(partition: int, stretch: Stretch) -> Column:
    return (F.col("offsets_partition") == partition) & F.col("record_offset").between(*stretch)


def packed(name: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = pa.Table.from_batches([batch]).cast(table_schema(TABLES[name]))
        for partition in pc.unique(rows.column("offsets_partition")).to_pylist():
            of_partition = rows.filter(pc.equal(rows.column("offsets_partition"), partition))
            yield from map(batch_of, held_blobs(KNOWN + name, of_partition, partition))


def brought_together(sides: Sequence[DataFrame], num_partitions: int) -> DataFrame:
    whole = reduce(DataFrame.unionByName, sides)
    return whole.repartition(num_partitions, "partition", "stretch").sortWithinPartitions("partition", "stretch")


def comparison_steps(told: Comparison, batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[None]:
    """`batches` are blobs of both sides, those of one stretch together."""
    counts: dict[int, Counts] = {}
    for (partition, _), group in groupby(blobs_of(batches), key=itemgetter(0, 1)):
        if partition not in counts:
            # Without offsets and without records read: those that read them have told.
            counts[partition] = Counts(partition)
            task.answer.counts.append(counts[partition])
        known, new = both_sides(group)
        new, lines = without_lines(new)
        try:
            decoded = task.merge_rows(known, [new], lines, counts[partition])
        except Contradiction as contradiction:
            raise other_log([told.files[partition]], partition, contradiction) from None
        if partition in told.with_ranges:
            task.answer.decoded.setdefault(partition, []).extend(decoded)
        yield


def blobs_of(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, int, str, pa.Buffer]]:
    for batch in batches:
        places = zip(*(batch.column(name).to_pylist() for name in ("partition", "stretch", "kind")), strict=True)
        for place, content in zip(places, batch.column("content"), strict=True):
            yield (*place, content.as_buffer())


def both_sides(
    blobs: Iterable[tuple[int, int, str, pa.Buffer]],
) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """What the warehouse has, and what came."""
    found: dict[str, dict[str, list[pa.Table]]] = {KNOWN: {}, HELD: {}}
    for *_, kind, content in blobs:
        side = KNOWN if kind.startswith(KNOWN) else HELD
        found[side].setdefault(kind.removeprefix(side), []).append(deserialized(content))
    known, new = (
        {name: pa.concat_tables(parts).sort_by("record_offset") for name, parts in found[side].items()}
        for side in (KNOWN, HELD)
    )
    return known, new
