"""The tables that an incremental job writes, and what it does with the rows that are already there."""

from dataclasses import dataclass

from jobs.ingestion.state import DECODED
from jobs.replaying.lost_rows import PROGRESS
from schemas.tables import TABLES


@dataclass(frozen=True)
class WrittenTables:
    job: str
    # Few rows, which are made anew from what is known of all offsets partitions.
    whole: tuple[str, ...]
    # Made anew for each offsets partition that a run looks at.
    renewed: tuple[str, ...]
    # Tables that tasks read.
    read: tuple[str, ...] = DECODED
    # Each run adds to them, and they lose rows only where it says the same anew.
    kept: tuple[str, ...] = ()

    @property
    def progress(self) -> str:
        """The table that says how far the job has come."""
        return PROGRESS[self.job]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, table in TABLES.items() if table.job == self.job)

    @property
    def of_partitions(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in (*self.whole, *self.kept))
