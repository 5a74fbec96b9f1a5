"""What `maintain` deletes of tables: files and logs, beside a slow model. Every version that a run within the term
names can be read as before, a run that is killed at any step loses nothing, and a year of runs does not grow."""

import os
import random
import shutil
import subprocess
import sys
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from benchmarks.year_of_runs import measured_days, run_at
from jobs import cli
from jobs.maintaining.run import Maintain
from jobs.storage.failpoints import VARIABLE
from jobs.storage.kernel_lock import LOCK_FILE
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import storage_at
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.kinds import copied, fetched
from tests.builders.storages.s3_server import options_for
from tests.builders.warehouses.five_days import KEEP_DAYS, five_days
from tests.runs.ingested import ROOT
from tests.runs.replayed_logs import HISTORY, STATES, assert_same, row_texts

# Each takes several audits, so a run draws some of them.
pytestmark = pytest.mark.drawn_together(2)

__all__ = ["five_days"]

# Then everything but the last runs is beyond the term.
BEYOND_TERM_MS = KEEP_DAYS * 86_400_000 + 1000
# In the order in which a run reaches them.
POINTS = (
    "checkpoint_written", "files_written", "manifest_written", "table_committed", "runs_committed", "manifest_removed",
    "data_deleted", "log_deleted", "result_deleted",
)  # fmt: skip


def runs(warehouse):
    found = DeltaTable(warehouse / "runs").to_pyarrow_table().to_pylist()
    return sorted(found, key=lambda row: str(row["run_id"]))


def rows_at(warehouse, folder, version):
    return sorted(map(repr, DeltaTable(warehouse / folder, version=version).to_pyarrow_table().to_pylist()))


def maintain_process(five_days, warehouse, environment, later_ms=1000):
    command = [sys.executable, "-m", "tests.processes.maintained_at", warehouse, str(KEEP_DAYS)]
    command.append(str(five_days.now_ms + later_ms))
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False, timeout=120).returncode


def maintain_here(five_days, warehouse, later_ms=1000):
    now_ms = five_days.now_ms + later_ms
    run_at(str(warehouse), now_ms, Maintain(timedelta(days=KEEP_DAYS)), is_about_all=True)


def test_versions_of_runs_within_the_term_are_read_as_before_and_no_others(five_days, tmp_path):
    warehouse = shutil.copytree(five_days.warehouse, tmp_path / "w")
    before = runs(warehouse)
    now = max(row["finished_time"] for row in before) + timedelta(seconds=1)
    kept = [row for row in before if row["finished_time"] >= now - timedelta(days=KEEP_DAYS)]
    assert 0 < len(kept) < len(before)
    named = {(folder, version) for row in kept for folder, version in row["table_versions"]}
    expected = {each: rows_at(warehouse, *each) for each in named}
    files = {path for each in named for path in DeltaTable(warehouse / each[0], version=each[1]).file_uris()}
    maintain_here(five_days, warehouse)
    assert {each: rows_at(warehouse, *each) for each in named} == expected
    assert all(Path(path).exists() for path in files)
    # The rest went: whatever is left is of a kept version or of the run itself.
    after = runs(warehouse)
    ours = str(after[-1]["run_id"])
    removed_since_kept = {row["run_id"] for row in kept} | {ours}
    for table in TABLES.values():
        for path in (warehouse / table.folder).glob("*.parquet"):
            is_new = any(str(run_id) in path.name for run_id in removed_since_kept)
            assert is_new or str(path) in files or table.name == "runs", path
    gone = {str(row["run_id"]) for row in before} - {str(row["run_id"]) for row in kept}
    assert {row["run_id"] for row in after if not row["table_versions"]} == gone
    assert {path.stem for path in (warehouse / "_runs").glob("*.json")} == {str(row["run_id"]) for row in kept} | {ours}


def test_a_log_that_no_kept_version_needs_goes(five_days, tmp_path):
    warehouse = shutil.copytree(five_days.warehouse, tmp_path / "w")
    for later in (BEYOND_TERM_MS, BEYOND_TERM_MS + 1000):
        maintain_here(five_days, warehouse, later)
    for table in TABLES.values():
        logs = sorted((warehouse / table.folder / "_delta_log").glob("*.json"))
        newest = DeltaTable(warehouse / table.folder).version() if logs else 0
        assert len(logs) <= 13, (table.name, newest, len(logs))
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


@pytest.fixture(params=["local", "s3", pytest.param("hdfs", marks=pytest.mark.spark)])
def place(request, tmp_path, monkeypatch):
    """A storage, and what a process needs to reach it."""
    own = uuid.uuid4().hex
    if request.param == "local":
        yield storage_at(str(tmp_path / "w"), StorageOptions()), {}
    elif request.param == "hdfs":
        yield storage_at(f"{request.getfixturevalue('hdfs')}/{own}/w", StorageOptions()), {}
    else:
        options = options_for(request.getfixturevalue("s3"))
        yield storage_at(f"s3://bucket/{own}/w", options), {name.upper(): value for name, value in options.values}


def check_killed(five_days, place, tmp_path, point):
    storage, environment = place
    bare = shutil.copytree(five_days.warehouse, tmp_path / f"bare-{point}", ignore=shutil.ignore_patterns(LOCK_FILE))
    later = 1000
    if point == "log_deleted":
        # Logs go when a checkpoint of an earlier run is beyond the term.
        later += BEYOND_TERM_MS
        maintain_here(five_days, bare, BEYOND_TERM_MS)
        (bare / LOCK_FILE).unlink()
    copied(bare, storage, "")
    undisturbed = shutil.copytree(bare, tmp_path / f"undisturbed-{point}")
    assert maintain_process(five_days, storage.place, {**environment, VARIABLE: point}, later) < 0
    assert maintain_process(five_days, storage.place, environment, later) == 0
    copy = fetched(storage, "", tmp_path / f"copy-{point}")
    for _ in range(len(runs(copy)) - len(runs(bare))):
        maintain_here(five_days, undisturbed, later)
    assert_same(row_texts(undisturbed, (*HISTORY, *STATES)), row_texts(copy, (*HISTORY, *STATES)), point)
    assert cli.main(["doctor", "--warehouse", str(copy)]) == ExitCode.CLEAN
    assert counts(copy) == counts(undisturbed), point


def counts(warehouse):
    """Data files and commits of each table."""
    return {
        table.name: (
            len(list((warehouse / table.folder).glob("*.parquet"))),
            len(list((warehouse / table.folder / "_delta_log").glob("*.json"))),
        )
        for table in TABLES.values()
    }


@pytest.mark.drawn(1)
def test_a_run_killed_at_some_step_is_made_good_by_the_next(five_days, place, tmp_path, seed, request):
    check_killed(five_days, place, tmp_path, random.Random(f"{seed} {request.node.name}").choice(POINTS))


@pytest.mark.soak
@pytest.mark.parametrize("point", POINTS)
def test_a_run_killed_at_any_step_is_made_good_by_the_next(five_days, place, tmp_path, point):
    check_killed(five_days, place, tmp_path, point)


# Hours of it take hours: `python -m benchmarks.year_of_runs` prints the figures.
@pytest.mark.parametrize(
    ("days", "runs_a_day", "keep_days"), [(9, 2, 2), pytest.param(365, 24, 7, marks=pytest.mark.soak)]
)
def test_a_maintained_warehouse_does_not_grow(tmp_path, days, runs_a_day, keep_days):
    found = list(measured_days(tmp_path, days * runs_a_day, runs_a_day, keep_days))
    # A checkpoint comes every few days, and goes with the logs before it: sizes go up and down.
    settled = found[keep_days + 2 :]
    early, late = settled[: len(settled) // 2], settled[len(settled) // 2 :]
    assert max(size.other_bytes for size in late) <= 1.3 * max(size.other_bytes for size in early)
    assert max(size.files for size in late) <= 1.2 * max(size.files for size in early)
    assert max(size.log_bytes for size in late) <= 1.5 * max(size.log_bytes for size in early)
    assert max(size.log_files for size in late) <= 1.2 * max(size.log_files for size in early)
    # Of a few days the times say nothing but what else the machine did.
    if len(early) > 100:
        assert min(size.open_seconds for size in late) <= 2 * min(size.open_seconds for size in early)
    # Without it each day adds files: this many in the first days, when nothing is beyond the term yet.
    a_day = found[1].files - found[0].files
    assert max(size.files for size in late) < found[1].files + a_day * (keep_days + 2)
