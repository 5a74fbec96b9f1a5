"""The run that writes one snapshot directly into the tables."""

from dataclasses import dataclass

from jobs.ingestion.driver.changes import Outcome
from jobs.ingestion.driver.writer import About, IngestWriter
from jobs.runs.run import Run, RunOutcome
from jobs.sources.cluster_snapshot import Snapshot, rows_of_snapshots
from jobs.sources.stored_snapshots import check_same_log, new_snapshots
from schemas.words.records import OFFSETS_TOPIC

JOB = "capture"


@dataclass(frozen=True)
class SnapshotRun:
    snapshot: Snapshot
    name: str = JOB

    def make(self, run: Run) -> RunOutcome:
        # Snapshots of one cluster together with the log of another would make both meaningless.
        ids = {each["topic_id"] for each in self.snapshot["topics"] if each["topic"] == OFFSETS_TOPIC}
        check_same_log(run.warehouse, run.cluster, dict.fromkeys(ids - {None}, ""))
        writer = IngestWriter(run.warehouse, run.engine, About(run.cluster, run.run_id, run.settings.tables, "auto"))
        outcome = Outcome()
        for name, rows in rows_of_snapshots([self.snapshot], run.cluster, run.run_id).items():
            writer.add(outcome, name, new_snapshots(run.warehouse, name, rows, run.cluster))
        facts = {"rows_added": dict(sorted(outcome.num_rows.items()))}
        return RunOutcome(writer.changes(outcome), lambda _: facts)
