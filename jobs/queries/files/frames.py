"""Tables as Spark frames, each at one version."""

import re

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from jobs.output.failure import Failure
from jobs.spark.types import table_type
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import IS_PROVISIONAL, file_path, files_of, open_table
from schemas.tables import Table
from schemas.words.exit_codes import ExitCode

# Spark takes seconds to make out a table's state from its log, which delta-rs does at once. Of more files than this
# Delta's own way is better, since it leaves out those that a query cannot need.
FEW_FILES = 500
PATTERN = re.compile(r"[*?\[\]{}\\]")


def table_at(spark: SparkSession, folder: Place, table: Table, version: int) -> DataFrame:
    try:
        if folder.is_remote:
            return by_delta(spark, folder.uri, version)
        delta = open_table(folder, version)
        paths = [] if delta is None else files_of(delta).column("path").to_pylist()
        files = [(folder / file_path(path)).uri for path in paths]
        # Spark takes paths for patterns. Other writers than ours leave a column out of the file if its path has it.
        is_plain = not PATTERN.search(folder.address) and not any(f"/{IS_PROVISIONAL}=" in file for file in files)
        if delta is None or len(files) > FEW_FILES or not is_plain:
            return by_delta(spark, folder.uri, version)
        return spark.read.schema(table_type(table)).parquet(*files) if files else no_rows(spark, table)
    except (PySparkException, OSError, ValueError) as error:
        line = f"version {version} cannot be read: {first_line(str(error))}; run `groupscope doctor`"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{folder.address}: {line}") from None


def no_rows(spark: SparkSession, table: Table) -> DataFrame:
    """For a table that is not there yet."""
    return spark.createDataFrame([], table_type(table))


def by_delta(spark: SparkSession, place: str, version: int) -> DataFrame:
    return spark.read.format("delta").option("versionAsOf", version).load(place)


def first_line(message: str) -> str:
    """Without the suggestions and the place in the text, which Spark adds."""
    return next((line.strip() for line in message.splitlines() if line.strip()), "Spark gave no reason")
