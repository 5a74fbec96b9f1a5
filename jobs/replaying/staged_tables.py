"""Tables on a file system that only Hadoop knows: Spark brings the rows of each offsets partition to one task, which
replays them in a folder of its own, and takes what comes of it into the tables."""

import pickle
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.engine.engine import Engine
from jobs.ingestion.row_sinks import Blobs
from jobs.ingestion.staging import ANSWER, SCHEMA, Staging
from jobs.ingestion.state import DECODED
from jobs.replaying.assignment import SplitGroups
from jobs.replaying.earlier_rows import partition_column
from jobs.replaying.inferred_names import TARGETS, TOPIC_IDS, computed_in
from jobs.replaying.log_files import LogFile, Wanted
from jobs.replaying.lost_remote_rows import RemoteLosses, remote_losses
from jobs.replaying.lost_rows import clusters_with
from jobs.replaying.partition_log import COMMITS, GROUP_TABLES, PartitionLog
from jobs.replaying.record_names import COLUMNS, sightings
from jobs.replaying.split_groups import NAMING
from jobs.replaying.staged_tasks import packed_rows, replayed, replayed_partition
from jobs.replaying.tables import About, Begins, Sizes
from jobs.replaying.told import Answer, Told
from jobs.spark.failures import failures_told
from jobs.warehouses.any_warehouse import AnyWarehouse
from jobs.warehouses.delta_tables import IS_OPEN, Change, partitioning
from jobs.warehouses.manifest import Staged
from jobs.warehouses.spark_tables import arrow_rows, frame_at, prepare_session
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import STAGING
from schemas.tables import TABLES
from udfs.recomputing.topic_naming import Computed
from udfs.replay.topic_names import Sighting
from udfs.tables.arrow_schema import table_schema

PART = "replayed"


@dataclass
class StagedTables:
    warehouse: AnyWarehouse
    engine: Engine
    about: About
    # By table, which rows go: those that new ones take the place of.
    replaced: dict[str, str] = field(default_factory=dict)
    num_rows: dict[str, int] = field(default_factory=dict)
    blobs: Blobs = field(default_factory=Blobs)
    losses: RemoteLosses = field(default_factory=RemoteLosses)

    @property
    def spark(self) -> SparkSession:
        prepare_session(self.engine.spark)
        return self.engine.spark

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

    def target_ids(self, partitions: Collection[int], after_run: Mapping[int, str]) -> set[str]:
        frame = self.frame(TARGETS)
        if frame is None:
            return set()
        told = frame.select("offsets_partition", "run_id", F.explode(".".join(TOPIC_IDS)).alias("topic_id")).distinct()
        rows = told.where(F.col("offsets_partition").isin(list(partitions))).collect()
        return {row["topic_id"] for row in rows if row["run_id"] > after_run.get(row["offsets_partition"], "")}

    def computed(self, partitions: Collection[int], unnamed: set[str], known: Mapping[str, str]) -> list[Computed]:
        frame = self.frame(TARGETS)
        if frame is None:
            return []
        wanted = F.array(*map(F.lit, sorted(unnamed)))
        having = frame.where(F.arrays_overlap(F.col(".".join(TOPIC_IDS)), wanted)).select("offsets_partition")
        places = {row["offsets_partition"] for row in having.distinct().collect()}
        return [
            each
            for partition in sorted(places.intersection(partitions))
            for each in self.computed_in(partition, unnamed, known)
        ]

    def computed_in(self, partition: int, unnamed: set[str], known: Mapping[str, str]) -> list[Computed]:
        with tempfile.TemporaryDirectory(prefix="groupscope-") as folder:
            files = {}
            for name in GROUP_TABLES:
                file = TableFile(Path(folder) / name, TABLES[name], self.about.run_id)
                file.write(self.rows_of(name, partition), partition)
                if file.close() is not None:
                    files[name] = [LogFile(file.folder / file.name, partition, partition)]
            return computed_in(PartitionLog(Wanted(self.about.cluster, partition), files), unnamed, known)

    def rows_of(self, name: str, partition: int) -> pa.Table:
        frame = self.frame(name)
        if frame is None:
            return table_schema(TABLES[name]).empty_table()
        return arrow_rows(frame.where(F.col("offsets_partition") == partition), TABLES[name])

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

    def take(self, answers: Sequence[Answer[Any]], whole: Mapping[str, pa.Table]) -> None:
        for each in answers:
            for name, number in each.num_rows.items():
                self.num_rows[name] = self.num_rows.get(name, 0) + number
        answered = sorted({progress.partition for each in answers for progress in each.progress})
        anew = sorted({partition for each in answers for partition in each.whole})
        if self.about.is_full:
            self.losses = self.found_losses()
        versions = self.warehouse.versions()
        for name in self.about.written.names:
            gone = self.gone(name, None if self.about.is_full else answered, anew)
            if gone is not None and versions.get(name, 0) > 0 and name not in self.losses.anew:
                self.replaced[name] = gone
        for name, rows in whole.items():
            self.num_rows[name] = rows.num_rows
            if rows.num_rows:
                self.blobs.write(name, rows, 0)

    def found_losses(self) -> RemoteLosses:
        versions = self.warehouse.versions()
        places = {name: self.warehouse.place(name) for name in self.about.written.names if name in versions}
        runs = self.warehouse.run_rows(["cluster", "job", "num_offsets_partitions"])
        return remote_losses(self.spark, places, versions, clusters_with(runs, self.about.written.job))

    def gone(self, name: str, answered: Sequence[int] | None, anew: Sequence[int]) -> str | None:
        """As Spark's SQL says it. `answered` None: of all offsets partitions. None: no rows."""
        of_cluster = f"cluster = {quoted(self.about.cluster)}"
        if name == self.about.written.progress and self.lost_clusters():
            # Those who lose rows begin anew.
            of_cluster = f"cluster IN ({', '.join(map(quoted, sorted({self.about.cluster, *self.lost_clusters()})))})"
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
        repaired = tuple(sorted(self.losses.repaired))
        folder, cluster = self.staging.folder, self.about.cluster
        return Staged(folder, tables, cluster, (), (), limits, "auto", dict(self.replaced), repaired)

    def anew(self) -> tuple[str, ...]:
        return tuple(sorted(self.losses.anew))

    def lost_clusters(self) -> frozenset[str]:
        return frozenset(self.losses.clusters) - {self.about.cluster}

    def rows_added(self) -> dict[str, int]:
        return {name: number for name, number in sorted(self.num_rows.items()) if number}

    def clean_up(self) -> None:
        Staging(self.spark, self.warehouse.place(STAGING)).remove()


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
