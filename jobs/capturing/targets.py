"""Where `capture` puts snapshots: lines of a file, or rows of a warehouse."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from jobs.capturing.appended import append_line, check_appendable
from jobs.capturing.captured import Snapshot, line_of
from jobs.capturing.known_topics import known_topics
from jobs.capturing.run import JOB, write_snapshot
from jobs.engine.engine import Engine
from jobs.failure import say
from jobs.run_result import record
from jobs.settings import Settings
from jobs.warehouses.any_warehouse import one_cluster, writing


class Target(Protocol):
    @property
    def topics(self) -> frozenset[str]:
        """To be captured beside those that the cluster tells."""
        ...

    def write(self, snapshot: Snapshot) -> None: ...


@dataclass(frozen=True)
class FileTarget:
    path: Path
    topics: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        check_appendable(self.path)

    def write(self, snapshot: Snapshot) -> None:
        append_line(self.path, line_of(snapshot))


@dataclass
class WarehouseTarget:
    place: str
    cluster: str | None
    lock_wait: float
    settings: Settings
    engine: Engine
    topics: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """What cannot be written to shall be known before anything is asked of a cluster."""
        with writing(self.place, JOB, self.lock_wait, say, lambda: self.engine.spark) as warehouse:
            self.cluster = one_cluster(warehouse, self.cluster)
            self.topics = frozenset(known_topics(warehouse, self.cluster))

    def write(self, snapshot: Snapshot) -> None:
        """Others may write to the warehouse between two snapshots."""
        assert self.cluster is not None
        with writing(self.place, JOB, self.lock_wait, say, lambda: self.engine.spark) as warehouse:
            found = write_snapshot(warehouse, self.cluster, self.settings, self.engine, snapshot)
            record(warehouse.write_text, None, found)
