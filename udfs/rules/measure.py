"""Makes rows from the history of an offsets partition, one range of keys after another."""

from typing import Protocol

import pyarrow as pa

from udfs.lag.partition_history import PartitionHistory


class Measure(Protocol):
    """Makes the rows of one table about some groups. Two rounds go through the histories of all ranges of their keys,
    in the order of keys; a measure keeps of each history only what it will need."""

    def look(self, history: PartitionHistory) -> None:
        """The first round: notes what rows must know of all keys. Most measures need nothing."""
        return  # has a body, so that measures without a first round need not have one

    def take(self, history: PartitionHistory) -> None:
        """The second round."""

    def rows(self, history: PartitionHistory) -> pa.Table:
        """After both. `history`: of any range; its tables without keys are whole."""
