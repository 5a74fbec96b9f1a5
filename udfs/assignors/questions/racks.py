"""When the racks of members and replicas matter in Kafka's client-side assignors, and racks as numbers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import Final

import numpy as np

from udfs.assignors.questions.problems import Codes, Numbers, PartitionRacks

NO_RACKS: Final[frozenset[str]] = frozenset()
NO_RACK: Final = -1


def partition_racks(stated: PartitionRacks | None, count: int) -> list[frozenset[str]]:
    """The distinct racks of each partition's replicas; nodes without a rack add none. As many as there are partitions,
    since loops go by that."""
    racks = [frozenset(rack for rack in replicas if rack is not None) for replicas in islice(stated or (), count)]
    return [*racks, *repeat(NO_RACKS, count - len(racks))]


def racks_matter(members: Collection[str], partitions: Sequence[frozenset[str]]) -> bool:
    """Not where no member is near any replica, nor where every rack has every partition."""
    everywhere = NO_RACKS.union(*partitions)
    return not everywhere.isdisjoint(members) and any(racks != everywhere for racks in partitions)


@dataclass
class RackCodes:
    """Racks as numbers, for loops."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of_members(self, racks: Sequence[str | None]) -> Codes:
        return np.array([self.code(rack) if rack else NO_RACK for rack in racks], np.int32)

    def of_sets(self, sets: Sequence[frozenset[str]]) -> tuple[Numbers, Codes]:
        """Where those of each set start, and where the last ones end; and the racks."""
        codes = [self.code(rack) for racks in sets for rack in racks]
        return np.cumsum([0, *map(len, sets)]), np.array(codes, np.int32)

    def code(self, rack: str) -> int:
        return self.numbers.setdefault(rack, len(self.numbers))
