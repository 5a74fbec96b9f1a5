"""Other programs may rewrite files of our tables, such as by Delta's OPTIMIZE: no row may be there twice then."""

import os
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.storage.failpoints import VARIABLE
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.by_hand import commit, write_log
from tests.runs.ingested import ROOT, ingest
from tests.runs.replayed_logs import replay

TABLE = "offset_history"
EVENTS = {place: [commit(f"g{place}", "t", 0, seconds) for seconds in (1, 2)] for place in (0, 1)}


def merge(folder):
    merged = DeltaTable(folder).optimize.compact()
    assert merged["numFilesRemoved"] >= 2


@pytest.fixture
def warehouse(tmp_path):
    """Replayed twice, so that the table has open rows in two files."""
    for place in (0, 1):
        ingest(tmp_path / "w", "--source", write_log(tmp_path / str(place), {place: EVENTS[place][:1]}))
        replay(tmp_path / "w")
    return tmp_path / "w"


def ingest_all(warehouse):
    ingest(warehouse, "--source", write_log(warehouse.with_name("all"), EVENTS))


def history(warehouse):
    """By the files alone: other programs leave out `is_provisional`, of which the Delta log has the values."""
    files = DeltaTable(warehouse / TABLE).file_uris()
    columns = ["group_id", "is_provisional", "num_commits"]
    rows = [row for file in files for row in pq.read_table(file, columns=columns, partitioning=None).to_pylist()]
    return sorted(tuple(row[name] for name in columns) for row in rows)


def kill_replay(warehouse, point):
    command = [sys.executable, "-m", "jobs.cli", "replay", "--warehouse", str(warehouse)]
    environment = {**os.environ, VARIABLE: point}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("has_other_properties", [False, True])
def test_open_rows_that_another_program_has_merged_are_replaced(warehouse, *, has_other_properties):
    merge(warehouse / TABLE)
    if has_other_properties:
        DeltaTable(warehouse / TABLE).alter.set_table_properties({"delta.checkpointInterval": "50"})
    ingest_all(warehouse)
    replay(warehouse)
    assert history(warehouse) == [("g0", True, 2), ("g1", True, 2)]
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


@pytest.mark.spark
def test_files_that_spark_has_merged_are_read_beside_others(warehouse, spark):
    """In Spark's files all columns may be NULL."""
    for name in (TABLE, "offset_commits"):
        spark.sql(f"OPTIMIZE delta.`{warehouse / name}`")
        assert len(DeltaTable(warehouse / name).file_uris()) == 1
    ingest_all(warehouse)
    replay(warehouse)
    assert history(warehouse) == [("g0", True, 2), ("g1", True, 2)]
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


def test_rows_that_no_run_replaces_keep_all_columns(warehouse):
    """The run replaces rows of one offsets partition, and OPTIMIZE leaves out the column of the table's partitions."""
    merge(warehouse / TABLE)
    ingest(warehouse, "--source", write_log(warehouse.with_name("one"), {0: EVENTS[0]}))
    replay(warehouse)
    assert history(warehouse) == [("g0", True, 2), ("g1", True, 1)]


def test_a_run_that_was_killed_is_finished_though_its_files_were_merged(warehouse):
    ingest_all(warehouse)
    kill_replay(warehouse, "manifest_written")
    merge(warehouse / TABLE)
    replay(warehouse)
    assert history(warehouse) == [("g0", True, 2), ("g1", True, 2)]


def test_what_a_killed_run_has_committed_stays(warehouse):
    ingest(warehouse, "--source", write_log(warehouse.with_name("one"), {0: EVENTS[0]}))
    kill_replay(warehouse, f"table_committed:{TABLE}")
    merge(warehouse / TABLE)
    replay(warehouse)
    assert history(warehouse) == [("g0", True, 2), ("g1", True, 1)]


def test_rows_that_another_program_has_changed_do_not_come_back(warehouse, capsys):
    table = DeltaTable(warehouse / TABLE)
    table.delete("group_id = 'g1'")
    version = DeltaTable(warehouse / TABLE).version()
    ingest_all(warehouse)
    assert cli.main(["replay", "--warehouse", str(warehouse)]) == ExitCode.UNUSABLE_WAREHOUSE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "another program has changed rows of files that this run replaces; "
        f"set the table back to version {version - 1} (RESTORE TABLE), or restore a copy of the warehouse, "
        "and run again"
    )
    table = DeltaTable(warehouse / TABLE)
    assert table.version() == version
    table.restore(version - 1)
    replay(warehouse)
    assert history(warehouse) == [("g0", True, 2), ("g1", True, 2)]
