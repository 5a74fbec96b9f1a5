"""Delta tables as Spark reads and writes them, on any file system that Hadoop knows."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from jobs.settings import Tables
from jobs.sources.archive_files import FileSystem, is_of_java, none
from jobs.warehouses.delta_tables import APPLICATION
from jobs.warehouses.hadoop_files import HadoopFiles
from schemas.columns import Table
from udfs.tables.arrow_schema import table_schema

# Of the state of a table's log, which is small: Delta would make 50 tasks of it.
FEW_PARTITIONS = {
    "spark.databricks.delta.snapshotPartitions": "2",
    # Rows that come in the place of others need not be like them: an interval that was open is closed.
    "spark.databricks.delta.replaceWhere.constraintCheck.enabled": "false",
}


def prepare_session(spark: SparkSession) -> None:
    for name, value in FEW_PARTITIONS.items():
        spark.conf.set(name, value)


def append(frame: DataFrame, place: str, sequence: int) -> None:
    """Nothing is read or written where the same run, or a later one, has done it."""
    once(frame, sequence).mode("append").save(place)


def overwrite(frame: DataFrame, place: str, sequence: int) -> None:
    once(frame, sequence).mode("overwrite").save(place)


def overwrite_where(frame: DataFrame, condition: str, place: str, sequence: int) -> None:
    """Rows that meet the condition go, those of the frame come, whether they meet it or not."""
    once(frame, sequence).mode("overwrite").option("replaceWhere", condition).save(place)


def once(frame: DataFrame, sequence: int) -> Any:
    return frame.write.format("delta").option("txnAppId", APPLICATION).option("txnVersion", str(sequence))


def compact(spark: SparkSession, place: str, limits: Tables, mode: str) -> None:
    """Small files become large ones; rows stay what they are."""
    if mode == "never":
        return
    fewest = 2 if mode == "full" else limits.small_files
    if num_files(spark, place) < fewest:
        return
    if snapshot(spark, place).allFiles().filter(f"size < {limits.small_file_bytes}").count() < fewest:
        return
    names = ("spark.databricks.delta.optimize.minFileSize", "spark.databricks.delta.optimize.maxFileSize")
    for name, value in zip(names, (limits.small_file_bytes, limits.file_bytes), strict=True):
        spark.conf.set(name, str(value))
    DeltaTable.forPath(spark, place).optimize().executeCompaction()


def num_files(spark: SparkSession, place: str) -> int:
    """By what the last commit tells, else by counting them, which takes seconds."""
    told = HadoopFiles(spark, place).text(f"_delta_log/{version_of(spark, place):020}.crc")
    return int(snapshot(spark, place).numOfFiles() if told is None else json.loads(told)["numFiles"])


def version_of(spark: SparkSession, place: str) -> int:
    """Of the newest state; -1 where there is no table."""
    return int(snapshot(spark, place).version())


def snapshot(spark: SparkSession, place: str) -> Any:
    system = FileSystem(spark)
    log = system.java.org.apache.spark.sql.delta.DeltaLog.forTable(system.session, place)
    return log.update(False, none(system), none(system))


def forget_logs(spark: SparkSession) -> None:
    """What is known of tables' logs, which may have been taken away since."""
    FileSystem(spark).java.org.apache.spark.sql.delta.DeltaLog.clearCache()


def has_log(spark: SparkSession, place: str) -> bool:
    return any(name.endswith(".json") for name in HadoopFiles(spark, place).names("_delta_log"))


def is_committed(spark: SparkSession, place: str, sequence: int) -> bool:
    """Whether the run, or a later one, has changed the table; not when its log cannot be read."""
    try:
        found = snapshot(spark, place).transactions().get(APPLICATION)
    except Exception as error:
        if not is_of_java(error):
            raise
        return False
    return bool(found.isDefined() and found.get() >= sequence)


def frame_at(spark: SparkSession, place: str, version: int) -> DataFrame:
    return spark.read.format("delta").option("versionAsOf", version).load(place)


def arrow_rows(frame: DataFrame, table: Table, columns: Sequence[str] | None = None) -> pa.Table:
    schema = table_schema(table)
    wanted = pa.schema([schema.field(name) for name in columns]) if columns else schema
    return frame.select(*wanted.names).toArrow().cast(wanted)
