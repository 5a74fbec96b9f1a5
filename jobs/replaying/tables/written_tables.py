"""The tables that an incremental job writes, and what it does with the rows that are already there."""

from dataclasses import dataclass

from jobs.ingestion.driver.state import DECODED
from jobs.replaying.tables.lost_rows import PROGRESS
from schemas.tables import TABLES


@dataclass(frozen=True)
class WrittenTables:
    job: str
    # Small tables, which are written completely from what is known of all offsets partitions.
    whole: tuple[str, ...]
    # Written completely for each offsets partition that a run replays.
    renewed: tuple[str, ...]
    # Tables that tasks read.
    read: tuple[str, ...] = DECODED
    # Each run adds rows; rows are removed only if the run writes them again.
    kept: tuple[str, ...] = ()

    @property
    def progress(self) -> str:
        """The table that has the job's progress."""
        return PROGRESS[self.job]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, table in TABLES.items() if table.job == self.job)

    @property
    def of_partitions(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in (*self.whole, *self.kept))
