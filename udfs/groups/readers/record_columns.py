"""Columns of decoded tables of group records as Python lists and NumPy arrays. Nothing becomes a Python object that
a reader does not ask for, and equal texts become one object."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udfs.arrays.nullable import filled
from udfs.rows.typed_arrays import bounds_of

# For archives without batch information: then records with the same time are one operation.
NO_BATCH = -1
NO_EPOCH = -1

Flags = NDArray[np.bool_]


class Places(NamedTuple):
    """Where records are in the log, column by column."""

    group_ids: list[str]
    offsets: list[int]
    times: list[int | None]
    batches: list[int]
    leader_epochs: list[int]
    are_tombstones: list[bool]


class TextLists(NamedTuple):
    """Lists of texts, each in the order of its record. `starts`: where each list begins in `texts`, and where the last
    one ends. `texts`: places in `names`."""

    starts: NDArray[np.intp]
    names: Sequence[str]
    texts: NDArray[np.int32]


class PartitionLists(NamedTuple):
    """Lists of partitions, each in the order of its record. `starts`: where each list begins in `partitions`, and where
    the last one ends. `topics`: for each partition, the place of its topic in `names`."""

    starts: NDArray[np.intp]
    names: Sequence[str]
    topics: NDArray[np.int32]
    partitions: NDArray[np.int32]


def one_piece(table: pa.Table) -> pa.Table:
    return table.unify_dictionaries().combine_chunks()


def places_of(rows: pa.Table) -> Places:
    return Places(
        group_ids=shared_texts(rows["group_id"]),
        offsets=array(rows, "record_offset").to_pylist(),
        times=micros(rows["record_time"]),
        batches=fill_absent(rows, "batch_first_offset", NO_BATCH),
        leader_epochs=fill_absent(rows, "partition_leader_epoch", NO_EPOCH),
        are_tombstones=array(rows, "is_tombstone").to_pylist(),
    )


def array(rows: pa.Table, name: str) -> pa.Array:
    column = rows[name]
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def micros(column: pa.ChunkedArray) -> list[int | None]:
    times: list[int | None] = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
    return times


def fill_absent(rows: pa.Table, name: str, absent: int) -> list[int]:
    values: list[int] = filled(array(rows, name), absent).to_pylist()
    return values


def shared_texts(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Equal texts become one object: most appear thousands of times."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [*encoded.dictionary.to_pylist(), None]
    last = len(texts) - 1
    return [texts[place] for place in filled(encoded.indices, last).to_pylist()]


def plain(column: pa.Array) -> list[Any]:
    if is_text(column.type):
        return shared_texts(column)
    values: list[Any] = column.to_pylist()
    return values


def column(rows: pa.Table, name: str) -> list[Any]:
    return plain(array(rows, name))


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


def flags(column: pa.BooleanArray) -> Flags:
    """NULL is false."""
    return np.asarray(filled(column, False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def mask_invalid(values: Sequence[Any], is_valid: Flags) -> list[Any]:
    if is_valid.all():
        return list(values)
    return [value if valid else None for value, valid in zip(values, is_valid.tolist(), strict=True)]


def flat(lists: pa.ListArray) -> tuple[NDArray[np.intp], pa.Array]:
    """Where each list begins among the items of all, and where the last one ends. A NULL list is empty."""
    bounds = bounds_of(lists).astype(np.intp) if len(lists) else np.zeros(1, np.intp)
    first, last = int(bounds[0]), int(bounds[-1])
    return bounds - first, lists.values.slice(first, last - first)


def text_lists(lists: pa.ListArray) -> TextLists:
    bounds, items = flat(lists)
    return TextLists(bounds, *texts_and_codes(items))


def texts_of(lists: TextLists) -> list[tuple[str, ...]]:
    texts, places = [lists.names[text] for text in lists.texts.tolist()], lists.starts.tolist()
    return [tuple(texts[first:last]) for first, last in pairwise(places)]


def partition_lists(lists: pa.ListArray, key: str) -> PartitionLists:
    """From lists of topics with partitions. `key`: the field with the topic's name or id."""
    of_list, items = flat(lists)
    of_topic, numbers = flat(items.field("partitions"))
    names, codes = texts_and_codes(items.field(key))
    partitions = numbers.to_numpy(zero_copy_only=False).astype(np.int32)
    return PartitionLists(of_topic[of_list], names, np.repeat(codes, np.diff(of_topic)), partitions)


def texts_and_codes(texts: pa.Array) -> tuple[Sequence[str], NDArray[np.int32]]:
    """The different texts, and the place of each text among them."""
    encoded = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    codes = filled(encoded.indices, 0).to_numpy(zero_copy_only=False).astype(np.int32)
    return encoded.dictionary.to_pylist(), codes
