"""When each step of an audit began and ended, by the warehouse's table `runs`."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from deltalake import DeltaTable


class TimedStep(NamedTuple):
    job: str
    started: datetime
    finished: datetime

    @property
    def seconds(self) -> float:
        return (self.finished - self.started).total_seconds()


def step_times(warehouse: Path | str) -> list[TimedStep]:
    """In the order in which the steps ran."""
    runs = DeltaTable(f"{warehouse}/runs").to_pyarrow_table(columns=["job", "started_time", "finished_time"])
    steps = [TimedStep(row["job"], row["started_time"], row["finished_time"]) for row in runs.to_pylist()]
    return sorted(steps, key=lambda step: step.started)
