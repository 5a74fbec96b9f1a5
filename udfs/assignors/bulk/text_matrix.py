"""Many texts as one matrix of characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.java.iteration_order import Hashes


@dataclass(frozen=True)
class Texts:
    """`are_odd`: texts with characters other than ASCII, or NUL; they stand as empty ones."""

    units: NDArray[np.uint8]
    are_odd: NDArray[np.bool_]

    @cached_property
    def hashes(self) -> Hashes:
        """String.hashCode."""
        found = np.zeros(len(self.units), np.uint32)
        for column in np.ascontiguousarray(self.units.T):
            # Behind the end of a text nothing is added, and nothing multiplied.
            found = np.where(column, found * np.uint32(31) + column, found)
        return found

    def eight_from(self, starts: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Of each text eight characters, as a number that sorts as they do; NUL behind its end."""
        count, width = self.units.shape
        padded = np.zeros((count, width + 8), np.uint8)
        padded[:, :width] = self.units
        chosen = (np.arange(count) * (width + 8) + starts)[:, None] + np.arange(8)
        return np.asarray(padded.ravel()[chosen].view(">u8").ravel(), dtype=np.uint64)


def texts_of(texts: Sequence[str]) -> Texts:
    joined = "".join(texts)
    are_odd = np.zeros(len(texts), np.bool_)
    if not joined.isascii() or "\0" in joined:
        are_odd = np.array([not text.isascii() or "\0" in text for text in texts], np.bool_)
        texts = ["" if is_odd else text for text, is_odd in zip(texts, are_odd.tolist(), strict=True)]
    matrix = np.array(texts, np.bytes_)
    return Texts(matrix.view(np.uint8).reshape(len(texts), matrix.dtype.itemsize), are_odd)
