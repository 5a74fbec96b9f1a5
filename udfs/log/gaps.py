"""Which offsets of a partition have no known record. A state that is first seen after missing records may be older."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from udfs.arrays.nullable import Flags, Numbers


@dataclass(frozen=True)
class Gaps:
    """Ranges of missing offsets, first and last of each, ascending. Nothing is missing before offset 0."""

    firsts: Sequence[int] = ()
    lasts: Sequence[int] = ()

    def is_complete(self, after: int, upto: int) -> bool:
        """Whether every offset after `after` and before `upto` is known."""
        place = bisect_left(self.lasts, after + 1)
        # With arrays the comparison gives a NumPy bool, which a state cannot store.
        return place == len(self.lasts) or bool(self.firsts[place] >= upto)

    def are_complete(self, after: Numbers, upto: Numbers) -> Flags:
        """`is_complete` for many rows."""
        lasts, firsts = np.asarray(self.lasts, np.int64), np.asarray(self.firsts, np.int64)
        place = np.searchsorted(lasts, after + 1)
        return np.asarray((place == len(lasts)) | (np.append(firsts, 0)[place] >= upto), np.bool_)
