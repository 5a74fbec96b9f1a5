"""A worker that dies leaves no tables. That any number of them leaves the same ones: tests/equal."""

import os
import subprocess
import sys

from jobs.storage.failpoints import VARIABLE
from schemas.tables import USER_TABLES
from schemas.words.exit_codes import ExitCode
from tests.runs.equal_audits import many_tasks
from tests.runs.ingested import ROOT, history, ingest
from tests.runs.progress_lines import beside_progress

__all__ = ["many_tasks"]

SAMPLE = ("--source", f"segments:{ROOT / 'data' / 'sample'}")


# As `many_tasks`, in a process of its own.
WITH_MANY_TASKS = """
import sys
from jobs import cli
from jobs.ingestion.task import plan
plan.SMALLEST_TASK = 1 << 10
sys.exit(cli.main())
"""


def test_a_worker_that_is_killed_ends_the_run_with_one_line_and_leaves_nothing_to_be_seen(many_tasks, tmp_path):
    place = tmp_path / "w"
    choice = (*SAMPLE, "--workers", "2")
    command = [sys.executable, "-c", WITH_MANY_TASKS, "ingest", "--warehouse", str(place), *choice]
    environment = {**os.environ, VARIABLE: "file_written:offset_commits"}
    failed = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert failed.returncode == ExitCode.FAILED
    (line,) = [line for line in beside_progress(failed.stderr) if " files, " not in line]
    assert line.startswith("groupscope: offsets partition")
    assert "the worker process " in line
    assert line.endswith("; the run wrote nothing to the tables")
    # Of a first run that failed.
    assert not place.exists()
    ingest(place, *choice)
    ingest(tmp_path / "undisturbed", *SAMPLE, "--workers", "1")
    assert history(place) == history(tmp_path / "undisturbed")
    # No file of the dead worker is left.
    names = {name for name in USER_TABLES if (place / name).exists()}
    for name in names:
        named = {path.name for path in (place / name).glob("part-*.parquet")}
        log_text = "".join(path.read_text() for path in (place / name / "_delta_log").glob("*.json"))
        assert all(each in log_text for each in named)
