"""Reads what earlier gate runs wrote, and the time up to which the cluster's data goes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import pyarrow.compute as pc

from jobs.gating.findings import Key
from jobs.gating.reported_events import State, state_of
from jobs.runs.as_of import known_span
from jobs.runs.run import Run
from schemas.tables.gate import FINDINGS, GATE_RESULTS, JOB
from schemas.tables.state.gated import GATED_INPUTS

Row = dict[str, Any]
NAMING_GROUPS = ("offset_history", "group_state_intervals", "group_verdicts", "gate_spans")
# Columns of a run itself, or made again from the rules.
NOT_KEPT = frozenset({"cluster", "run_id", "query"})


@dataclass(frozen=True)
class EarlierGate:
    state: State = field(default_factory=State)
    suites_basis: str | None = None
    num_of_tools: int = 0
    results: list[Row] = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)
    # Of all runs, newest first: an event may rest for some runs before it goes on.
    events: list[Row] = field(default_factory=list)

    @property
    def first_seen(self) -> Mapping[Key, datetime]:
        """Rows of an older release name no subject."""
        return {
            (row["kind"], row["subject"] or row["group_id"] or row["cluster"], row["at_time"]): row["first_seen_time"]
            for row in (*reversed(self.findings), *self.events)
        }


def known_of(run: Run) -> EarlierGate:
    state = next(iter(rows_of(run, GATED_INPUTS.name)), None)
    if state is None:
        return EarlierGate()
    results = [
        {name: value for name, value in row.items() if name not in NOT_KEPT}
        for row in rows_of(run, GATE_RESULTS.name, state["run_id"])
    ]
    findings = sorted(rows_of(run, FINDINGS.name, state["run_id"]), key=lambda row: int(row["rank"]))
    events = sorted(events_of(run), key=lambda row: (row["run_id"], row["rank"]), reverse=True)
    return EarlierGate(
        state=state_of(state["basis"], partial(as_of_times, run)),
        suites_basis=state["suites_basis"],
        num_of_tools=state["num_of_tools"],
        results=results,
        findings=findings,
        events=events,
    )


def events_of(run: Run) -> list[Row]:
    rows = run.warehouse.rows(FINDINGS.name, cluster=run.cluster)
    if rows is None:
        return []
    columns = ["cluster", "run_id", "rank", "kind", "subject", "group_id", "at_time", "first_seen_time"]
    listed: list[Row] = rows.select(columns).filter(rows["at_time"].is_valid()).to_pylist()
    return listed


def as_of_times(run: Run) -> list[datetime]:
    runs = run.warehouse.run_rows(["cluster", "as_of_time"], JOB)
    return [row["as_of_time"] for row in runs if row["cluster"] == run.cluster and row["as_of_time"] is not None]


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
