"""Creates the tables, views and functions of a warehouse in the Spark catalog, where other programs find them by
name."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jobs.output.failure import Failure, say
from jobs.queries.definitions.dialects import text_literal
from jobs.queries.definitions.functions import function_statement, readable
from jobs.queries.definitions.views import spark_view
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import FUNCTIONS, USER_TABLES
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = ("database", "name", "kind", "location")


def register(
    spark: "SparkSession", warehouse: Warehouse, tables: Iterable[str], database: str | None
) -> tuple[tuple[str, ...], list[tuple[str | None, ...]]]:
    """What was registered, as rows. Tables are read as they then are; only `sql` itself reads by version."""
    if spark.conf.get("spark.sql.catalogImplementation") == "in-memory":
        say("the Spark catalog is in memory: what is registered is gone when this run ends")
    if database is not None:
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {name_literal(database)}")
        spark.sql(f"USE {name_literal(database)}")
    used = spark.catalog.currentDatabase()
    rows: list[tuple[str | None, ...]] = []
    names = sorted(name for name in tables if name in USER_TABLES)
    for name in names:
        location, full_name = warehouse.path(name).address, f"{name_literal(used)}.{name}"
        if spark.catalog.tableExists(full_name):
            check_location(spark, full_name, location)
        else:
            spark.sql(f"CREATE TABLE {name} USING DELTA LOCATION {text_literal(location)}")
        rows.append((used, name, "table", location))
    for view in VIEWS.values():
        if set(view.reads) <= {*names, *VIEWS}:
            for statement in spark_view(view):
                spark.sql(statement)
            rows.append((used, view.name, "view", None))
    for function in readable(FUNCTIONS, names):
        spark.sql(function_statement(function, is_temporary=False))
        rows.append((used, function.name, "function", None))
    return COLUMNS, rows


def check_location(spark: "SparkSession", name: str, expected: str) -> None:
    """A table of this name may have been there before, of another warehouse."""
    row = spark.sql(f"DESCRIBE DETAIL {name}").first()
    location = str(row["location"]).removeprefix("file:") if row else None
    if location is None or location.rstrip("/") != expected:
        table = name.replace("`", "")
        line = (
            f"{table}: the catalog already has a table of this name at {location}, not at {expected}; give "
            "another --database"
        )
        raise Failure(ExitCode.USAGE, line)


def name_literal(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
