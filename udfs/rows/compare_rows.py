"""Compares rows of decoded tables that are of one record: what of them is of the record, and not of its copy."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables.decoded_records import REJECTED_RECORDS
from udfs.rows.unknown_epochs import Flags

# Which run wrote a row and which batch brought it depend on the copy, not on the record.
OF_THE_COPY = frozenset({"run_id", "batch_first_offset"})
# An archive without leader epochs does not contradict a copy that has them.
NOT_COMPARED = OF_THE_COPY | {"partition_leader_epoch"}
# What is of a rejected record itself: another release gives the reason in other words.
OF_REJECTED = ("record_time", "is_control", "is_tombstone", "record_bytes", "key_bytes", "value_bytes")
# Archives without producer columns do not contradict segments that have them.
OF_PRODUCERS = ("is_transactional", "producer_id", "producer_epoch")


def first_difference(name: str, rows: pa.Table, others: pa.Table) -> tuple[int, str] | None:
    for column in columns_of_record(name, rows):
        if (row := differing_row(rows, others, column)) is not None:
            return row, column
    places = np.flatnonzero(has_producers(rows, others))
    rows, others = (side.select(OF_PRODUCERS).take(pa.array(places)) for side in (rows, others))
    for column in OF_PRODUCERS:
        if (row := differing_row(rows, others, column)) is not None:
            return int(places[row]), column
    return None


def equal_rows(name: str, rows: pa.Table, others: pa.Table) -> Flags:
    is_equal = np.ones(rows.num_rows, np.bool_)
    for column in columns_of_record(name, rows):
        is_equal &= equal_values(rows, others, column)
    is_known = has_producers(rows, others)
    for column in OF_PRODUCERS:
        is_equal &= equal_values(rows, others, column) | ~is_known
    return is_equal


def columns_of_record(name: str, rows: pa.Table) -> list[str]:
    """Without producers."""
    columns = OF_REJECTED if name == REJECTED_RECORDS.name else rows.column_names
    return [each for each in columns if each not in NOT_COMPARED and each not in OF_PRODUCERS]


def has_producers(rows: pa.Table, others: pa.Table) -> Flags:
    is_known = pc.and_(*(side.column("is_transactional").is_valid() for side in (rows, others)))
    return np.asarray(is_known.to_numpy()).astype(np.bool_)


def differing_row(rows: pa.Table, others: pa.Table, column: str) -> int | None:
    is_equal = equal_values(rows, others, column)
    return None if is_equal.all() else int(np.argmin(is_equal))


def equal_values(rows: pa.Table, others: pa.Table, column: str) -> Flags:
    mine, theirs = rows.column(column), others.column(column)
    # Which is so nearly always, and takes far less time than one value after the other.
    if mine.equals(theirs):
        return np.ones(len(mine), np.bool_)
    pairs = zip(mine.to_pylist(), theirs.to_pylist(), strict=True)
    return np.fromiter((first == second for first, second in pairs), np.bool_, len(mine))
