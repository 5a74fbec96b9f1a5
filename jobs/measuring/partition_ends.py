"""Which offsets partitions there are, which of them were read, and where each ends: what the run knows of the whole log
before its tasks measure the partitions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.ingestion.driver.covered_ranges import base_of
from jobs.ingestion.driver.state import LIVE, SEGMENTS, table_of_cluster
from jobs.replaying.log.row_groups import LogFile
from jobs.replaying.task.replay_messages import Progress
from jobs.replaying.task.snapshot_rules import CAPTURED, newest_group_settings, num_offsets_partitions
from jobs.replaying.task.warehouse_state import rows_of
from jobs.runs.result import iso
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from schemas.words.records import OFFSETS_TOPIC, EarlyEnd, NumPartitionsSource, PartitionReading, SourceKind
from udfs.arrays.arrow_schema import table_schema
from udfs.groups.group_partition import partition_for
from udfs.groups.num_partitions import DEFAULT_NUMBER, LEAST_GROUPS, number_that_fits
from udfs.log.partition_ends import KnownEnd, PartitionEnd, newest_of, reading_of
from udfs.sentences.partitions_read import never_read
from udfs.topics.names import Snapshots

FILES = [
    "cluster", "run_id", "offsets_partition", "source_file", "kind", "size_bytes", "last_offset", "read_to_position",
    "skipped_reason",
]  # fmt: skip
ENDS = ["cluster", "captured_time", "topic", "partition", "log_start_offset", "log_end_offset"]


@dataclass(frozen=True)
class LogAsRead:
    """`replayed`: by offsets partition, what the replay knows; `snapshots`: the files of topic_snapshots. Times are
    microseconds."""

    warehouse: Warehouse
    cluster: str
    replayed: Mapping[int, Progress]
    snapshots: Iterable[LogFile]
    as_of: int

    @cached_property
    def ends(self) -> dict[int, PartitionEnd]:
        """Of every partition that a file, a record or a snapshot names."""
        named = {*self.replayed, *self.known_ends, *self.torn_tails, *self.read_partitions}
        return {partition: self.end_of(partition) for partition in sorted(named)}

    def end_of(self, partition: int) -> PartitionEnd:
        ends = [each for each in self.known_ends.get(partition, ()) if each.time <= self.as_of]
        if (progress := self.replayed.get(partition)) is None:
            return PartitionEnd(ends=ends, torn_bytes=self.torn_tails.get(partition, 0))
        coverage = progress.coverage
        return PartitionEnd(
            # Of ranges: the last records may be compacted away, where another segment follows.
            last_offset=max((each.last_offset for each in coverage.stretches), default=None),
            newest=None if coverage.last_time is None else min(coverage.last_time, self.as_of),
            usual_gap=coverage.usual_gap,
            torn_bytes=self.torn_tails.get(partition, 0),
            ends=ends,
        )

    @cached_property
    def others_until(self) -> int | None:
        return newest_of(self.ends.values())

    @cached_property
    def early_ends(self) -> dict[int, EarlyEnd]:
        others = self.others_until
        if others is None:
            return {}
        early = {partition: end.early_end(others, self.as_of) for partition, end in self.ends.items()}
        return {partition: why for partition, why in early.items() if why is not None}

    # -- what there is

    @cached_property
    def known_ends(self) -> dict[int, list[KnownEnd]]:
        """Of the offsets topic in snapshots, by time."""
        is_ours = (pc.field("topic") == OFFSETS_TOPIC) & (pc.field("cluster") == self.cluster)
        found: dict[int, list[KnownEnd]] = defaultdict(list)
        for file in self.snapshots:
            # Nearly all rows are of other topics.
            rows = pq.read_table(file.path.parquet_source(), columns=ENDS, filters=is_ours)
            times = rows["captured_time"].cast(pa.int64()).to_pylist()
            names = ("partition", "log_start_offset", "log_end_offset")
            for time, partition, start, end in zip(times, *(rows[each].to_pylist() for each in names), strict=True):
                if end is not None:
                    found[partition].append(KnownEnd(time, start or 0, end))
        return {partition: sorted(some, key=lambda each: each.time) for partition, some in found.items()}

    @cached_property
    def files(self) -> pa.Table:
        """Those that were read, by run."""
        rows = table_of_cluster(self.warehouse, "source_files", FILES, self.cluster, "run_id")
        if rows is None:
            return pa.table({name: [] for name in FILES[1:]})
        return rows.filter(pc.is_null(rows["skipped_reason"]))

    @cached_property
    def read_partitions(self) -> set[int]:
        return {*pc.unique(self.files["offsets_partition"]).drop_null().to_pylist()}

    @cached_property
    def kinds(self) -> set[str]:
        return {*pc.unique(self.files["kind"]).drop_null().to_pylist()}

    @cached_property
    def torn_tails(self) -> dict[int, int]:
        """Bytes after the last whole batch, of partitions of which no file has later records. What a later run of the
        same file says counts: a file that has not changed is not read again."""
        rows = self.files.filter(pc.equal(self.files["kind"].cast(pa.string()), SEGMENTS))
        newest = rows.group_by(["source_file", "offsets_partition"], use_threads=False).aggregate(
            [("size_bytes", "last"), ("read_to_position", "last"), ("last_offset", "max")]
        )
        newest = newest.filter(pc.greater(newest["size_bytes_last"], newest["read_to_position_last"]))
        torn: dict[int, int] = {}
        for row in newest.to_pylist():
            name, partition, reached = row["source_file"], row["offsets_partition"], row["last_offset_max"]
            progress = self.replayed.get(partition)
            last = -1 if progress is None or progress.through_offset is None else progress.through_offset
            if max(base_of(name) - 1, -1 if reached is None else reached) >= last:
                size = row["size_bytes_last"] - row["read_to_position_last"]
                torn[partition] = max(size, torn.get(partition, 0))
        return torn

    @cached_property
    def lives(self) -> pa.Table:
        """Each group with the offsets partition of its records, and in how many states it is now: one, or none."""
        names = ["group_id", "evidence_partition"]
        rows = self.warehouse.rows("group_state_intervals", ["cluster", *names, "to_record_offset"], self.cluster)
        if rows is None:
            return pa.table({name: [] for name in (*names, "to_record_offset_count")})
        return rows.group_by(names).aggregate([("to_record_offset", "count", pc.CountOptions(mode="only_null"))])

    @cached_property
    def num_groups(self) -> dict[int, int]:
        there = self.lives.filter(pc.greater(self.lives["to_record_offset_count"], 0))
        counted = pc.value_counts(there["evidence_partition"].combine_chunks())
        return dict(zip(*(counted.field(place).to_pylist() for place in (0, 1)), strict=True))

    @cached_property
    def groups(self) -> list[tuple[str, int]]:
        """Of all times, with the offsets partition of their records."""
        ordered = self.lives.sort_by([("group_id", "ascending"), ("evidence_partition", "ascending")])
        return list(zip(ordered["group_id"].to_pylist(), ordered["evidence_partition"].to_pylist(), strict=True))

    @cached_property
    def num_partitions(self) -> tuple[int | None, NumPartitionsSource | None]:
        highest = max([*self.replayed, *self.read_partitions], default=-1)
        captured = sorted(rows_of(self.warehouse, "cluster_snapshots", self.cluster, CAPTURED),
                          key=lambda row: row["captured_time"])  # fmt: skip
        listed: dict[int, int] = {}
        for partition, ends in self.known_ends.items():
            for each in ends:
                listed[each.time] = max(listed.get(each.time, 0), partition + 1)
        topics = Snapshots({time: {(OFFSETS_TOPIC, None): number} for time, number in listed.items()})
        number, source = num_offsets_partitions(captured, topics, highest)
        if number is not None:
            return number, source
        if len(self.groups) >= LEAST_GROUPS:
            number = number_that_fits(self.groups, highest)
            return number, None if number is None else NumPartitionsSource.GROUPS
        return (DEFAULT_NUMBER, NumPartitionsSource.ASSUMED) if highest < DEFAULT_NUMBER else (None, None)

    # -- what is written

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Of offsets_partitions."""
        number, source = self.num_partitions
        captured = self.captured_groups(number)
        has_archive = str(SourceKind.RECORDS) in self.kinds
        partitions = sorted({*self.ends, *range(number or 0)})
        rows = []
        for partition in partitions:
            end = self.ends.get(partition, PartitionEnd())
            has_source = partition in self.read_partitions or LIVE in self.kinds
            known, others = end.known_end, self.others_until
            rows.append({
                "cluster": self.cluster,
                "offsets_partition": partition,
                "as_of_time": self.as_of,
                "num_partitions": number,
                "partitions_source": source,
                "reading": reading_of(
                    has_source=has_source, can_be_empty=has_archive, known_end=known, others_until=others
                ),
                "num_groups": self.num_groups.get(partition, 0),
                "num_captured_groups": captured.get(partition, 0),
                "last_offset": end.last_offset,
                "newest_time": end.newest,
                "log_until_time": end.until,
                "usual_gap_ms": None if end.usual_gap is None else end.usual_gap // 1000,
                "torn_tail_bytes": end.torn_bytes or None,
                "known_end_offset": None if known is None else known.end,
                "known_end_time": None if known is None else known.time,
                "ends_before_others_ms": None if end.until is None or others is None else end.lacks(others) // 1000,
                "early_end": self.early_ends.get(partition),
            })  # fmt: skip
        return rows

    def captured_groups(self, number: int | None) -> dict[int, int]:
        """How many groups with settings in snapshots belong to each partition."""
        counts: dict[int, int] = defaultdict(int)
        for group in newest_group_settings(self.warehouse, self.cluster) if number else ():
            counts[partition_for(group, number or 0)] += 1
        return counts

    def table(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows, table_schema(TABLES["offsets_partitions"]))


def coverage_facts(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For the result of a run: what holds of the topic, and of each partition."""
    times = ("newest_time", "log_until_time", "known_end_time")
    of_topic = ("cluster", "as_of_time", "num_partitions", "partitions_source")
    partitions = [{name: value for name, value in row.items() if name not in of_topic} for row in rows]
    for row in partitions:
        row |= {name: None if row[name] is None else iso(row[name] // 1000) for name in times}
    return {
        "num_partitions": rows[0]["num_partitions"] if rows else None,
        "partitions_source": rows[0]["partitions_source"] if rows else None,
        "num_partitions_read": sum(row["reading"] == PartitionReading.READ for row in rows),
        "never_read": never_read(rows),
        "partitions": partitions,
    }
