"""`groupscope maintain` as a command: what it refuses, whom it waits for, and what others read of its warehouse."""

import json
import shutil
import subprocess
import sys
from datetime import timedelta

import pytest
from deltalake import DeltaTable

from benchmarks.year_of_runs import Year
from jobs import cli
from jobs.maintaining.old_rows import DROPPED_FROM
from jobs.maintaining.preview import COLUMNS
from jobs.maintaining.upkeep import is_appended_to
from jobs.storage.kernel_lock import LOCK_FILE, KernelLock
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.warehouses.five_days import DAYS, five_days
from tests.make.log import T0
from tests.runs.ingested import ROOT, ingest

__all__ = ["five_days"]

DAY_MS = 86_400_000
# They have rows for each record, snapshot or file: a full replay needs them.
NEVER_DROPPED = {name for name, table in TABLES.items() if table.job == "ingest" or name == "source_files"}


@pytest.fixture
def warehouse(five_days, tmp_path):
    return shutil.copytree(five_days.warehouse, tmp_path / "w")


def maintain(warehouse, *flags):
    return cli.main(["maintain", "--warehouse", str(warehouse), *flags])


@pytest.mark.drawn_together(6)
def test_every_table_is_of_one_kind():
    """A new table must say whether its old rows go."""
    for name, table in TABLES.items():
        if is_appended_to(name):
            assert (name in DROPPED_FROM) != (name in NEVER_DROPPED), table.name


@pytest.mark.drawn_together(6)
def test_it_waits_for_another_run_no_longer_than_it_may(warehouse, capfd):
    before = {path: path.stat().st_size for path in warehouse.rglob("*.parquet")}
    with KernelLock(warehouse, "audit").hold(0, print):
        assert maintain(warehouse, "--keep", "2d", "--lock-wait", "0") == ExitCode.UNUSABLE_WAREHOUSE
    assert "busy with audit" in capfd.readouterr().err
    assert {path: path.stat().st_size for path in warehouse.rglob("*.parquet")} == before


@pytest.mark.drawn_together(6)
def test_a_dry_run_tells_what_a_run_then_does_and_changes_nothing(warehouse, capfd):
    """The second time there is less to do, and more of it in Delta logs."""
    for keep in ("2d", "1h"):
        before = content(warehouse)
        capfd.readouterr()
        with KernelLock(warehouse, "audit").hold(0, print):
            assert (
                maintain(warehouse, "--keep", keep, "--dry-run", "--lock-wait", "0", "--format", "json")
                == ExitCode.CLEAN
            )
        told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        assert content(warehouse) == before
        assert maintain(warehouse, "--keep", keep, "--format", "json") == ExitCode.CLEAN
        done = json.loads(capfd.readouterr().out)
        for name in COLUMNS[1:]:
            assert sum(row[name] for row in told) == done[name], (keep, name)
        assert all(done[name] for name in ("num_rows_dropped", "num_files_deleted"))


@pytest.mark.drawn_together(6)
def test_a_dry_run_says_what_a_run_would_do(warehouse, capfd):
    assert maintain(warehouse, "--keep", "2d", "--dry-run") == ExitCode.CLEAN
    line = capfd.readouterr().out.splitlines()[-1]
    assert line.startswith("a run would drop ") and line.endswith("; nothing was changed")


def content(warehouse):
    return {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file() and path.name != LOCK_FILE}


@pytest.mark.drawn_together(6)
def test_two_of_it_beside_an_audit_take_turns(warehouse, tmp_path):
    source = Year(tmp_path / "more", 1, timedelta(days=2), offset=1_000_000).write(
        DAYS * 86_400, is_new_generation=True
    )
    audit = ["audit", "--source", f"segments:{source}", "--report", str(tmp_path / "r"), "--fail-on", "never"]
    command = [sys.executable, "-m", "jobs.cli"]
    processes = [
        subprocess.Popen([*command, *words, "--warehouse", str(warehouse), "--quiet"], cwd=ROOT)
        for words in (audit, ["maintain", "--keep", "2d"], ["maintain", "--keep", "2d"])
    ]
    assert [process.wait(200) for process in processes] == [ExitCode.CLEAN] * 3
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN
    jobs = [row["job"] for row in DeltaTable(warehouse / "runs").to_pyarrow_table().to_pylist()]
    assert (jobs.count("maintain"), jobs.count("gate")) == (2, 1)


@pytest.mark.drawn_together(6)
def test_a_time_before_the_term_is_refused_until_all_is_replayed(warehouse, capfd):
    early = ["groups", "--warehouse", str(warehouse), "--format", "json", "--at", str(T0 + DAY_MS)]
    assert cli.main(early) == ExitCode.CLEAN
    answer = capfd.readouterr().out
    assert answer
    assert maintain(warehouse, "--keep", "2d") == ExitCode.CLEAN
    capfd.readouterr()
    assert cli.main(early) == ExitCode.USAGE
    assert "`groupscope maintain` dropped history before 2026-" in capfd.readouterr().err
    assert cli.main(["lag", "--warehouse", str(warehouse), "--as-of", early[-1]]) == ExitCode.USAGE
    assert "`groupscope maintain` dropped history before 2026-" in capfd.readouterr().err
    assert cli.main(["replay", "--full", "--warehouse", str(warehouse)]) == ExitCode.CLEAN
    capfd.readouterr()
    assert cli.main(early) == ExitCode.CLEAN
    assert capfd.readouterr().out == answer


@pytest.mark.drawn_together(6)
def test_each_cluster_has_a_row_in_runs(warehouse, tmp_path):
    second = Year(tmp_path / "second", 1, timedelta(days=2))
    source = second.write(0, is_new_generation=True)
    ingest(warehouse, "--source", f"segments:{source}", "--cluster", "second")
    assert maintain(warehouse, "--keep", "2d") == ExitCode.CLEAN
    rows = DeltaTable(warehouse / "runs").to_pyarrow_table().to_pylist()
    ours = [row for row in rows if row["job"] == "maintain"]
    assert {row["cluster"]: row["as_of_time"] is None for row in ours} == {"default": False, "second": True}
    assert len({row["run_id"] for row in ours}) == 1
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


@pytest.mark.drawn_together(6)
@pytest.mark.spark
def test_both_engines_read_what_it_leaves(warehouse, capfd):
    """By checkpoints that are ours: the logs before them are gone."""
    for _ in range(2):
        assert maintain(warehouse, "--keep", "1h") == ExitCode.CLEAN
    logs = DeltaTable(warehouse / "offset_history").version()
    assert not (warehouse / "offset_history" / "_delta_log" / f"{0:020}.json").exists(), logs
    answers = {}
    statement = (
        "SELECT (SELECT count(*) FROM offset_history) AS history, (SELECT count(*) FROM offset_commits) AS commits, "
        "(SELECT count(*) FROM runs) AS runs, (SELECT sum(committed_offset) FROM offset_history) AS offsets"
    )
    capfd.readouterr()
    for engine in ("local", "spark"):
        words = ["sql", statement, "--warehouse", str(warehouse), "--format", "json", "--engine", engine]
        assert cli.main(words) == ExitCode.CLEAN
        answers[engine] = json.loads(capfd.readouterr().out)
    assert answers["local"] == answers["spark"]
    assert answers["local"]["history"] > 0
