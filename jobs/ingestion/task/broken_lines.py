"""Archive lines that are not records but name an offset: they become rows of `rejected_records` with part `batch`.

Such a row takes the place of a record that another file or copy may contain. Once one does, the row is removed.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.tables import TABLES
from schemas.words.records import Part
from udfs.arrays.arrow_schema import table_schema
from udfs.rows.merge_copies import REJECTED

NO_LINES = table_schema(TABLES[REJECTED]).empty_table()


def without_lines(held: Mapping[str, pa.Table]) -> tuple[dict[str, pa.Table], pa.Table]:
    """Splits rows into records and lines. Lines are compared with nothing."""
    if REJECTED not in held:
        return dict(held), NO_LINES
    rows = held[REJECTED]
    is_line = pc.equal(rows.column("part"), Part.BATCH.value)
    return {**held, REJECTED: rows.filter(pc.invert(is_line))}, rows.filter(is_line)


def sort_out_lines(
    broken: pa.Table, held: pa.Table, decoded: NDArray[np.int64]
) -> tuple[pa.Table, list[tuple[int, None]]]:
    """Of the lines in `broken`, those to write; of those in `held` by the warehouse, the keys to remove."""
    good = held.column("record_offset").filter(is_decoded(held, decoded))
    return broken.filter(pc.invert(is_decoded(broken, decoded))), [(offset, None) for offset in good.to_pylist()]


def is_decoded(lines: pa.Table, decoded: NDArray[np.int64]) -> pa.Array:
    return pa.array(np.isin(lines.column("record_offset").to_numpy(), decoded))


def with_lines(new: Mapping[str, pa.Table], lines: pa.Table) -> dict[str, pa.Table]:
    """Merges lines with rejected records in one order: files are read a span of offsets at a time."""
    if not lines.num_rows:
        return dict(new)
    parts = [new[REJECTED], lines] if REJECTED in new else [lines]
    return {**new, REJECTED: pa.concat_tables(parts).sort_by("record_offset")}
