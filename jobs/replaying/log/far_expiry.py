"""Times beyond every timestamp at which commits expire. In the decoded table such a time is NULL, and `out_of_range`
has it. But NULL also means that the commit names no time, so that the broker's retention decides. The replay takes the
last time that a timestamp can hold, and of a time before the year 1 the beginning of 1970."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.replaying.log.row_groups import bounds_of, column_in
from udfs.arrays.nullable import numbers, one_array, times
from udfs.rows.times import HIGHEST_MS, MICROSECONDS

EXPIRY, BEYOND = "expire_time", "out_of_range"
# Only values of this version name a time. No broker since 2.1 writes it, so most logs need not be asked.
VERSION = 1
# Python cannot convert every time of the first day of the year 1.
LONG_OVER = 0


def may_name_expiry(group: pq.RowGroupMetaData) -> bool:
    column = column_in(group, "value_version")
    if column is None:
        return False
    bounds = bounds_of(column)
    return bounds is None or bounds[0] <= VERSION <= bounds[1]  # type: ignore[operator]


def with_far_expiry(rows: pa.Table) -> pa.Table:
    """Without the column `out_of_range`."""
    beyond = one_array(rows.column(BEYOND))
    entries, row = pc.list_flatten(beyond), pc.list_parent_indices(beyond).to_numpy()
    is_expiry = pc.equal(entries.field("field"), EXPIRY).to_numpy(zero_copy_only=False)
    rows = rows.drop_columns([BEYOND])
    if not is_expiry.any():
        return rows
    expiry = numbers(rows.column(EXPIRY)).copy()
    is_far_ahead = entries.field("value").to_numpy()[is_expiry] > 0
    expiry[row[is_expiry]] = np.where(is_far_ahead, HIGHEST_MS * MICROSECONDS, LONG_OVER)
    return rows.set_column(rows.schema.get_field_index(EXPIRY), rows.schema.field(EXPIRY), times(expiry))
