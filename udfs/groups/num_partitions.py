"""How many partitions __consumer_offsets has, where no snapshot says it. Groups show it: the hash of a group's name,
modulo that number, is the partition that its records are in."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from udfs.groups.group_partition import hash_of

# Of offsets.topic.num.partitions.
DEFAULT_NUMBER: Final = 50
# Fewer groups fit many numbers by chance.
LEAST_GROUPS: Final = 3
# Topics with more partitions are not made for offsets.
HIGHEST_NUMBER: Final = 10_000


def number_that_fits(groups: Sequence[tuple[str, int]], highest: int) -> int | None:
    """`groups`: names, each with the partition of its records; `highest`: the highest partition that is known to exist.
    Kafka's default if it fits, else the lowest number that does. None: too few groups, or no number fits them all, as
    after the number was changed."""
    if len(groups) < LEAST_GROUPS:
        return None
    hashes = np.array([hash_of(name) for name, _ in groups], np.int64)
    places = np.array([partition for _, partition in groups], np.int64)
    lowest = max(highest, int(places.max())) + 1
    number: int
    for number in (DEFAULT_NUMBER, *range(lowest, HIGHEST_NUMBER + 1)):
        # Of a wrong number nearly always the first groups show it.
        if number >= lowest and all((hashes[rows] % number == places[rows]).all() for rows in (slice(8), slice(None))):
            return number
    return None
