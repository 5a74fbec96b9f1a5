"""What a run that goes through the log asks of whoever reads and writes its tables: the tasks themselves, or Spark."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from jobs.replaying.assignment import SplitGroups
from jobs.replaying.told import Answer, Reached, Told, Work
from jobs.replaying.written_tables import WrittenTables
from jobs.settings import Settings
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.manifest import Staged
from udfs.recomputing.topic_naming import Computed
from udfs.replay.topic_names import Sighting

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


class LogTables(Protocol):
    def names(self, after_run: str | None) -> list[Sighting]:
        """Topics that records of later runs name with their ids."""
        ...

    def target_ids(self, partitions: Collection[int], after_run: Mapping[int, str]) -> set[str]:
        """Ids of topics in target assignments of later runs."""
        ...

    def computed(self, partitions: Collection[int], unnamed: set[str], known: Mapping[str, str]) -> list[Computed]:
        """What target assignments with ids that have no name tell."""
        ...

    def split_groups(self, partitions: Collection[int]) -> SplitGroups:
        """Groups that records in several of these offsets partitions name."""
        ...

    def sizes(self, partitions: Collection[int], after_run: Mapping[int, str]) -> Sizes: ...

    def epochs(self, partitions: Collection[int], after_run: Mapping[int, str]) -> Begins: ...

    def answers(self, told: Told[Any], sizes: Sizes) -> list[Answer[Any]]: ...

    def take(self, answers: Sequence[Answer[Any]], whole: Mapping[str, pa.Table]) -> None:
        """What the run writes: what tasks made, and tables that are made anew as a whole."""
        ...

    def manifest_changes(self) -> dict[str, Change]: ...

    def staged(self) -> Staged | None: ...

    def anew(self) -> tuple[str, ...]:
        """Tables that begin anew, since what is there cannot be read."""
        ...

    def lost_clusters(self) -> frozenset[str]:
        """Other clusters whose rows go with what is lost."""
        ...

    def rows_added(self) -> dict[str, int]: ...

    def clean_up(self) -> None: ...
