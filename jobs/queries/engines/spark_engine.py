"""Runs SQL with Spark, over tables on any storage that Hadoop can read."""

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.output.failure import Failure
from jobs.output.progress import doing
from jobs.output.rows import Row
from jobs.queries.definitions.functions import function_statement
from jobs.queries.definitions.views import named_in
from jobs.queries.engines.absent_tables import say_absent
from jobs.queries.engines.catalog import register
from jobs.queries.results import QueryResult
from jobs.queries.statements import Token, check_reading, statements_of, tokens_of
from jobs.spark.quiet_java import keep_errors_to_us, quiet_java
from jobs.warehouses.any_warehouse import reading
from jobs.warehouses.warehouse import Warehouse
from schemas.renames import renamed
from schemas.tables import FUNCTIONS, USER_TABLES
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

# Results are small, and what little is shuffled is merged again.
SHUFFLE_PARTITIONS = 16
NOT_FOUND = ("UNRESOLVED_COLUMN", "TABLE_OR_VIEW_NOT_FOUND", "FIELD_NOT_FOUND")
NAMED = re.compile("`([^`]+)`")
SETTINGS = {
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    # Of the state of a table's log, which is small.
    "spark.databricks.delta.snapshotPartitions": "2",
}


@dataclass(frozen=True)
class SparkEngine:
    place: str
    is_debug: bool

    def statements(self, text: str) -> list[str]:
        statements = statements_of(text)
        for statement in statements:
            check_reading(statement)
        return [statement.text for statement in statements]

    def is_whole(self, text: str) -> bool:
        words = [token for token in tokens_of(text) if token.kind not in ("space", "comment")]
        return words[-1:] == [Token("mark", ";")]

    @contextmanager
    def scope(self, statements: Sequence[str]) -> Iterator[Callable[[str], QueryResult]]:
        spark, warehouse, versions = self.open_session()
        say_absent(statements, versions)
        with doing("opening tables"):
            bring_into_scope(spark, warehouse, versions, statements)
        try:
            yield lambda statement: answer(spark, statement)
        finally:
            forget(spark)

    def register(self, database: str | None) -> QueryResult:
        spark, warehouse, versions = self.open_session()
        return QueryResult(*register(spark, warehouse, versions, database))

    def open_session(self) -> "tuple[SparkSession, Warehouse, dict[str, int]]":
        # Before Spark, which takes seconds to start.
        warehouse = reading(self.place)
        versions = warehouse.readable_versions()
        return start_session(self.is_debug), warehouse, versions


def start_session(is_debug: bool) -> "SparkSession":
    with doing("starting Spark"), quiet_java(is_debug):
        spark = session()
    keep_errors_to_us()
    return spark


def session() -> "SparkSession":
    from jobs.spark.session import spark_session

    # Spark hands times to Python by the zone of the process, which must be that of the tables.
    os.environ["TZ"] = "UTC"
    time.tzset()
    return spark_session("groupscope sql", shuffle_partitions=SHUFFLE_PARTITIONS, settings=SETTINGS)


def bring_into_scope(
    spark: "SparkSession", warehouse: Warehouse, versions: dict[str, int], statements: Sequence[str]
) -> None:
    """Only what the statements can name, since each table takes a while to open."""
    from jobs.queries.files.frames import no_rows, table_at

    named = named_in(statements)
    for name in named.tables:
        table, version = USER_TABLES[name], versions.get(name)
        frame = no_rows(spark, table) if version is None else table_at(spark, warehouse.path(name), table, version)
        frame.createOrReplaceTempView(name)
    for name in named.views:
        spark.sql(VIEWS[name].sql).createOrReplaceTempView(name)
    for name in named.functions:
        spark.sql(function_statement(FUNCTIONS[name], is_temporary=True))
    if named.scalar_functions:
        from jobs.spark.functions import register

        register(spark)


def forget(spark: "SparkSession") -> None:
    """Spark may continue to run, and must not answer from them for another warehouse."""
    for name in (*USER_TABLES, *VIEWS):
        spark.catalog.dropTempView(name)
    for name in FUNCTIONS:
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")


def answer(spark: "SparkSession", statement: str) -> QueryResult:
    from pyspark.errors import PySparkException

    try:
        frame = spark.sql(statement)
        # Part by part, so that a result may be larger than memory; one part ahead, so that two cores work.
        return QueryResult(
            frame.columns, readable(frame.toLocalIterator(prefetchPartitions=True)) if frame.columns else ()
        )
    except PySparkException as error:
        raise failure(error) from None


def readable(rows: Iterator[Row]) -> Iterator[Row]:
    from pyspark.errors import PySparkException

    try:
        yield from rows
    except PySparkException as error:
        raise failure(error) from None


def failure(error: "PySparkException") -> Failure:
    from jobs.queries.files.frames import first_line

    condition, text = str(error.getCondition()), first_line(str(error))
    if condition.startswith(NOT_FOUND) and (since := renamed(" ".join(NAMED.findall(text.partition("Did you")[0])))):
        text = f"{text} ({since})"
    is_file = condition.startswith("FAILED_READ_FILE")
    return Failure(ExitCode.UNUSABLE_WAREHOUSE if is_file else ExitCode.USAGE, text)
