"""Registers vectorized functions in a Spark session: `jobs/functions.py` is where users import them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import arrow_udf

from jobs.spark.compiled_loops import keep_compiled_loops
from schemas.tables import SCALAR_FUNCTIONS, ScalarFunction, sql_type
from udfs.scalar_functions import KERNELS


class Functions(NamedTuple):
    """Functions of columns or of column names, by the names of their declarations."""

    kafka_assign: Any
    decode_offsets_record: Any


def register(spark: SparkSession) -> Functions:
    """Registers the functions for SQL in this session, and returns them for frames."""
    return Functions(**{name: register_function(spark, function) for name, function in SCALAR_FUNCTIONS.items()})


def register_function(spark: SparkSession, function: ScalarFunction) -> Any:
    # PySpark reads the type hints of the function that is wrapped.
    kernel = keeping_loops(KERNELS[function.name])
    # PySpark's stubs require the kind of function that causes a warning at run time, where it is read from the type
    # hints.
    vectorized: Any = arrow_udf(kernel, sql_type(function.result))  # type: ignore[call-overload]
    vectorized.__doc__ = function.comment
    return spark.udf.register(function.name, vectorized)


def keeping_loops(kernel: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    """What it calls is pickled by name, without session or files."""

    @wraps(kernel)
    def keeping(*columns: pa.Array, **by_name: pa.Array) -> pa.Array:
        keep_compiled_loops()
        return kernel(*columns, **by_name)

    return keeping
