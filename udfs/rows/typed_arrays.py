"""Arrow arrays with the types of tables: converted, merged, and numbers separated from their nulls."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.arrays.arrow_buffers import validity
from udfs.arrays.big_endian import Positions

Valid = NDArray[np.bool_] | None


def fit_type(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """The array under a type with wider integers and more or fewer fields; fields that it lacks are null."""
    if pa.types.is_list(wanted):
        # By buffers, since ListArray.from_arrays takes no nulls of a slice.
        items = fit_type(array.values, wanted.value_type)
        return pa.Array.from_buffers(wanted, len(array), array.buffers()[:2], offset=array.offset, children=[items])
    if not pa.types.is_struct(wanted):
        return array if array.type == wanted else array.cast(wanted)
    children = [
        fit_type(array.field(field.name), field.type)
        if array.type.get_field_index(field.name) >= 0
        else pa.nulls(len(array), field.type)
        for field in wanted
    ]
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null() if array.null_count else None)


def concatenate(arrays: Sequence[pa.Array], order: Positions | None) -> pa.Array:
    """One after another, then put in order."""
    if len(arrays) == 1 and order is None:
        return arrays[0]
    if pa.types.is_list(arrays[0].type):
        return merged_lists(arrays, order)
    array = pa.concat_arrays(arrays) if len(arrays) > 1 else arrays[0]
    return array if order is None else array.take(pa.array(order))


def merged_lists(arrays: Sequence[pa.ListArray], order: Positions | None) -> pa.ListArray:
    """Most often nulls alone come between, and then the items stay as they are: they are large."""
    sizes = np.concatenate([np.diff(bounds_of(array)) for array in arrays])
    is_valid = np.concatenate([array.is_valid().to_numpy(zero_copy_only=False) for array in arrays])
    items = [items_of(array)[0] for array in arrays if array.null_count < len(array)]
    together = items[0] if len(items) == 1 else pa.concat_arrays(items or [arrays[0].values[:0]])
    if order is None:
        return lists_of(arrays[0].type, sizes, is_valid, together)
    if (np.diff(order[sizes[order] > 0]) > 0).all():
        return lists_of(arrays[0].type, sizes[order], is_valid[order], together)
    return lists_of(arrays[0].type, sizes, is_valid, together).take(pa.array(order))


def lists_of(kind: pa.ListType, sizes: Positions, is_valid: NDArray[np.bool_], items: pa.Array) -> pa.ListArray:
    bounds = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=bounds[1:])
    return pa.Array.from_buffers(kind, len(sizes), [validity(is_valid), pa.py_buffer(bounds)], children=[items])


def bounds_of(lists: pa.ListArray) -> NDArray[np.int32]:
    """Where each list begins in `lists.values`, and where the last ends."""
    return np.frombuffer(lists.buffers()[1], np.int32, len(lists) + 1, lists.offset * 4)


def items_of(lists: pa.ListArray) -> tuple[pa.Array, Positions]:
    """The items of all lists, and which list each is of."""
    bounds = bounds_of(lists)
    owner = np.repeat(np.arange(len(lists)), np.diff(bounds))
    return lists.values.slice(int(bounds[0]), len(owner)), owner


def numbers(array: pa.Array) -> tuple[NDArray[np.signedinteger], Valid]:
    """Values of an integer column, and which of them are none of its nulls (None: all)."""
    width = array.type.bit_width // 8
    values = np.frombuffer(array.buffers()[1], f"i{width}", len(array), array.offset * width)
    return values, array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None


def number_column(values: NDArray[np.signedinteger], kind: pa.DataType, is_valid: Valid = None) -> pa.Array:
    """The values as they are in memory, where they have the type's width."""
    raw = np.ascontiguousarray(values, f"i{kind.bit_width // 8}")
    nulls = None if is_valid is None else validity(is_valid)
    return pa.Array.from_buffers(kind, len(raw), [nulls, pa.py_buffer(raw)])


def without(values: NDArray[np.signedinteger], is_valid: Valid, unknown: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which values are valid and none of those that stand for unknown."""
    is_known: NDArray[np.bool_] = values != unknown[0]
    for number in unknown[1:]:
        is_known &= values != number
    return is_known if is_valid is None else is_known & is_valid


def known_texts(array: pa.StringArray, unknown: str) -> pa.StringArray:
    """Null for the text that stands for unknown."""
    is_unknown = pc.equal(array, unknown)
    return pc.if_else(is_unknown, pa.scalar(None, array.type), array) if pc.any(is_unknown).as_py() else array


def null_if_unknown(array: pa.Array, unknown: tuple[int, ...]) -> pa.Array:
    """Null for the numbers that stand for unknown."""
    if array.null_count == len(array):
        return array
    values, is_valid = numbers(array)
    return number_column(values, array.type, without(values, is_valid, unknown))
