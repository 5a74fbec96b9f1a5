"""Finds equal keys, so that each is decoded once: groups commit with the same few keys again and again."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udfs.arrays.big_endian import Positions, Views
from udfs.arrays.slices import PADDING, Slices

WORD = 8
# With fewer rows, or more keys, it costs more than it saves.
FEWEST_ROWS = 1024
ROWS_PER_KEY = 8
# Masks by the number of bytes in a word that belong to the slice.
OWN_BYTES = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], np.uint64)
# Odd, so that no bit of a word is lost.
FACTORS = np.random.default_rng(0).integers(0, 1 << 63, PADDING // WORD, np.uint64) | np.uint64(1)


@dataclass(frozen=True)
class EqualKeys:
    """`rows`: one row of each distinct key. `key_of_row`: which of these keys each row has."""

    rows: Positions
    key_of_row: NDArray[np.int32]


def equal_keys(views: Views, slices: Slices) -> EqualKeys | None:
    """None if most keys differ, or some are too long to be read as one block."""
    if len(slices) < FEWEST_ROWS or not 0 < (longest := int(slices.length.max())) <= PADDING:
        return None
    words = words_of(views, slices, -(-longest // WORD))
    hashes = words @ FACTORS[: words.shape[1]]
    hashes += slices.length.astype(np.uint64)
    encoded = pa.Array.from_buffers(pa.uint64(), len(hashes), [None, pa.py_buffer(hashes)]).dictionary_encode()
    if len(encoded.dictionary) * ROWS_PER_KEY > len(slices):
        return None
    key_of_row = np.frombuffer(encoded.indices.buffers()[1], np.int32, len(slices))
    rows = np.empty(len(encoded.dictionary), np.int64)
    rows[key_of_row] = np.arange(len(slices))
    # Different keys may have the same hash.
    is_same = np.array_equal(words, words_again(words, rows, key_of_row))
    is_same = is_same and np.array_equal(slices.length, slices.length[rows][key_of_row])
    return EqualKeys(rows, key_of_row) if is_same else None


def words_of(views: Views, slices: Slices, size: int) -> NDArray[np.uint64]:
    """The bytes of each slice as a row of words, followed by zeros."""
    words = views.blocks(slices.start, size * WORD).view("<u8").reshape(len(slices), size)
    shortest = max(int(slices.length.min()), 0)
    for place in range(shortest // WORD, size):
        words[:, place] &= OWN_BYTES[np.clip(slices.length - place * WORD, 0, WORD)]
    return words


def words_again(words: NDArray[np.uint64], rows: Positions, key_of_row: NDArray[np.int32]) -> NDArray[np.uint64]:
    """The words that each row has if its key is the assumed one. NumPy copies a row faster as one value than as
    several."""
    whole = words.view(f"V{words.shape[1] * WORD}").reshape(-1)
    return whole[rows].take(key_of_row).view(np.uint64).reshape(words.shape)
