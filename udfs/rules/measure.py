"""What is made of the history of an offsets partition, a range of keys after the other."""

from typing import Protocol

import pyarrow as pa

from udfs.lag.partition_history import PartitionHistory


class Measure(Protocol):
    """Makes the rows of one table. It is shown the histories of all ranges of keys twice, in the order of keys, and
    keeps of each only what it will need. `history` in `rows`: any of them; what it tells of other tables is whole."""

    def look(self, history: PartitionHistory) -> None:
        """Notes what must be known of all keys before rows are made."""

    def take(self, history: PartitionHistory) -> None: ...

    def rows(self, history: PartitionHistory) -> pa.Table: ...
