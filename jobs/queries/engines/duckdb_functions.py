"""Registers the functions of `jobs/functions.py` in a DuckDB connection, whose UDFs take Arrow columns too."""

from collections.abc import Callable
from functools import wraps

import pyarrow as pa
from duckdb import DuckDBPyConnection
from duckdb.func import ARROW, SPECIAL

from jobs.queries.definitions.column_types import duckdb_type
from schemas.tables import SCALAR_FUNCTIONS
from udfs.scalar_functions import KERNELS


def register_duckdb(connection: DuckDBPyConnection) -> None:
    for function in SCALAR_FUNCTIONS.values():
        connection.create_function(
            function.name,
            over_chunks(KERNELS[function.name]),
            [connection.type(duckdb_type(column.type)) for column in function.arguments],
            connection.type(duckdb_type(function.result)),
            type=ARROW,
            # By default a NULL argument makes the answer NULL, but a tombstone has a key.
            null_handling=SPECIAL,
        )


def over_chunks(kernel: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    @wraps(kernel)  # DuckDB counts the arguments of the signature
    def over_whole(*columns: pa.ChunkedArray) -> pa.Array:
        return kernel(*(column.combine_chunks() for column in columns))

    return over_whole
