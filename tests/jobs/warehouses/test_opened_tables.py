"""Which tables a run opens: each takes a processor a millisecond, and a storage several requests."""

from pathlib import Path

import pytest
from deltalake import DeltaTable

from schemas.tables import TABLES
from tests.make.tables import make


@pytest.fixture
def opened(monkeypatch):
    """Names of the tables' folders."""
    names, open_one = [], DeltaTable.__init__

    def init(self, table_uri, **how):
        names.append(Path(table_uri).name)
        open_one(self, table_uri, **how)

    monkeypatch.setattr(DeltaTable, "__init__", init)
    return names


def test_a_first_run_opens_no_table_that_it_creates_but_runs(tmp_path, opened):
    make(tmp_path / "w", {})
    assert set(opened) <= {TABLES["runs"].folder}
    assert all((tmp_path / "w" / table.folder / "_delta_log").exists() for table in TABLES.values())


def test_a_run_opens_each_table_that_it_changes_once(tmp_path, opened):
    make(tmp_path / "w", {}, {"offset_commits": [{}]})
    assert opened.count(TABLES["offset_commits"].folder) == 1
    assert set(opened) == {TABLES["runs"].folder, TABLES["offset_commits"].folder}
