"""Damaged records that no copy of the log has: where they were, and how many."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Damage(NamedTuple):
    """Offsets that damaged bytes may have held, both ends included, and the number of these records."""

    first_offset: int
    last_offset: int
    num_records: int

    def num_left(self, known: NDArray[np.int64]) -> int:
        """Its number of records, without those whose offsets are known from another copy."""
        size = self.last_offset - self.first_offset + 1
        return min(self.num_records, size - len(np.unique(known)))


def joined_damage(ranges: Iterable[tuple[str, Damage]]) -> list[Damage]:
    """`ranges` with the file of each. Several ranges of one file may have the same bounds, and copies may have the same
    damage."""
    by_bounds: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for source_file, each in ranges:
        by_bounds[each.first_offset, each.last_offset][source_file] += each.num_records
    joined: list[Damage] = []
    for (first, last), by_file in sorted(by_bounds.items()):
        damage = Damage(first, last, max(by_file.values()))
        if joined and first <= joined[-1].last_offset:
            damage = union(joined.pop(), damage)
        joined.append(damage)
    return joined


def union(one: Damage, other: Damage) -> Damage:
    """The union of two that overlap; `one` begins first."""
    return Damage(one.first_offset, max(one.last_offset, other.last_offset), one.num_records + other.num_records)


def damage_up_to(damage: Sequence[Damage], last_offset: int) -> tuple[Damage, ...]:
    return tuple(each for each in damage if each.first_offset <= last_offset)
