"""Which offsets of a partition have no known record. A state that is first seen after missing records may be older."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Gaps:
    """Stretches of missing offsets, first and last of each, ascending. What lies before offset 0 is not missing."""

    firsts: Sequence[int] = ()
    lasts: Sequence[int] = ()

    def is_complete(self, after: int, upto: int) -> bool:
        """Whether every offset behind `after` and before `upto` is known."""
        place = bisect_left(self.lasts, after + 1)
        # Of arrays the answer would be NumPy's own, which no state can be stored with.
        return place == len(self.lasts) or bool(self.firsts[place] >= upto)
