"""Ctrl-C ends an audit at once: one line, exit 130, nothing of the run to be seen, no process left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobs import cli
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.giants import many_groups, write
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.progress_lines import beside_progress


@pytest.fixture
def warehouse(tmp_path):
    """With a run before, which stays as it is."""
    write(tmp_path / "few", many_groups(10), 10)
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'few'}")
    return tmp_path / "w"


def begun(warehouse, engine, count):
    folder = warehouse.parent
    write(folder / "log", many_groups(count), count)
    words = ["--source", f"segments:{folder / 'log'}", "--engine", engine, "--workers", "2"]
    command = [sys.executable, "-m", "jobs.cli", "audit", *words, "--warehouse", str(warehouse)]
    command += ["--report", str(folder / "report")]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def descendants(process):
    """By process id, the words of its command line."""
    parents = {}
    for each in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(each.name)] = int((each / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {}
    ready = [process]
    while ready:
        parent = ready.pop()
        for child in (each for each, of in parents.items() if of == parent):
            ready.append(child)
            found[child] = command_of(child)
    return found


def command_of(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def wait_until(holds, process=None):
    deadline = time.monotonic() + 180
    while not holds():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def assert_ended(process, warehouse, before):
    # It goes on once it is interrupted, and is not done before.
    os.killpg(process.pid, signal.SIGSTOP)
    children = descendants(process.pid)
    # As a terminal does it: to all processes in its foreground.
    for each in (signal.SIGINT, signal.SIGCONT):
        os.killpg(process.pid, each)
    out, errors = process.communicate(timeout=120)
    assert (process.returncode, out) == (ExitCode.INTERRUPTED, ""), errors
    assert beside_progress(errors) == ["groupscope: interrupted"], errors
    wait_until(lambda: not any(command_of(each) == command for each, command in children.items() if command))
    assert Warehouse(LocalPlace(warehouse)).versions() == before
    assert len(rows(warehouse, "classic_group_metadata")) == 10
    # Whoever comes next does it all.
    for words in (["ingest", "--source", f"segments:{warehouse.parent / 'log'}"], ["replay"]):
        assert cli.main([*words, "--warehouse", str(warehouse)]) == ExitCode.CLEAN
    assert cli.main(["doctor", "--warehouse", str(warehouse)]) == ExitCode.CLEAN


@pytest.mark.drawn_together(2)
def test_an_audit_in_worker_processes(warehouse):
    before = Warehouse(LocalPlace(warehouse)).versions()
    held = set(warehouse.glob("classic_group_metadata/*.parquet"))
    with begun(warehouse, "local", 20_000) as process:
        wait_until(lambda: set(warehouse.glob("classic_group_metadata/*.parquet")) != held, process)
        assert_ended(process, warehouse, before)


@pytest.mark.drawn_together(2)
@pytest.mark.spark
def test_an_audit_while_spark_works(warehouse):
    before = Warehouse(LocalPlace(warehouse)).versions()
    with begun(warehouse, "spark", 10_000) as process:
        wait_until(lambda: any("pyspark.daemon" in each for each in descendants(process.pid).values()), process)
        assert_ended(process, warehouse, before)


@pytest.mark.drawn_together(2)
@pytest.mark.spark
def test_an_audit_while_spark_starts(warehouse):
    before = Warehouse(LocalPlace(warehouse)).versions()
    with begun(warehouse, "spark", 1_000) as process:
        wait_until(lambda: any("SparkSubmit" in each for each in descendants(process.pid).values()), process)
        assert_ended(process, warehouse, before)
