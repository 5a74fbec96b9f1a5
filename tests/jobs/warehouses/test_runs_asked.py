"""An audit asks `runs` about earlier ones, and makes Python's values only of those rows that it asks about."""

from dataclasses import dataclass, replace

import pyarrow as pa

from jobs.warehouses.warehouse import Warehouse
from tests.runs.equal_audits import audit
from tests.runs.ingested import ROOT, rows

SOURCE = ROOT / "data" / "sample" / "__consumer_offsets-7"


@dataclass
class CountedRows:
    """Rows in Arrow, which note when they become Python's values."""

    rows: pa.Table
    made: list[int]

    def __getattr__(self, name):
        return getattr(self.rows, name)

    def select(self, columns):
        return replace(self, rows=self.rows.select(columns))

    def filter(self, mask):
        return replace(self, rows=self.rows.filter(mask))

    def to_pylist(self):
        self.made.append(self.rows.num_rows)
        return list(self.rows.to_pylist())


def test_rows_of_other_jobs_become_no_values(tmp_path, monkeypatch):
    warehouse = tmp_path / "w"
    for _ in range(2):
        audit(str(warehouse), str(SOURCE), "--workers", "1")
    earlier = [row["job"] for row in rows(warehouse, "runs")]
    assert len({*earlier}) == 5
    asked = []
    run_rows = Warehouse.run_rows

    def counted(self, columns, job=None):
        version, known = self.runs()
        made = []
        asked.append((job, made))
        return run_rows(replace(self, seen=[(version, CountedRows(known, made))]), columns, job)

    monkeypatch.setattr(Warehouse, "run_rows", counted)
    audit(str(warehouse), str(SOURCE), "--workers", "1")
    assert {job for job, _ in asked} >= {"replay", "assignments", "lag"}
    for job, made in asked:
        assert made == [earlier.count(str(job))], job
