"""The server process of workers is started early where there is surely work for several, and only there."""

import os
import subprocess
import sys

import pytest

from tests.runs.ingested import ROOT

SECOND = 1_700_000_000
# Prints how many processes it has started, and whether it has loaded what takes long.
PROGRAM = """
import sys, argparse
from pathlib import Path
from jobs.engine.early_server import start_early
source, warehouse, workers = sys.argv[1:]
start_early(argparse.Namespace(command="ingest", source=source, warehouse=warehouse, workers=int(workers)))
children = Path("/proc/self/task").glob("*/children")
print(sum(len(each.read_text().split()) for each in children), "numpy" in sys.modules)
"""


def started(source, warehouse, workers=2):
    command = [sys.executable, "-c", PROGRAM, source, str(warehouse), str(workers)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=True).stdout.strip()


@pytest.fixture
def folder(tmp_path):
    """40 MiB in two segments of one partition, without bytes on the disk."""
    partition = tmp_path / "log" / "__consumer_offsets-3"
    partition.mkdir(parents=True)
    for name in ("00000000000000000000.log", "00000000000000000900.log"):
        with (partition / name).open("wb") as file:
            file.truncate(20 << 20)
        os.utime(partition / name, (SECOND, SECOND))
    return tmp_path / "log"


def results_at(warehouse, second):
    (warehouse / "_runs").mkdir(parents=True)
    os.utime(warehouse / "_runs", (second, second))
    return warehouse


def test_a_first_run_on_a_large_log_starts_it_before_anything_heavy_is_loaded(folder, tmp_path):
    assert started(f"segments:{folder}", tmp_path / "w") != "0 False"
    assert started(f"segments:{folder}", tmp_path / "w").endswith(" False")


def test_files_that_changed_after_the_last_run_count_and_others_do_not(folder, tmp_path):
    assert started(f"segments:{folder}", results_at(tmp_path / "before", SECOND - 10)) != "0 False"
    assert started(f"segments:{folder}", results_at(tmp_path / "after", SECOND + 10)) == "0 False"


def test_one_worker_small_logs_and_other_places_start_none(folder, tmp_path):
    assert started(f"segments:{folder}", tmp_path / "w", workers=1) == "0 False"
    for source in (f"records:{folder}", "segments:s3://bucket/log", f"segments:{folder}/*-3", "segments:no/such"):
        assert started(source, tmp_path / "w") == "0 False", source
    next(folder.rglob("*900.log")).unlink()
    assert started(f"segments:{folder}", tmp_path / "w") == "0 False"
