"""Registers vectorized functions in a Spark session: `jobs/functions.py` is where users import them."""

from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import arrow_udf

from schemas.contract.scalar_functions import SCALAR_FUNCTIONS, ScalarFunction
from schemas.declarations.columns import sql_type
from udfs.scalar_functions import KERNELS


class Functions(NamedTuple):
    """Functions of columns or of column names, by the names of their declarations."""

    kafka_assign: Any
    decode_offsets_record: Any


def register(spark: SparkSession) -> Functions:
    """Registers the functions for SQL in this session, and returns them for frames."""
    return Functions(**{name: registered(spark, function) for name, function in SCALAR_FUNCTIONS.items()})


def registered(spark: SparkSession, function: ScalarFunction) -> Any:
    # Functions of modules are pickled by name, without session or files.
    kernel = KERNELS[function.name]
    # PySpark's stubs require the kind of function that causes a warning at run time, where it is read from the type
    # hints.
    vectorized: Any = arrow_udf(kernel, sql_type(function.result))  # type: ignore[call-overload]
    vectorized.__doc__ = function.comment
    return spark.udf.register(function.name, vectorized)
