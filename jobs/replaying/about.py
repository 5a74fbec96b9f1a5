"""The run that its tables refer to, and how much work it has."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from jobs.replaying.told import Reached, Work
from jobs.replaying.written_tables import WrittenTables
from jobs.settings import Settings

# Of each offsets partition, by leader epoch the lowest offset of a record.
Begins = Mapping[int, Mapping[int, int]]


@dataclass(frozen=True)
class About:
    """The run, as far as they must know it."""

    cluster: str
    run_id: str
    settings: Settings
    written: WrittenTables
    work: Work
    progress_type: type[Reached]
    least_records: int
    is_full: bool = False


@dataclass(frozen=True)
class Sizes:
    """About how many new rows of decoded tables each offsets partition has, and how many of these are of groups."""

    all: Mapping[int, int]
    of_groups: Mapping[int, int]

    def only(self, partitions: Collection[int]) -> "Sizes":
        return Sizes(
            {partition: self.all.get(partition, 0) for partition in sorted(partitions)},
            {partition: self.of_groups.get(partition, 0) for partition in sorted(partitions)},
        )
