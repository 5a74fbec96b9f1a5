"""A row of reading_ends: when reading ended, for a row of partition_moves."""

from udfs.groups.history.reading_ends import ReadingEnd
from udfs.groups.history.row_makers import READING_END
from udfs.groups.history.rows import Row

UNKNOWN = dict.fromkeys(ReadingEnd._fields)


def reading_end_row(tps: frozenset[int], end: ReadingEnd | None, *, is_counted: bool) -> Row:
    if end is None:
        return READING_END(tp=tps, is_counted=is_counted, **UNKNOWN)
    # Named one by one, since `_asdict` costs as much as the rest.
    return READING_END(
        tp=tps, stopped_time=end.stopped_time, first_time=end.first_time, last_time=end.last_time, basis=end.basis,
        silent_offset=end.silent_offset, silent_first_time=end.silent_first_time,
        silent_last_time=end.silent_last_time, silent_basis=end.silent_basis, is_counted=is_counted,
    )  # fmt: skip
