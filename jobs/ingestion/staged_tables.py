"""Carries out a run whose rows are staged: each table in one commit of Spark's Delta writer, `runs` last."""

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.failure import Failure
from jobs.ingestion.row_sinks import serialized
from jobs.ingestion.staging import Staging, table_rows
from jobs.queries.table_frames import first_line
from jobs.spark.session_settings import with_settings
from jobs.spark.types import table_type
from jobs.warehouses.failpoints import failpoint
from jobs.warehouses.first_version import create_table
from jobs.warehouses.hadoop_files import HadoopFiles
from jobs.warehouses.manifest import RUNS, Manifest, Staged, run_rows
from jobs.warehouses.spark_tables import (
    append,
    compact,
    forget_logs,
    frame_at,
    has_log,
    is_committed,
    overwrite,
    overwrite_where,
    prepare_session,
    version_of,
)
from schemas.exit_codes import ExitCode
from schemas.tables import TABLES
from udfs.known import REJECTED

RECORD_KEY = "offsets_partition int, record_offset bigint, partition_leader_epoch int"
RANGE_KEY = "source_file string, byte_position bigint"


def finish_staged(
    spark: SparkSession, place_of: Callable[[str], str], manifest: Manifest, earlier: Mapping[str, int]
) -> None:
    """From wherever an attempt at it ended: Delta itself sees which tables have had their commit."""
    try:
        change_tables(spark, place_of, manifest, earlier)
    except PySparkException as error:
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{place_of(RUNS)}: {first_line(str(error))}") from error


def change_tables(
    spark: SparkSession, place_of: Callable[[str], str], manifest: Manifest, earlier: Mapping[str, int]
) -> None:
    staged = manifest.staged
    assert staged is not None
    prepare_session(spark)
    blobs = Staging(spark, staged.folder).blobs()
    if lost := sorted(set(staged.tables) - set(blobs)):
        told = f"{staged.folder}: rows of {lost[0]} were expected, which run {manifest.run_id} has left there"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, told)
    versions = {}
    for name in manifest.changes:
        place = place_of(name)
        if name in manifest.anew:
            clear(spark, place, manifest.sequence)
        if name not in earlier or name in manifest.anew:
            create_table(spark, place, TABLES[name])
            failpoint("table_created", name)
        is_changed = name in blobs or name in staged.replaced or name in manifest.anew
        is_touched = is_changed or name == REJECTED or staged.optimize == "full"
        if is_touched:
            change_table(spark, place, name, blobs.get(name), manifest)
            compact(spark, place, staged.limits, staged.optimize)
        versions[name] = version_of(spark, place) if is_touched else earlier.get(name, 0)
        failpoint("table_committed", name)
    create_table(spark, place_of(RUNS), TABLES[RUNS])
    rows = run_rows(manifest, {**earlier, **versions})
    # In one part: another would be an empty file, which Delta writes and does not name.
    content = spark.createDataFrame([(bytearray(serialized(rows)),)], "content binary").coalesce(1)
    append(table_rows(content, TABLES[RUNS]), place_of(RUNS), manifest.sequence)


def clear(spark: SparkSession, place: str, sequence: int) -> None:
    """Makes room for a table whose log cannot be read, unless an earlier attempt at the run has made it already."""
    if has_log(spark, place) and is_committed(spark, place, sequence):
        return
    HadoopFiles(spark, place).remove("")
    forget_logs(spark)


def change_table(spark: SparkSession, place: str, name: str, blobs: DataFrame | None, manifest: Manifest) -> None:
    staged = manifest.staged
    assert staged is not None
    new = None if blobs is None else table_rows(blobs, TABLES[name])
    if name == REJECTED and (staged.retracted_records or staged.retracted_ranges):
        held = frame_at(spark, place, version_of(spark, place))
        gone = keys_that_go(spark, staged)
        if not all(held.join(keys, is_named(held, keys, staged), "left_semi").isEmpty() for keys in gone):
            kept = held
            for keys in gone:
                kept = kept.join(keys, is_named(kept, keys, staged), "left_anti")
            overwrite(kept if new is None else kept.unionByName(new), place, manifest.sequence)
            return
    if name in staged.repaired:
        with with_settings(spark, {"spark.sql.files.ignoreMissingFiles": "true"}):
            left = frame_at(spark, place, version_of(spark, place)).where(f"NOT ({staged.replaced[name]})")
            overwrite(left if new is None else left.unionByName(new), place, manifest.sequence)
        return
    # The first version of a table is an empty one.
    if name in staged.replaced and version_of(spark, place) > 0:
        rows = spark.createDataFrame([], table_type(TABLES[name])) if new is None else new
        overwrite_where(rows, staged.replaced[name], place, manifest.sequence)
        return
    if new is not None:
        append(new, place, manifest.sequence)


def keys_that_go(spark: SparkSession, staged: Staged) -> list[DataFrame]:
    found = ((staged.retracted_records, RECORD_KEY), (staged.retracted_ranges, RANGE_KEY))
    return [F.broadcast(spark.createDataFrame(list(set(rows)), schema)) for rows, schema in found if rows]


def is_named(rows: DataFrame, keys: DataFrame, staged: Staged) -> Any:
    """Unknown epochs and places are equal to unknown ones."""
    named = rows["cluster"] == staged.cluster
    for name in keys.columns:
        named = named & rows[name].eqNullSafe(keys[name])
    return named
