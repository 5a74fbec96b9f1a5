"""A warehouse as DuckDB and Spark answer SQL about it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.queries.engines import spark_engine
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.queries.results import QueryResult
from jobs.warehouses.any_warehouse import reading

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Both = dict[str, Callable[[str], QueryResult]]


@contextmanager
def both_engines(place: Path, spark: "SparkSession", statements: Sequence[str]) -> Iterator[Both]:
    warehouse = reading(str(place))
    with DuckDBEngine(str(place)).scope(statements) as answer:
        spark_engine.bring_into_scope(spark, warehouse, warehouse.readable_versions(), statements)
        yield {"duckdb": answer, "spark": partial(spark_engine.answer, spark)}
        spark_engine.forget(spark)
