"""Which offsets of a partition have no known record. A state that is first seen after missing records may be older."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass


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
