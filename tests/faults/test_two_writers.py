"""Two ingests at once on one warehouse: one works, the other waits or says for whom it would have to."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from jobs.output.failure import Failure
from jobs.storage.kernel_lock import LOCK_FILE, KernelLock
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import random_log, write_copy
from tests.runs.ingested import ROOT, history, ingest, run_ingest

HOLDING = "holding\n"
# Takes the lock as a run does, says so, and works until it is ended.
HOLD = f"""
import sys, time
from pathlib import Path
from jobs.storage.kernel_lock import KernelLock
from tests.make.tables import without_runs
without_runs(Path(sys.argv[1]))
with KernelLock(Path(sys.argv[1]), "ingest").hold(0, print):
    sys.stdout.write({HOLDING!r})
    sys.stdout.flush()
    sys.stdin.read()
"""


@pytest.fixture
def sources(tmp_path, rng):
    log = random_log(rng, 40)
    parts = (log[:25], log[15:])
    return [f"segments:{write_copy(tmp_path / str(number), 3, part, rng)}" for number, part in enumerate(parts)]


@contextmanager
def holder(warehouse):
    command = [sys.executable, "-c", HOLD, str(warehouse)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == HOLDING
        try:
            yield process
        finally:
            process.kill()


def named(process):
    return f"ingest (process {process.pid} on {socket.gethostname()})"


def test_an_ingest_that_may_not_wait_names_the_one_that_works(tmp_path, sources, capsys):
    warehouse, result = tmp_path / "w", tmp_path / "result.json"
    ingest(warehouse, "--source", sources[0])
    before = history(warehouse)
    with holder(warehouse) as process:
        capsys.readouterr()
        arguments = ("--source", sources[1], "--result-file", result)
        assert run_ingest(warehouse, "--lock-wait", "0", *arguments) == ExitCode.UNUSABLE_WAREHOUSE
        (line,) = capsys.readouterr().err.splitlines()
        assert line == f"groupscope: {warehouse}: busy with {named(process)}, not free within 0 s (--lock-wait)"
        assert json.loads(result.read_text())["exit_code"] == ExitCode.UNUSABLE_WAREHOUSE

        begun = time.monotonic()
        assert run_ingest(warehouse, "--lock-wait", "0.5", *arguments) == ExitCode.UNUSABLE_WAREHOUSE
        assert 0.5 <= time.monotonic() - begun < 30
        waiting, gave_up = capsys.readouterr().err.splitlines()
        assert waiting == f"groupscope: {warehouse}: waiting for {named(process)}"
        assert gave_up.endswith("not free within 0.5 s (--lock-wait)")
    assert history(warehouse) == before


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_holder_that_dies_frees_the_warehouse(tmp_path, sources, capsys, sign):
    warehouse = tmp_path / "w"
    ingest(warehouse, "--source", sources[0])
    with holder(warehouse) as process:
        os.kill(process.pid, sign)
        process.wait()
        # What it wrote of itself is still there.
        assert str(process.pid) in (warehouse / LOCK_FILE).read_text()
        capsys.readouterr()
        ingest(warehouse, "--source", sources[1], "--lock-wait", "0")
    assert "waiting" not in capsys.readouterr().err


def test_one_of_two_ingests_waits_and_then_works(tmp_path, sources):
    """Held up until both wait, so that they meet; then each does its work, one after the other."""
    warehouse = tmp_path / "w"
    for source in sources:
        ingest(tmp_path / "direct", "--source", source)
    with holder(warehouse) as process:
        command = [sys.executable, "-m", "jobs.cli", "ingest", "--warehouse", str(warehouse)]
        waiting = [
            subprocess.Popen([*command, "--source", source], cwd=ROOT, stderr=subprocess.PIPE, text=True)
            for source in sources
        ]
        for each in waiting:
            assert each.stderr is not None
            assert each.stderr.readline() == f"groupscope: {warehouse}: waiting for {named(process)}\n"
        assert [each.poll() for each in waiting] == [None, None]
        process.kill()
        process.wait()
        for each in waiting:
            each.communicate(timeout=120)
    assert [each.returncode for each in waiting] == [0, 0]
    assert history(warehouse) == history(tmp_path / "direct")
    runs = Warehouse(LocalPlace(warehouse)).run_rows(["run_id", "ingest_counts"])
    assert sorted(int(row["run_id"][:8]) for row in runs) == [1, 2]
    assert (warehouse / LOCK_FILE).read_text() == ""


def test_many_first_ingests_at_once_make_one_warehouse(tmp_path, sources):
    """None takes what another has just begun to write for the folder of another program."""
    warehouse = tmp_path / "w"
    command = [sys.executable, "-m", "jobs.cli", "ingest", "--warehouse", str(warehouse), "--source", sources[0]]
    started = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    told = [each.communicate(timeout=240)[1] for each in started]
    assert [each.returncode for each in started] == [0] * 4, told
    assert all(
        re.fullmatch(r"(groupscope: .*: waiting for .*\n|groupscope: .* kept, not decoded\n)*", text) for text in told
    )
    ingest(tmp_path / "direct", "--source", sources[0])
    assert history(warehouse) == history(tmp_path / "direct")
    assert len(Warehouse(LocalPlace(warehouse)).run_rows(["run_id"])) == 4


def test_the_lock_is_of_the_process_and_is_not_handed_on_to_what_it_starts(tmp_path):
    """Spark's virtual machine lives on for a while when its driver was killed."""
    with KernelLock(tmp_path, "ingest").hold(0, print):
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        with KernelLock(tmp_path, "ingest").hold(0, print):
            pass
    finally:
        child.communicate()


def test_a_lock_that_nobody_has_described_is_told_all_the_same(tmp_path):
    with KernelLock(tmp_path, "ingest").hold(0, print):
        (tmp_path / LOCK_FILE).write_text("")
        with pytest.raises(Failure, match="busy with another run"), KernelLock(tmp_path, "ingest").hold(0, print):
            pass
