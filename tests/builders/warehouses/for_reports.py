"""Warehouses by hand for the report: rows as the jobs would have written them, and the runs of the jobs."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse import Warehouse
from tests.make.tables import NOW, NOW_MS, Rows, make, write_run

GATE_RUN = "00000005-gate"
STEPS = ("ingest", "replay", "assignments", "lag")
FINDING: dict[str, Any] = {
    "run_id": GATE_RUN,
    "rank": 1,
    "kind": "partition_stopped",
    "severity": "critical",
    "confidence": "likely",
    "evidence_partition": 7,
    "evidence_first_offset": 5,
    "evidence_last_offset": 111,
    "query": "SELECT 1\nFROM group_verdicts",
}
LATER = NOW + timedelta(seconds=60)


def state(group: str, **columns: Any) -> dict[str, Any]:
    row = {"group_id": group, "group_type": "classic", "state": "Stable", "from_time": NOW, "from_record_offset": 1}
    return {**row, "is_provisional": True, "num_members": 1, "evidence_partition": 7, **columns}


def judged(root: Path, tables: Mapping[str, Rows], exit_code: int = 20, ingest_code: int = 0) -> Warehouse:
    """By a run of each step, the gate last."""
    warehouse = make(root)
    for number, job in enumerate(STEPS, 1):
        about = {"job": job, "exit_code": ingest_code if job == "ingest" else 0}
        write_run(warehouse, f"{number:08}-{job}", tables if number == 1 else {}, about=about)
    gate_rows = {"gate_runs": [{"run_id": GATE_RUN, "suite": "runs"}]}
    about = {"job": "gate", "exit_code": exit_code, "verdict": "findings", "as_of_time": NOW_MS}
    write_run(warehouse, GATE_RUN, gate_rows, about=about)
    return Warehouse(LocalPlace(root))
