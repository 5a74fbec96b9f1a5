"""A first run that fails before it commits anything leaves no warehouse: nothing that it made, and nothing of others is
touched. Another run that waits for it goes on alone."""

import json
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
from hdfs_native import Client

from jobs import cli
from jobs.configuration.settings import Settings, options_of
from jobs.output.failure import Failure
from jobs.storage import kernel_lock, storage_lock
from jobs.storage.local_storage import LocalStorage
from jobs.storage.places.addresses import storage_at
from jobs.warehouses.warehouse_marker import MARKER
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import random_log, write_copy
from tests.builders.storages.kinds import elsewhere, place_of, storage
from tests.faults.at_steps import at
from tests.runs.ingested import ROOT, history, ingest, run_ingest
from tests.runs.refused import fill, mounted

__all__ = ["elsewhere", "storage"]

NOWHERE = ("--source", "segments:/nowhere-at-all")
# A run that has written its files, waits for a word, and fails.
FAILING = """
import sys
from jobs.cli import main
from jobs.output.failure import Failure
from tests.faults.at_steps import at
def fail():
    print("written", flush=True)
    sys.stdin.readline()
    raise Failure(21, "it failed")
with at("files_written", fail):
    sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def source(tmp_path, rng):
    return f"segments:{write_copy(tmp_path / 'log', 3, random_log(rng, 40), rng)}"


def words(warehouse, *more):
    return ["ingest", "--warehouse", str(warehouse), *more]


def begun(command):
    return subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def failing(warehouse, source):
    """Holds the lock and has written files of tables."""
    process = begun(["-c", FAILING, *words(warehouse, "--source", source)])
    assert process.stdout.readline() == "written\n"
    return process


def waiting(warehouse, holder, command):
    process = begun(command)
    assert process.stderr.readline() == f"groupscope: {warehouse}: waiting for {named(holder)}\n"
    return process


def named(process):
    return f"ingest (process {process.pid} on {socket.gethostname()})"


def fails_now(process):
    _, errors = process.communicate("now\n", timeout=120)
    assert process.returncode == ExitCode.UNREADABLE_INPUT, errors
    assert errors.splitlines()[-1] == "groupscope: it failed"


def left(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("job", ["ingest", "audit"])
def test_nothing_is_left_of_it_but_the_result_file(tmp_path, job):
    place, result = tmp_path / "a" / "b" / "w", tmp_path / "results" / "RUN.json"
    report = ["--report", str(tmp_path / "report")] if job == "audit" else []
    result.parent.mkdir()
    assert cli.main([job, "--warehouse", str(place), *NOWHERE, *report, "--result-file", str(result)]) == 21
    assert left(tmp_path) == {"results", "results/RUN.json"}
    assert json.loads(result.read_text())["exit_code"] == 21


def test_a_result_file_in_the_warehouse_stays_and_the_next_run_takes_the_folder(tmp_path, source):
    result = tmp_path / "w" / "RUN.json"
    result.parent.mkdir()
    for _ in range(2):
        assert run_ingest(tmp_path / "w", *NOWHERE, "--result-file", result) == 21
        assert left(tmp_path / "w") == {"RUN.json"}
    assert run_ingest(tmp_path / "w", "--source", source, "--result-file", result) == 0


def fail():
    raise Failure(ExitCode.UNREADABLE_INPUT, "it failed")


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize(("act", "code"), [(fail, 21), (interrupt, 130)])
def test_files_that_it_has_written_go_with_it(tmp_path, source, act, code):
    with at("files_written", act):
        assert run_ingest(tmp_path / "a" / "w", "--source", source) == code
    assert not (tmp_path / "a").exists()


def test_a_full_disk_has_nothing_of_it(tmp_path, source, capfd):
    with mounted(tmp_path / "disk", str(1 << 20)) as disk:
        fill(disk / "filler", shutil.disk_usage(disk).free)
        assert run_ingest(disk / "a" / "w", "--source", source) == ExitCode.UNUSABLE_WAREHOUSE
        assert "No space left on device" in capfd.readouterr().err
        assert left(disk) == {"filler"}


def test_a_folder_that_was_there_stays_empty(tmp_path):
    (tmp_path / "w").mkdir()
    assert run_ingest(tmp_path / "w", *NOWHERE) == 21
    assert left(tmp_path) == {"w"}


@pytest.mark.parametrize("name", ["notes.txt", "offset_commits/notes.txt"])
def test_a_file_of_others_stays_and_the_folder_is_still_a_warehouse(tmp_path, source, name):
    warehouse = tmp_path / "w"

    def write_and_fail():
        (warehouse / name).write_text("mine")
        fail()

    with at("files_written", write_and_fail):
        assert run_ingest(warehouse, "--source", source) == 21
    assert {path for path in left(warehouse) if (warehouse / path).is_file()} == {name, MARKER, "_lock"}
    assert run_ingest(warehouse, "--source", source) == 0
    assert (warehouse / name).read_text() == "mine"


def test_a_mark_that_was_kept_in_the_meantime_stays(tmp_path, source, capfd):
    def mark_and_fail():
        assert cli.main(["mark", "billing 2.4.1", "--warehouse", str(tmp_path / "w")]) == 0
        fail()

    with at("files_written", mark_and_fail):
        assert run_ingest(tmp_path / "w", "--source", source) == 21
    assert run_ingest(tmp_path / "w", "--source", source) == 0
    capfd.readouterr()
    assert cli.main(["mark", "--list", "--warehouse", str(tmp_path / "w"), "--format", "csv"]) == 0
    assert "billing 2.4.1" in capfd.readouterr().out


def test_what_will_be_committed_stays(tmp_path, source):
    warehouse = tmp_path / "w"
    with at("manifest_written", fail):
        assert run_ingest(warehouse, "--source", source) == 21
    assert ingest(warehouse, "--source", source)["num_files_read"] == 0
    ingest(tmp_path / "direct", "--source", source)
    assert history(warehouse) == history(tmp_path / "direct")


def test_a_later_run_that_fails_removes_nothing(tmp_path, source):
    warehouse = tmp_path / "w"
    ingest(warehouse, "--source", source)
    before = left(warehouse)
    assert run_ingest(warehouse, *NOWHERE) == 21
    assert left(warehouse) == before


def test_a_capture_that_reaches_no_broker_leaves_nothing(tmp_path):
    asked = ["capture", "--source", "kafka:nowhere.invalid:9092", "--warehouse", str(tmp_path / "w")]
    assert cli.main(asked) == 21
    assert not left(tmp_path)


# -- two processes


def test_a_run_that_waits_for_one_that_fails_makes_the_warehouse(tmp_path, source):
    warehouse = tmp_path / "a" / "w"
    first = failing(warehouse, source)
    second = waiting(warehouse, first, ["-m", "jobs.cli", *words(warehouse, "--source", source)])
    fails_now(first)
    _, errors = second.communicate(timeout=120)
    assert second.returncode == 0, errors
    ingest(tmp_path / "direct", "--source", source)
    assert history(warehouse) == history(tmp_path / "direct")


def test_of_two_that_fail_nothing_is_left_and_each_had_the_warehouse_for_itself(tmp_path, source, capfd):
    warehouse = tmp_path / "a" / "w"
    first = failing(warehouse, source)
    second = waiting(warehouse, first, ["-c", FAILING, *words(warehouse, "--source", source)])
    fails_now(first)
    assert second.stdout.readline() == "written\n"
    assert run_ingest(warehouse, "--source", source, "--lock-wait", "0") == ExitCode.UNUSABLE_WAREHOUSE
    assert f"busy with {named(second)}" in capfd.readouterr().err
    fails_now(second)
    assert not (tmp_path / "a").exists()


def test_a_step_that_waits_for_a_first_run_that_fails_says_that_there_is_no_warehouse(tmp_path, source):
    warehouse = tmp_path / "a" / "w"
    first = failing(warehouse, source)
    second = waiting(warehouse, first, ["-m", "jobs.cli", "replay", "--warehouse", str(warehouse)])
    fails_now(first)
    _, errors = second.communicate(timeout=120)
    advice = "give the folder of a warehouse, or create one with `groupscope audit`"
    assert (second.returncode, errors) == (23, f"groupscope: {warehouse}: no such folder; {advice}\n")
    assert not (tmp_path / "a").exists()


# -- the locks


def test_of_many_that_remove_the_lock_one_holds_it(storage, monkeypatch):
    for module in (kernel_lock, storage_lock):
        monkeypatch.setattr(module, "PAUSE_SECONDS", 0.001)
    root, inside, most = place_of(storage, ""), 0, 0

    def hold(number):
        nonlocal inside, most
        lock = root.lock("ingest")
        with lock.hold(60, lambda line: None, root.make_folder):
            inside += 1
            most = max(most, inside)
            time.sleep(0.001)
            lock.check()
            inside -= 1
            lock.remove_at_end()
        if number % 2:
            (root / "_lock").delete_empty_folder()
            root.delete_empty_folder()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(hold, range(60 if isinstance(storage, LocalStorage) else 12)))
    assert most == 1
    assert not list(storage.list())


def test_nothing_is_left_on_other_storages_either(elsewhere, tmp_path, source):
    place = f"{elsewhere}/first/w"
    for more in (NOWHERE, ("--source", source)):
        with at("files_written", fail) if more != NOWHERE else nullcontext():
            assert cli.main(words(place, *more)) == 21
        assert not list(storage_at(place, options_of(Settings())).list())
    if elsewhere.startswith("hdfs:"):
        root, _, own = elsewhere.rpartition("/")
        assert f"/{own}" not in [each.path for each in Client(root).list_status("/")]
    assert cli.main(words(place, "--source", source)) == 0
