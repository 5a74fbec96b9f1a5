"""Changes settings of a Spark session temporarily."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def with_settings(spark: SparkSession, settings: Mapping[str, str] | None) -> Iterator[None]:
    """The session's own again afterwards."""
    before = {name: str(spark.conf.get(name)) for name in settings or ()}
    for name, value in (settings or {}).items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
