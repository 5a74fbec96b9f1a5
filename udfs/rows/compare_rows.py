"""Compares rows of decoded tables that are of one record: what of them is of the record, and not of its copy."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import Flags, filled, one_array

# Which run wrote a row and which batch brought it depend on the copy, not on the record: the cleaner makes batches
# smaller. An archive may lack epochs.
OF_THE_COPY = frozenset({"run_id", "batch_first_offset", "batch_bytes", "partition_leader_epoch"})
# What is of a rejected record itself: another release gives the reason in other words.
OF_REJECTED = ("record_time", "is_control", "is_tombstone", "record_bytes", "key_bytes", "value_bytes")
# What a rejected record and a decoded one both say of it.
OF_BOTH = ("record_time", "is_tombstone", "record_bytes")
# Archives without producer columns do not contradict segments that have them.
OF_PRODUCERS = ("is_transactional", "producer_id", "producer_epoch")


def first_difference(name: str, rows: pa.Table, others: pa.Table) -> tuple[int, str] | None:
    for column in columns_of_record(name, rows):
        if (row := differing_row(rows, others, column)) is not None:
            return row, column
    places = np.flatnonzero(has_producers(rows) & has_producers(others))
    rows, others = (side.select(OF_PRODUCERS).take(pa.array(places)) for side in (rows, others))
    for column in OF_PRODUCERS:
        if (row := differing_row(rows, others, column)) is not None:
            return int(places[row]), column
    return None


def can_replace(other_name: str, others: pa.Table, name: str, rows: pa.Table) -> Flags:
    """Whether `others`, which have leader epochs, can take the place of `rows` of the same offsets, which have none."""
    # A rejected row takes the place of no decoded one: if it can be decoded later, it will say more.
    if name not in (other_name, "rejected_records"):
        return np.zeros(rows.num_rows, np.bool_)
    is_equal = np.ones(rows.num_rows, np.bool_)
    for column in columns_of_record(name, rows) if name == other_name else OF_BOTH:
        is_equal &= equal_values(rows.column(column), others.column(column))
    is_unknown = ~has_producers(rows)
    # What `rows` know of producers must not be lost.
    for column in OF_PRODUCERS:
        is_equal &= equal_values(rows.column(column), others.column(column)) | is_unknown
    return is_equal


def columns_of_record(name: str, rows: pa.Table) -> Sequence[str]:
    """Without producers."""
    columns = OF_REJECTED if name == "rejected_records" else rows.column_names
    return [each for each in columns if each not in OF_THE_COPY and each not in OF_PRODUCERS]


def has_producers(rows: pa.Table) -> Flags:
    return np.asarray(rows.column("is_transactional").is_valid().to_numpy(), np.bool_)


def differing_row(rows: pa.Table, others: pa.Table, column: str) -> int | None:
    is_equal = equal_values(rows.column(column), others.column(column))
    return None if is_equal.all() else int(np.argmin(is_equal))


def equal_values(mine: pa.ChunkedArray | pa.Array, theirs: pa.ChunkedArray | pa.Array) -> Flags:
    """NULL equals NULL."""
    # Which is so nearly always, and takes far less time.
    if mine.equals(theirs):
        return np.ones(len(mine), np.bool_)
    mine, theirs = one_array(mine), one_array(theirs)
    if pa.types.is_list(mine.type):
        return equal_lists(mine, theirs)
    is_null, are_null = (side.is_null().to_numpy(zero_copy_only=False) for side in (mine, theirs))
    if pa.types.is_struct(mine.type):
        is_equal = is_null == are_null
        # A NULL has NULL in all fields here.
        for field, other in zip(mine.flatten(), theirs.flatten(), strict=True):
            is_equal &= equal_values(field, other)
        return np.asarray(is_equal)
    is_same = filled(pc.equal(mine, theirs), False).to_numpy(zero_copy_only=False)
    return np.asarray(is_same | (is_null & are_null))


def equal_lists(mine: pa.ListArray, theirs: pa.ListArray) -> Flags:
    """Arrow compares no lists, but their items."""
    lengths, others = (filled(side.value_lengths(), -1).to_numpy(zero_copy_only=False) for side in (mine, theirs))
    is_equal = np.asarray(lengths == others)
    places = np.flatnonzero(is_equal)
    items = equal_values(*(side.take(pa.array(places)).flatten() for side in (mine, theirs)))
    of_list = np.repeat(places, np.maximum(lengths[places], 0))
    is_equal[of_list[~items]] = False
    return is_equal
