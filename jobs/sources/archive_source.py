"""The source `records:PATH`: an archive of records of the offsets topic, as one frame for every format.

    frame = archive_frame(spark, path)                # columns of udfs.sources.archive_rows.ARCHIVE_ROWS
    frame = archive_frame(spark, path, files=[...])   # only those of archive_files(spark, path)

Nothing is lost: an item that is not a record becomes a row whose `problem` says why. Rows of other topics are left out;
an Observation passed as `seen` counts them when the frame is first read.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, DataFrameReader, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from jobs.output.failure import Failure
from jobs.sources.archive_columns import WANTED, check_names, check_types, rows_of_columns, union
from jobs.sources.archive_files import (
    ArchiveFiles,
    DeltaVersion,
    FileSystem,
    Format,
    archive_files,
    find_archives,
    is_of_java,
    unreadable_files,
)
from jobs.sources.unreadable import Unreadable
from schemas.words.exit_codes import ExitCode
from udfs.sources.archive_lines import LINE_ROWS, archive_rows, folder_columns
from udfs.sources.archive_rows import ARCHIVE_ROWS, IS_OTHER_TOPIC, REQUIRED

__all__ = ["NUM_OTHER_TOPICS", "archive_files", "archive_frame", "unreadable_failure", "unreadable_files"]

# The metrics of the Observation that is passed to archive_frame.
NUM_OTHER_TOPICS = "num_other_topics"
# Number of lines that are read to find the columns. All lines are read only if a column is missing in these.
HEAD_LINES = 1_000
EXCEPTION_NAME = re.compile(r"^[: ]*([\w.$]+: )*")
UNREADABLE_SIGNS = ("FAILED_READ_FILE", "is not a Parquet file")


def archive_frame(
    spark: SparkSession,
    path: str,
    files: Collection[str] | None = None,
    seen: Observation | None = None,
    unreadable: list[Unreadable] | None = None,
) -> DataFrame:
    """The archive's rows. Columns are checked now; rows are read when the frame is. `unreadable`: see find_archives."""
    archives = find_archives(spark, path, unreadable)
    chosen = archives if files is None else chosen_files(archives, path, set(files))
    system = FileSystem(spark)
    with unreadable_failure(path):
        frames = [frame for each in chosen for frame in frames_of(spark, system, each, archives)]
    # With no files, an Observation must still count zero rows: otherwise it would wait for ever.
    rows = union(frames or [spark.createDataFrame([], from_arrow_schema(LINE_ROWS))])
    if seen is not None:
        rows = rows.observe(seen, F.count_if(F.col(IS_OTHER_TOPIC.name)).alias(NUM_OTHER_TOPICS))
    return rows.where(~F.col(IS_OTHER_TOPIC.name)).select(*ARCHIVE_ROWS.names)


@contextmanager
def unreadable_failure(path: str, culprits: Callable[[], Failure | None] = lambda: None) -> Iterator[None]:
    """Used around all code that reads an archive's frame: users must repair unreadable files. `culprits`: what is said
    of those that cannot be opened, which Spark does not always name."""
    try:
        yield
    except Exception as error:
        if (isinstance(error, PySparkException) or is_of_java(error)) and (failure := culprits()) is not None:
            raise failure from None
        lines = str(error).splitlines() if isinstance(error, PySparkException) or is_of_java(error) else []
        reason = next((line for line in lines if any(sign in line for sign in UNREADABLE_SIGNS)), None)
        if reason is None:
            raise
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{path}: {EXCEPTION_NAME.sub('', reason)}") from None


def chosen_files(archives: Sequence[ArchiveFiles], path: str, names: set[str]) -> list[ArchiveFiles]:
    known = {file.path for each in archives for file in each.files}
    if gone := sorted(names - known):
        raise Failure(
            ExitCode.UNREADABLE_INPUT,
            f"{gone[0]}: is not among the files of {path} any more; it was there when the run began",
        )
    chosen = [replace(each, files=tuple(file for file in each.files if file.path in names)) for each in archives]
    return [each for each in chosen if each.files]


def frames_of(
    spark: SparkSession, system: FileSystem, chosen: ArchiveFiles, archives: Sequence[ArchiveFiles]
) -> Iterator[DataFrame]:
    """The rows of some files, one frame for each set of columns. `archives`: everything at the path."""
    paths = [file.path for file in chosen.files]
    if chosen.table:
        yield delta_rows(spark, system, chosen.table, paths)
    elif chosen.format is Format.PARQUET:
        yield from (group.rows(spark, system) for group in parquet_groups(system, paths))
    else:
        whole = [file.path for each in archives if each.format is Format.JSON for file in each.files]
        yield json_rows(spark, system, paths, whole)


def exact_paths(spark: SparkSession) -> DataFrameReader:
    """A reader for which a bracket in a file name is only a bracket."""
    return spark.read.option("__globPaths__", "false")


def file_column(system: FileSystem) -> Column:
    """The file of a row, in the form of archive_files: Spark returns a URI."""
    uri = F.col("_metadata.file_path")
    path = F.when(uri.contains("%"), F.url_decode(F.replace(uri, F.lit("+"), F.lit("%2B")))).otherwise(uri)
    if not system.hidden_scheme:
        return path
    hidden = len(system.hidden_scheme)
    return F.when(path.startswith(system.hidden_scheme), F.substr(path, F.lit(hidden + 1))).otherwise(path)


# Delta


def delta_rows(spark: SparkSession, system: FileSystem, table: DeltaVersion, paths: Sequence[str]) -> DataFrame:
    """Uses Delta's own reader, which handles deleted rows and renamed columns."""
    frame = DataFrame(table.frame(system, paths), spark)
    check_names(table.folder, frame.columns, ())
    check_types(table.folder, frame.schema)
    return rows_of_columns(frame, file_column(system), ())


# Parquet


@dataclass(frozen=True)
class ParquetGroup:
    """Files with the same columns."""

    paths: list[str]
    names: tuple[str, ...]
    schema: StructType
    of_folders: tuple[str, ...]
    has_nanoseconds: bool

    def rows(self, spark: SparkSession, system: FileSystem) -> DataFrame:
        check_names(self.paths[0], self.names, self.of_folders)
        check_types(self.paths[0], self.schema)
        frame = exact_paths(spark).schema(self.schema).parquet(*self.paths)
        return rows_of_columns(frame, file_column(system), self.of_folders, self.has_nanoseconds)


def parquet_groups(system: FileSystem, paths: Sequence[str]) -> list[ParquetGroup]:
    """Groups files by their own columns. Spark would use the columns of one file for all, and return nulls, which are
    tombstones, for columns that others lack."""
    files = system.java.java.util.ArrayList()
    for path in paths:
        files.add(system.of(system.path(path)).getFileStatus(system.path(path)))
    footers = system.java.org.apache.parquet.hadoop.ParquetFileReader.readAllFootersInParallel(system.conf, files, True)
    grouped: dict[tuple[str, tuple[str, ...]], tuple[Any, list[str]]] = {}
    for footer in footers:
        path, schema = system.shown_path(footer.getFile()), footer.getParquetMetadata().getFileMetaData().getSchema()
        grouped.setdefault((schema.toString(), tuple(folder_columns(path))), (schema, []))[1].append(path)
    return [
        parquet_group(system, schema, sorted(members), of_folders)
        for (_, of_folders), (schema, members) in sorted(grouped.items(), key=lambda item: item[0])
    ]


def parquet_group(system: FileSystem, schema: Any, paths: list[str], of_folders: Iterable[str]) -> ParquetGroup:
    fields = {field.getName(): field for field in schema.getFields()}
    wanted = system.java.java.util.ArrayList()
    for name in WANTED:
        if name in fields:
            wanted.add(fields[name])
    pruned = system.java.org.apache.parquet.schema.MessageType(schema.getName(), wanted)
    # pandas writes times in nanoseconds, which Spark can read only as plain numbers.
    conf = system.session.sessionState().conf().clone()
    conf.setConfString("spark.sql.legacy.parquet.nanosAsLong", "true")
    package = system.java.org.apache.spark.sql.execution.datasources.parquet
    spark_schema = StructType.fromJson(json.loads(package.ParquetToSparkSchemaConverter(conf).convert(pruned).json()))
    has_nanoseconds = "timestamp" in fields and "NANOS" in str(fields["timestamp"].getLogicalTypeAnnotation())
    missing = tuple(name for name in of_folders if name not in fields)
    return ParquetGroup(paths, tuple(fields), spark_schema, missing, has_nanoseconds)


# JSON lines


def json_rows(spark: SparkSession, system: FileSystem, paths: Sequence[str], whole: Sequence[str]) -> DataFrame:
    check_line_names(spark, paths, whole)
    lines = exact_paths(spark).text(list(paths))
    # As bytes, so that text that is not UTF-8 stays unchanged.
    source = lines.select(F.col("value").cast("binary").alias("line"), file_column(system).alias("source_file"))
    return source.mapInArrow(archive_rows, from_arrow_schema(LINE_ROWS))


def check_line_names(spark: SparkSession, paths: Sequence[str], whole: Sequence[str]) -> None:
    """A column that no line has is missing. Any single line may lack a column: writers leave nulls out."""
    of_folders = set.intersection(*(set(folder_columns(path)) for path in whole))
    lines = exact_paths(spark).text(list(paths)).where(F.trim("value") != "")
    names = line_names(lines.limit(HEAD_LINES))
    if set(REQUIRED) <= names | of_folders or lines.isEmpty():
        return
    names = line_names(exact_paths(spark).text(list(whole)))
    check_names(f"{paths[0]}", sorted(names), of_folders)


def line_names(lines: DataFrame) -> set[str]:
    names = lines.select(F.explode(F.json_object_keys("value")).alias("name")).distinct()
    return {row.name for row in names.collect()}
