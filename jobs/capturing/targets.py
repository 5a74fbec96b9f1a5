"""Where `capture` writes snapshots: lines of a file, or rows of a warehouse."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from jobs.capturing.run import JOB, SnapshotRun
from jobs.capturing.snapshot_lines import append_line, check_appendable
from jobs.engine.engine import Engine
from jobs.runs.run import RunOptions, open_warehouse, run_jobs
from jobs.sources.cluster_snapshot import Snapshot, line_of
from jobs.sources.committed_topics import known_topics
from jobs.warehouses.any_warehouse import one_cluster


class Target(Protocol):
    @property
    def topics(self) -> frozenset[str]:
        """Topics to capture in addition to those that the cluster reports."""
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
    options: RunOptions
    engine: Engine
    topics: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Checks that the target can be written before any request to the cluster."""
        with open_warehouse(JOB, self.options, self.engine) as warehouse:
            cluster = one_cluster(warehouse, self.options.cluster)
            self.topics = frozenset(known_topics(warehouse, cluster))
        self.options = replace(self.options, cluster=cluster)

    def write(self, snapshot: Snapshot) -> None:
        """Other processes may write to the warehouse between two snapshots."""
        options = replace(self.options, started_ms=snapshot["captured_at"])
        run_jobs([SnapshotRun(snapshot)], options, self.engine)
