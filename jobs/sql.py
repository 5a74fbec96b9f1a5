"""Answers SQL over the tables, views and functions of a warehouse, all at the versions that its newest run names.

    groupscope sql "SELECT * FROM v_decode_coverage" --format csv
    groupscope sql "SELECT * FROM owner_at('orders', 3, '2026-11-21T03:00')"
    groupscope sql questions.sql
    spark-submit … jobs/sql.py --register --database kafka

Reads every table that the text names, writes rows to standard output: the result of each statement after the other.
With --register tables, views and functions are put into the Spark catalog, where other programs find them.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.failure import Failure
from jobs.flags import add_format_flag, add_warehouse_flag
from jobs.queries.catalog import register
from jobs.queries.functions import function_statement, readable
from jobs.queries.statements import Statement, check_reading, statements_of
from jobs.queries.views import Dialect, named_in, view_definitions
from jobs.row_output import print_rows, write_lines
from jobs.sources.places import is_remote
from jobs.spark.quiet_java import keep_errors_to_us, quiet_java
from jobs.warehouses.any_warehouse import AnyWarehouse, reading
from schemas.exit_codes import ExitCode
from schemas.history_functions import FUNCTIONS
from schemas.tables import USER_TABLES
from schemas.views import VIEWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Results are small, and what little is shuffled is merged again.
SHUFFLE_PARTITIONS = 16
SETTINGS = {
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    # Of the state of a table's log, which is small.
    "spark.databricks.delta.snapshotPartitions": "2",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", metavar="SQL|FILE", help="statements, or a file of them")
    add_warehouse_flag(parser)
    add_format_flag(parser)
    parser.add_argument(
        "--register", action="store_true", help="put tables, views and functions into the Spark catalog"
    )
    parser.add_argument("--database", metavar="NAME", help="with --register: the database to put them into")
    parser.add_argument(
        "--print-views",
        choices=[dialect.value for dialect in Dialect],
        help="print the definitions of all views for this engine, without Spark",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.print_views:
        write_lines(view_definitions(Dialect(arguments.print_views)))
        return ExitCode.CLEAN
    check_usage(arguments)
    statements = statements_of(text_of(arguments.text)) if arguments.text is not None else []
    if arguments.text is not None and not statements:
        raise Failure(ExitCode.USAGE, f"{arguments.text!r}: holds no statement, SQL or a file of it was expected")
    if not arguments.register:
        for statement in statements:
            check_reading(statement)
    if is_remote(arguments.warehouse):
        spark = started(arguments.debug)
        warehouse = reading(arguments.warehouse, lambda: spark)
        versions = warehouse.versions()
    else:
        # Before Spark, which takes seconds to start.
        warehouse = reading(arguments.warehouse, session)
        versions = warehouse.versions()
        spark = started(arguments.debug)
    if arguments.register:
        print_rows(*register(spark, warehouse, versions, arguments.database), arguments.format)
    else:
        bring_into_scope(spark, warehouse, versions, statements)
    try:
        print_results(spark, statements, arguments.format)
    finally:
        # A Spark that goes on running must not take them for what is asked of another warehouse.
        for name in (*USER_TABLES, *VIEWS):
            spark.catalog.dropTempView(name)
        for name in FUNCTIONS:
            spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")
    return ExitCode.CLEAN


def check_usage(arguments: argparse.Namespace) -> None:
    if arguments.text is None and not arguments.register:
        raise Failure(ExitCode.USAGE, "nothing to do: a statement or a file of statements was expected")
    if arguments.database is not None and not arguments.register:
        raise Failure(ExitCode.USAGE, f"--database {arguments.database}: only with --register")


def text_of(argument: str) -> str:
    """The statements themselves, or those in the file of this name."""
    try:
        is_file = Path(argument).is_file()
    except (OSError, ValueError):  # too long for a name, or no name at all
        is_file = False
    if not is_file and not argument.endswith(".sql"):
        if not argument.isascii() and argument != argument.encode(errors="replace").decode():
            raise Failure(ExitCode.USAGE, f"{argument!r}: SQL in UTF-8 was expected")
        return argument
    try:
        return Path(argument).read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(ExitCode.USAGE, f"{argument}: {error.strerror}, a file of SQL was expected") from None
    except ValueError as error:
        raise Failure(ExitCode.USAGE, f"{argument}: {error}, SQL in UTF-8 was expected") from None


def started(is_debug: bool) -> "SparkSession":
    with quiet_java(is_debug):
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
    spark: "SparkSession", warehouse: AnyWarehouse, versions: Mapping[str, int], statements: Iterable[Statement]
) -> None:
    """Only what the statements can name, since each table takes a while to open."""
    from jobs.queries.table_frames import table_at

    named = named_in(statement.text for statement in statements)
    for name in named.tables:
        if name in versions:
            frame = table_at(spark, warehouse.place(name), USER_TABLES[name], versions[name])
            frame.createOrReplaceTempView(name)
    for name in named.views:
        if set(VIEWS[name].reads) <= {*versions, *VIEWS}:
            spark.sql(VIEWS[name].sql).createOrReplaceTempView(name)
    for function in readable(named.functions, versions):
        spark.sql(function_statement(function, is_temporary=True))


def print_results(spark: "SparkSession", statements: list[Statement], format: str) -> None:
    for number, statement in enumerate(statements, 1):
        if number > 1 and format != "json":
            write_lines([""])
        place = f"statement {number}: " if len(statements) > 1 else ""
        print_result(spark, statement, format, place)


def print_result(spark: "SparkSession", statement: Statement, format: str, place: str) -> None:
    from pyspark.errors import PySparkException

    from jobs.queries.table_frames import first_line

    try:
        frame = spark.sql(statement.text)
        if frame.columns:
            # Part by part, so that a result may be larger than memory; one part ahead, so that two cores work.
            print_rows(frame.columns, frame.toLocalIterator(prefetchPartitions=True), format)
    except PySparkException as error:
        is_file = str(error.getCondition()).startswith("FAILED_READ_FILE")
        code = ExitCode.UNUSABLE_WAREHOUSE if is_file else ExitCode.USAGE
        raise Failure(code, place + first_line(str(error))) from None


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["sql", *sys.argv[1:]]))
