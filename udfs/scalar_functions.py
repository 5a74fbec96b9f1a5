"""The code of each declared function: Arrow columns in, by the names of its arguments, one column of the same length
out. Spark reads their type hints: unless all are `pa.Array`, it makes another kind of function."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pyarrow as pa

from udfs.assignors.answers import answer_column
from udfs.lines.record_structs import decoded_column

KERNELS: Mapping[str, Callable[..., pa.Array]] = MappingProxyType(
    {"kafka_assign": answer_column, "decode_offsets_record": decoded_column}
)
