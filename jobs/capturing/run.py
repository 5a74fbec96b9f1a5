"""The run that writes one snapshot straight into the tables."""

from dataclasses import replace
from typing import Any

from jobs.capturing.captured import Snapshot, rows_of_snapshots
from jobs.engine.engine import Engine
from jobs.failure import Failure
from jobs.ingestion.changes import Outcome
from jobs.ingestion.run import writer_of
from jobs.ingestion.summary import VERDICTS
from jobs.ingestion.writer import About
from jobs.run_result import iso, now_ms, run_id_of, run_row
from jobs.settings import Settings, settings_hash
from jobs.sources.known_snapshots import known_topic_id, new_snapshots
from jobs.warehouses.any_warehouse import AnyWarehouse
from schemas.exit_codes import ExitCode
from schemas.vocabulary import OFFSETS_TOPIC

JOB = "capture"


def write_snapshot(
    warehouse: AnyWarehouse, cluster: str, settings: Settings, engine: Engine, snapshot: Snapshot
) -> dict[str, Any]:
    """The run as `_runs/RUN.json` gives it."""
    started_ms, sequence = snapshot["captured_at"], warehouse.next_sequence()
    run_id = run_id_of(sequence, started_ms)
    check_same_log(warehouse, cluster, snapshot)
    writer = writer_of(
        settings.ingest.writer, warehouse, engine, About(cluster, run_id, sequence, settings.tables, "auto")
    )
    outcome = Outcome()
    for name, rows in rows_of_snapshots([snapshot], cluster, run_id).items():
        writer.add(outcome, name, new_snapshots(warehouse, name, rows, cluster))
    manifest = writer.manifest(outcome)
    finished_ms = max(now_ms(), started_ms)
    about = {"run_id": run_id, "job": JOB, "cluster": cluster}
    ended = {"verdict": VERDICTS[ExitCode.CLEAN], "exit_code": int(ExitCode.CLEAN)}
    row = run_row({**about, **ended}, started_ms, finished_ms, settings_hash(settings))
    warehouse.write(replace(manifest, time_ms=finished_ms, runs=(row,)))
    writer.clean_up()
    times = {"started_time": iso(started_ms), "finished_time": iso(finished_ms)}
    return {**about, **ended, **times, "rows_added": dict(sorted(outcome.num_rows.items()))}


def check_same_log(warehouse: AnyWarehouse, cluster: str, snapshot: Snapshot) -> None:
    """Snapshots of one cluster beside the log of another would make nonsense of both."""
    (told,) = [each["topic_id"] for each in snapshot["topics"] if each["topic"] == OFFSETS_TOPIC] or [None]
    known = None if told is None else known_topic_id(warehouse, cluster, OFFSETS_TOPIC)
    if known is not None and known != told:
        line = f"{OFFSETS_TOPIC}: its id is {told}, the warehouse holds snapshots of {known}: use another --cluster"
        raise Failure(ExitCode.UNREADABLE_INPUT, line)
