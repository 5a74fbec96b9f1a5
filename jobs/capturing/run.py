"""The run that writes one snapshot directly into the tables."""

from dataclasses import dataclass

from jobs.ingestion.driver.changes import Outcome
from jobs.ingestion.driver.writer import About, IngestWriter
from jobs.runs.run import Run, RunOutcome
from jobs.sources.cluster_snapshot import Snapshot, rows_of_snapshots
from jobs.sources.same_cluster import SameCluster
from jobs.sources.stored_snapshots import new_snapshots

JOB = "capture"


@dataclass(frozen=True)
class SnapshotRun:
    snapshot: Snapshot
    name: str = JOB

    def make(self, run: Run) -> RunOutcome:
        rows = rows_of_snapshots([self.snapshot], run.cluster, run.run_id)
        same_cluster = SameCluster(run.warehouse, run.cluster)
        same_cluster.add_snapshots(rows["cluster_snapshots"], rows["topic_snapshots"], {})
        same_cluster.check_ids([])
        same_cluster.check_commits([])
        writer = IngestWriter(run.warehouse, run.engine, About(run.cluster, run.run_id, run.settings.tables, "auto"))
        outcome = Outcome()
        for name, of_table in rows.items():
            writer.add(outcome, name, new_snapshots(run.warehouse, name, of_table, run.cluster))
        facts = {"rows_added": dict(sorted(outcome.num_rows.items()))}
        return RunOutcome(writer.changes(outcome), lambda _: facts)
