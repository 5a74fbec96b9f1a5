"""Tables on a file system that only Hadoop knows: Spark brings the rows of each offsets partition to one task, which
replays them in a folder of its own, and takes what comes of it into the tables."""

import pickle
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.ingestion.row_sinks import Blob, Blobs, deserialized, serialized
from jobs.ingestion.staging import ANSWER, SCHEMA, Staging, batch_of
from jobs.ingestion.state import DECODED
from jobs.replaying.assignment import SplitGroups
from jobs.replaying.earlier_rows import partition_column
from jobs.replaying.log_files import LogFile
from jobs.replaying.partition_log import COMMITS, GROUP_TABLES
from jobs.replaying.record_names import COLUMNS, sightings
from jobs.replaying.split_groups import NAMING
from jobs.replaying.tables import About, Begins, Sizes
from jobs.replaying.tasks import answer
from jobs.replaying.told import Answer, Share, Told, Work
from jobs.spark.tasks import Workers, failures_told
from jobs.warehouses.any_warehouse import AnyWarehouse
from jobs.warehouses.delta_tables import IS_OPEN, Change, partitioning
from jobs.warehouses.manifest import Staged
from jobs.warehouses.spark_tables import arrow_rows, frame_at, prepare_session
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import STAGING
from schemas.tables import TABLES
from udfs.replay.topic_names import Sighting
from udfs.tables.arrow_schema import table_schema

PART = "replayed"


@dataclass
class StagedTables:
    warehouse: AnyWarehouse
    workers: Workers
    about: About
    # By table, which rows go: those that new ones take the place of.
    replaced: dict[str, str] = field(default_factory=dict)
    num_rows: dict[str, int] = field(default_factory=dict)
    blobs: Blobs = field(default_factory=Blobs)

    @property
    def spark(self) -> SparkSession:
        prepare_session(self.workers.spark)
        return self.workers.spark

    @property
    def staging(self) -> Staging:
        return Staging(self.spark, f"{self.warehouse.place(STAGING)}/{self.about.run_id}")

    def frame(self, name: str) -> DataFrame | None:
        """Rows of the cluster; the first version of a table is an empty one."""
        version = self.warehouse.versions().get(name, 0)
        if version <= 0:
            return None
        return frame_at(self.spark, self.warehouse.place(name), version).where(F.col("cluster") == self.about.cluster)

    def names(self, after_run: str | None) -> list[Sighting]:
        found: list[Sighting] = []
        for name, columns in COLUMNS.items():
            if (frame := self.frame(name)) is not None:
                rows = frame if after_run is None else frame.where(F.col("run_id") > after_run)
                if name == COMMITS:
                    rows = rows.where(F.col("topic_id").isNotNull())
                found += sightings(arrow_rows(rows, TABLES[name], columns), name)
        return [sighting for sighting in found if sighting.topic_id is not None]

    def split_groups(self, partitions: Collection[int]) -> SplitGroups:
        found = [frame for name in NAMING if (frame := self.frame(name)) is not None]
        if not found or len(partitions) < 2:
            return ()
        named = reduce(DataFrame.unionByName, [each.select("group_id", "offsets_partition") for each in found])
        places = F.array_sort(F.collect_set("offsets_partition")).alias("places")
        of_groups = named.where(F.col("offsets_partition").isin(list(partitions))).groupBy("group_id").agg(places)
        several = of_groups.where(F.size("places") > 1).collect()
        return tuple(sorted((row["group_id"], tuple(row["places"])) for row in several))

    def sizes(self, partitions: Collection[int], after_run: Mapping[int, str]) -> Sizes:
        frames = [
            frame.select(F.lit(name).alias("name"), "offsets_partition", "run_id")
            for name in DECODED
            if (frame := self.frame(name)) is not None
        ]
        everything, of_groups = dict.fromkeys(partitions, 0), dict.fromkeys(partitions, 0)
        if frames:
            whole = reduce(DataFrame.unionByName, frames)
            for row in whole.groupBy("name", "offsets_partition", "run_id").count().collect():
                partition = row["offsets_partition"]
                if partition in everything and row["run_id"] > after_run.get(partition, ""):
                    everything[partition] += row["count"]
                    of_groups[partition] += row["count"] if row["name"] in GROUP_TABLES else 0
        return Sizes(everything, of_groups)

    def epochs(self, partitions: Collection[int], after_run: Mapping[int, str]) -> Begins:
        columns = ("offsets_partition", "partition_leader_epoch")
        frames = [
            frame.select(*columns, "run_id", "record_offset")
            for name in DECODED
            if (frame := self.frame(name)) is not None
        ]
        found: dict[int, dict[int, int]] = {partition: {} for partition in partitions}
        if not frames:
            return found
        known = reduce(DataFrame.unionByName, frames).where(F.col("partition_leader_epoch").isNotNull())
        for row in known.groupBy(*columns, "run_id").agg(F.min("record_offset").alias("first")).collect():
            partition, epoch = (row[column] for column in columns)
            if partition in found and row["first"] is not None and row["run_id"] > after_run.get(partition, ""):
                found[partition][epoch] = min(row["first"], found[partition].get(epoch, row["first"]))
        return found

    def answers(self, told: Told[Any], sizes: Sizes) -> list[Answer[Any]]:
        partitions = sorted(sizes.all)
        sides = [packed_rows(name, frame, partitions) for name, frame in self.inputs(told)]
        found: list[Answer[Any]] = []
        work = self.about.work
        if sides:
            frame = reduce(DataFrame.unionByName, sides).repartition(len(partitions), "partition")
            ordered = frame.sortWithinPartitions("partition", "kind")
            with failures_told():
                self.staging.write(PART, ordered.mapInArrow(partial(replayed, work, told), SCHEMA))
                for kind, stored in self.staging.blobs_of(PART):
                    if kind == ANSWER:
                        found += [pickle.loads(bytes(row.content)) for row in stored.select("content").collect()]
        seen = {progress.partition for each in found for progress in each.progress}
        for partition in partitions:
            # Covered by what was read, and without a record.
            if partition not in seen:
                blobs = list(replayed_partition(work, told, partition, []))
                found += [pickle.loads(blob.content) for blob in blobs if blob.kind == ANSWER]
                self.blobs.ready += [blob for blob in blobs if blob.kind != ANSWER]
        return found

    def inputs(self, told: Told[Any]) -> Iterator[tuple[str, DataFrame]]:
        """Decoded rows, and those of the job's own that may still change."""
        for name in self.about.written.read:
            if (frame := self.frame(name)) is not None:
                yield name, frame
        for name in self.about.written.of_partitions if told.earlier else ():
            if (frame := self.frame(name)) is not None:
                if partitioning(TABLES[name]):
                    yield name, frame.where(F.col(IS_OPEN))
                elif name in self.about.written.renewed:
                    yield name, frame

    def take(self, answers: Sequence[Answer[Any]], whole: Mapping[str, pa.Table], *, is_full: bool) -> None:
        for each in answers:
            for name, number in each.num_rows.items():
                self.num_rows[name] = self.num_rows.get(name, 0) + number
        answered = sorted({progress.partition for each in answers for progress in each.progress})
        anew = sorted({partition for each in answers for partition in each.whole})
        for name in self.about.written.names:
            gone = self.gone(name, None if is_full else answered, anew)
            if gone is not None and self.warehouse.versions().get(name, 0) > 0:
                self.replaced[name] = gone
        for name, rows in whole.items():
            self.num_rows[name] = rows.num_rows
            if rows.num_rows:
                self.blobs.write(name, rows, 0)

    def gone(self, name: str, answered: Sequence[int] | None, anew: Sequence[int]) -> str | None:
        """As Spark's SQL says it. `answered` None: of all offsets partitions. None: no rows."""
        of_cluster = f"cluster = {quoted(self.about.cluster)}"
        if name in self.about.written.whole or answered is None:
            return of_cluster
        if not answered:
            return None
        column = partition_column(TABLES[name])
        conditions = [f"{column} IN ({', '.join(map(str, anew))})"] if anew else []
        of_answered = f"{column} IN ({', '.join(map(str, answered))})"
        if name in self.about.written.renewed:
            conditions.append(of_answered)
        elif partitioning(TABLES[name]):
            conditions.append(f"({IS_OPEN} AND {of_answered})")
        return f"{of_cluster} AND ({' OR '.join(conditions)})" if conditions else None

    def manifest_changes(self) -> dict[str, Change]:
        return {name: Change() for name in self.about.written.names}

    def staged(self) -> Staged:
        self.blobs.close()
        self.staging.add("driver", self.blobs.taken())
        tables = tuple(sorted(name for name, number in self.num_rows.items() if number))
        limits = self.about.settings.tables
        return Staged(self.staging.folder, tables, self.about.cluster, (), (), limits, "auto", dict(self.replaced))

    def rows_added(self) -> dict[str, int]:
        return {name: number for name, number in sorted(self.num_rows.items()) if number}

    def clean_up(self) -> None:
        Staging(self.spark, self.warehouse.place(STAGING)).remove()


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def packed_rows(name: str, frame: DataFrame, partitions: Sequence[int]) -> DataFrame:
    rows = frame.where(F.col(partition_column(TABLES[name])).isin(list(partitions)))
    return rows.select(*table_schema(TABLES[name]).names).mapInArrow(partial(packed, name), SCHEMA)


def packed(name: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    column = partition_column(TABLES[name])
    for batch in batches:
        rows = pa.Table.from_batches([batch]).cast(table_schema(TABLES[name]))
        for partition in pc.unique(rows.column(column)).to_pylist():
            ours = rows.filter(pc.equal(rows.column(column), partition))
            yield batch_of(Blob(name, serialized(ours), partition))


def replayed(work: Work, told: Told[Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """`batches` are blobs of all tables, those of one offsets partition together."""
    rows = (
        (partition, kind, content)
        for batch in batches
        for partition, kind, content in zip(
            batch.column("partition").to_pylist(),
            batch.column("kind").to_pylist(),
            batch.column("content"),
            strict=True,
        )
    )
    for partition, group in groupby(rows, key=itemgetter(0)):
        blobs = ((kind, deserialized(content.as_buffer())) for _, kind, content in group)
        yield from map(batch_of, replayed_partition(work, told, partition, blobs))


def replayed_partition(
    work: Work, told: Told[Any], partition: int, rows: "Iterator[tuple[str, pa.Table]] | Sequence[tuple[str, pa.Table]]"
) -> Iterator[Blob]:
    with tempfile.TemporaryDirectory(prefix="groupscope-") as folder:
        files: dict[str, TableFile] = {}
        for name, part in rows:
            if name not in files:
                files[name] = TableFile(Path(folder) / "held" / name, TABLES[name], told.run_id)
            files[name].write(part, partition)
        found = {
            name: [LogFile(file.folder / file.name, partition, partition)]
            for name, file in files.items()
            if file.close() is not None
        }
        decoded = {name: found[name] for name in DECODED if name in found}
        held = {name: some for name, some in found.items() if name not in decoded}
        whole = replace(told, root=Path(folder) / "made", files=decoded, held=held)
        done = answer(work, whole, [Share(partition)])
        for name, file in done.files:
            with pq.ParquetFile(Path(folder) / "made" / name / file.name) as made:
                for group in range(made.num_row_groups):
                    found_rows = made.read_row_group(group).cast(table_schema(TABLES[name]))
                    yield Blob(name, serialized(found_rows), partition)
        yield Blob(ANSWER, pickle.dumps(replace(done, files=[])), partition)
