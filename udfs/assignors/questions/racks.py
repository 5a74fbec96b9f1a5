"""When the racks of members and replicas matter in Kafka's client-side assignors."""

from collections.abc import Collection, Sequence
from typing import Final

from udfs.assignors.questions.problems import PartitionRacks

NO_RACKS: Final[frozenset[str]] = frozenset()


def partition_racks(stated: PartitionRacks | None, count: int) -> list[frozenset[str]]:
    """The distinct racks of each partition's replicas; nodes without a rack add none."""
    if stated is None:
        return [NO_RACKS] * count
    return [frozenset(rack for rack in replicas if rack is not None) for replicas in stated]


def racks_matter(members: Collection[str], partitions: Sequence[frozenset[str]]) -> bool:
    """Not where no member is near any replica, nor where every rack has every partition."""
    everywhere = NO_RACKS.union(*partitions)
    return not everywhere.isdisjoint(members) and any(racks != everywhere for racks in partitions)
