"""The run that its tables refer to, and how much work it has."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from jobs.configuration.settings import Settings
from jobs.replaying.tables.written_tables import WrittenTables
from jobs.replaying.task.messages import PartitionProgress, Work

# By offsets partition and leader epoch, the lowest offset of a record.
Begins = Mapping[int, Mapping[int, int]]


@dataclass(frozen=True)
class About:
    """What the run's tables need to know about it."""

    cluster: str
    run_id: str
    settings: Settings
    written: WrittenTables
    work: Work
    progress_type: type[PartitionProgress]
    least_records: int
    records_per_partition: int
    parts_per_worker: int
    is_full: bool = False


@dataclass(frozen=True)
class Sizes:
    """Approximate number of new rows of decoded tables by offsets partition, and how many of these are about groups."""

    all: Mapping[int, int]
    of_groups: Mapping[int, int]

    def only(self, partitions: Collection[int]) -> "Sizes":
        return Sizes(
            {partition: self.all.get(partition, 0) for partition in sorted(partitions)},
            {partition: self.of_groups.get(partition, 0) for partition in sorted(partitions)},
        )
