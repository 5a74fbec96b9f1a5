"""Texts of rows chosen from tables, each stored once: millions of rows name only a few groups, topics and members."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import Flags, Numbers, filled, known_integers, one_array

KIND = pa.dictionary(pa.int32(), pa.string())


def with_codes(schema: pa.Schema) -> pa.Schema:
    """With all texts as dictionaries."""
    return pa.schema([field.with_type(KIND) if field.type == pa.string() else field for field in schema])


def encoded(column: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """Encodes with one dictionary for all chunks."""
    texts = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(texts, pa.Array):
        return texts
    return one_array(texts.unify_dictionaries()) if texts.num_chunks else pa.array([], KIND)


def codes_of(texts: pa.DictionaryArray) -> Numbers:
    """Positions in the dictionary; -1 for NULL."""
    return np.asarray(filled(texts.indices, -1).to_numpy(), np.int64)


def of_codes(codes: Numbers, values: pa.Array) -> pa.DictionaryArray:
    """-1: NULL."""
    is_known = codes >= 0
    # Where Arrow puts dictionaries together, it also looks up the values that NULL hides.
    places = known_integers(np.maximum(codes, 0).astype(np.int32), is_known)
    return pa.DictionaryArray.from_arrays(places, values if values.type == pa.string() else values.cast(pa.string()))


def of_texts(column: pa.ChunkedArray, ask: Callable[[pa.Array], pa.Array], otherwise: Any) -> np.ndarray:
    """Computes an answer for each row's text, once per distinct text. `otherwise`: the answer for NULL, and if the
    answer is NULL."""
    known = encoded(column)
    answers = filled(ask(known.dictionary.cast(pa.string())), otherwise)
    return np.asarray(np.append(answers.to_numpy(zero_copy_only=False), otherwise)[codes_of(known)])


def listed(column: pa.ChunkedArray, make: Callable[[str], Any] = str) -> list[Any]:
    """What is made of each row's text, once per distinct text; None for NULL."""
    known = encoded(column)
    made = np.array([*map(make, known.dictionary.to_pylist()), None], object)
    values: list[Any] = made[codes_of(known)].tolist()
    return values


def is_value(column: pa.ChunkedArray, value: str) -> Flags:
    """False for NULL."""
    return np.asarray(of_texts(column, lambda texts: pc.equal(texts, value), False), np.bool_)


def as_texts(rows: pa.Table) -> pa.Table:
    """Decodes all text, for a few rows. Tables differ in which columns may be NULL; here all may."""
    return pa.table(
        {
            name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
            for name, column in zip(rows.column_names, rows.columns, strict=True)
        }
    )


def texts(table: pa.Table, name: str, rows: Numbers) -> pa.DictionaryArray:
    """NULL for rows that do not exist."""
    known = encoded(table.column(name))
    codes = np.append(codes_of(known), -1)
    return of_codes(codes[np.where(rows >= 0, rows, -1)], known.dictionary)


def together(columns: list[pa.DictionaryArray]) -> tuple[list[Numbers], pa.Array]:
    """Codes of several columns in one shared list of values. Each column gets -1 as an extra last entry, for no row."""
    values = pa.concat_arrays([each.dictionary.cast(pa.string()) for each in columns]).dictionary_encode()
    places = np.asarray(values.indices.to_numpy(zero_copy_only=False), np.int64)
    codes, first = [], 0
    for column in columns:
        own = np.append(places[first : first + len(column.dictionary)], -1)
        codes.append(np.append(own[codes_of(column)], -1))
        first += len(column.dictionary)
    return codes, values.dictionary


def or_else(texts: pa.DictionaryArray, other: str) -> pa.DictionaryArray:
    (codes, (place, _)), values = together([texts, same(other, 1)])
    return of_codes(np.where(codes < 0, place, codes)[:-1], values)


def same(value: str, size: int) -> pa.DictionaryArray:
    """The same text in all rows. Parquet writes a dictionary without looking at each value."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([value], pa.string()))


def texts_of_codes(codes: Numbers, values: list[str]) -> pa.DictionaryArray:
    """-1 becomes NULL."""
    return of_codes(codes, pa.array(values, pa.string()))
