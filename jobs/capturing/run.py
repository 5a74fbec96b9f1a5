"""The run that writes one snapshot straight into the tables."""

from dataclasses import dataclass

from jobs.capturing.captured import Snapshot, rows_of_snapshots
from jobs.failure import Failure
from jobs.ingestion.changes import Outcome
from jobs.ingestion.writer import About, IngestWriter
from jobs.runs.run import Made, Run
from jobs.sources.known_snapshots import known_topic_id, new_snapshots
from jobs.warehouses.warehouse import Warehouse
from schemas.exit_codes import ExitCode
from schemas.vocabulary import OFFSETS_TOPIC

JOB = "capture"


@dataclass(frozen=True)
class SnapshotRun:
    snapshot: Snapshot
    name: str = JOB

    def make(self, run: Run) -> Made:
        check_same_log(run.warehouse, run.cluster, self.snapshot)
        writer = IngestWriter(run.warehouse, run.engine, About(run.cluster, run.run_id, run.settings.tables, "auto"))
        outcome = Outcome()
        for name, rows in rows_of_snapshots([self.snapshot], run.cluster, run.run_id).items():
            writer.add(outcome, name, new_snapshots(run.warehouse, name, rows, run.cluster))
        facts = {"rows_added": dict(sorted(outcome.num_rows.items()))}
        return Made(writer.changes(outcome), lambda _: facts)


def check_same_log(warehouse: Warehouse, cluster: str, snapshot: Snapshot) -> None:
    """Snapshots of one cluster beside the log of another would make nonsense of both."""
    (told,) = [each["topic_id"] for each in snapshot["topics"] if each["topic"] == OFFSETS_TOPIC] or [None]
    known = None if told is None else known_topic_id(warehouse, cluster, OFFSETS_TOPIC)
    if known is not None and known != told:
        line = f"{OFFSETS_TOPIC}: its id is {told}, the warehouse holds snapshots of {known}: use another --cluster"
        raise Failure(ExitCode.UNREADABLE_INPUT, line)
