"""Warehouses that tests of faults copy: they take seconds to make."""

import json
import shutil

import pytest

from tests.faults.killed_runs import Undisturbed, disturbed_runs
from tests.once_a_run import once_a_run

SECONDS = "seconds.json"


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    made = once_a_run(tmp_path_factory, "undisturbed", make)
    seconds = json.loads((made / SECONDS).read_text())
    return Undisturbed(files_beside(made), dict(zip((False, True), seconds, strict=True)))


@pytest.fixture
def disturbed(s3, undisturbed, tmp_path, seed, capfd):
    with disturbed_runs(s3, undisturbed, tmp_path, seed, capfd) as runs:
        yield runs


def make(folder):
    # Of a process that died over it.
    shutil.rmtree(files_beside(folder), ignore_errors=True)
    found = Undisturbed(files_beside(folder))
    found.make()
    (folder / SECONDS).write_text(json.dumps([found.seconds[False], found.seconds[True]]))


def files_beside(folder):
    """Where they stay: rows name the files of the log by their places, and this folder is renamed."""
    return folder.with_name("undisturbed-files")
