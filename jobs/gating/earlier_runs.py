"""Reads what earlier gate runs wrote, and the time up to which the cluster's data goes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.gating.findings import Key, Reported
from jobs.runs.as_of import known_span
from jobs.runs.run import Run
from schemas.tables import REPORT_JOB

Row = dict[str, Any]
NAMING_GROUPS = ("offset_history", "group_state_intervals", "group_verdicts", "gate_spans")
# Columns of a run itself, or made again from the rules.
NOT_KEPT = frozenset({"cluster", "run_id", "query"})
KEY = ["kind", "subject", "at_time"]


@dataclass(frozen=True)
class EarlierGate:
    """The newest run of the gate. `basis`: a hash of everything that its rows depend on."""

    basis: str | None = None
    suites_basis: str | None = None
    num_left_out: int = 0
    results: list[Row] = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)


def known_of(run: Run) -> EarlierGate:
    state = next(iter(rows_of(run, "gated_inputs")), None)
    if state is None:
        return EarlierGate()
    results = [
        {name: value for name, value in row.items() if name not in NOT_KEPT}
        for row in rows_of(run, "gate_results", state["run_id"])
    ]
    findings = sorted(rows_of(run, "findings", state["run_id"]), key=lambda row: int(row["rank"]))
    return EarlierGate(state["basis"], state["suites_basis"], state["num_of_tools"], results, findings)


def reported_before(run: Run, as_of: datetime) -> dict[Key, Reported]:
    """What whole runs of an earlier as-of reported: the events of all of them, and the conditions of the newest one. A
    condition that this one did not report has ended: it would be another one that begins."""
    whole = whole_runs_before(run, as_of)
    rows = run.warehouse.rows("findings", ["run_id", "group_id", "severity", "first_seen_time", *KEY], run.cluster)
    if rows is None or not whole:
        return {}
    rows = rows.append_column("place", pc.index_in(rows["run_id"], value_set=pa.array(whole)))
    is_event = rows["at_time"].is_valid()
    rows = rows.filter(pc.and_(rows["place"].is_valid(), pc.or_(is_event, pc.equal(rows["place"], len(whole) - 1))))
    # Rows of an older release name no subject.
    subjects = pc.coalesce(rows["subject"], rows["group_id"], pa.scalar(run.cluster))
    rows = rows.set_column(rows.schema.get_field_index("subject"), "subject", subjects).sort_by("place")
    known = rows.group_by(KEY, use_threads=False).aggregate([("severity", "last"), ("first_seen_time", "min")])
    return {
        (row["kind"], row["subject"], row["at_time"]): Reported(row["first_seen_time_min"], row["severity_last"])
        for row in known.to_pylist()
    }


def failures_before(run: Run) -> list[Row]:
    """What the newest audit could not write, if it did not write everything."""
    rows = run.warehouse.run_rows(["cluster", "run_id"], REPORT_JOB)
    newest = max((str(row["run_id"]) for row in rows if row["cluster"] == run.cluster), default=None)
    return [] if newest is None else list(rows_of(run, "findings", newest))


def reported_in(rows: Iterable[Row]) -> dict[Key, Reported]:
    return {
        (row["kind"], row["subject"], row["at_time"]): Reported(row["first_seen_time"], row["severity"]) for row in rows
    }


def whole_runs_before(run: Run, as_of: datetime) -> list[str]:
    """Runs of the gate that nothing narrowed, in the order of their as-of times."""
    judged = run.warehouse.rows("gate_runs", ["run_id", "narrowed_by"], run.cluster)
    if judged is None:
        return []
    whole = {*judged.filter(judged["narrowed_by"].is_null())["run_id"].unique().to_pylist()}
    runs = run.warehouse.run_rows(["cluster", "run_id", "as_of_time"], "gate")
    ours = [row for row in runs if row["cluster"] == run.cluster and row["run_id"] in whole and row["as_of_time"]]
    return [each for time, each in sorted((row["as_of_time"], row["run_id"]) for row in ours) if time < as_of]


def rows_of(run: Run, table: str, run_id: str | None = None) -> Iterable[Row]:
    rows = run.warehouse.rows(table, cluster=run.cluster)
    if rows is None:
        return []
    listed: list[Row] = (rows if run_id is None else rows.filter(pc.equal(rows["run_id"], run_id))).to_pylist()
    return listed


def newest_time(run: Run) -> datetime | None:
    """Of all records and snapshots of the cluster."""
    span = known_span(run.warehouse, run.cluster)
    return None if span is None else span[1]


def known_groups(run: Run) -> set[str]:
    """Groups named in the log or in validated spans."""
    groups: set[str] = set()
    for table in NAMING_GROUPS:
        rows = run.warehouse.rows(table, ["group_id"], run.cluster)
        if rows is not None:
            groups.update(name for name in pc.unique(rows["group_id"]).to_pylist() if name is not None)
    return groups
