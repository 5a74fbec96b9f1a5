"""Runs `groupscope ingest` on what it must refuse: one line, the right exit code, and a warehouse that is as it was."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.leftovers import leftovers
from jobs.warehouses.manifest import unfinished_manifests
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import history, run_ingest, versions


def refused(
    warehouse: Path, capsys: pytest.CaptureFixture[str], code: ExitCode, *arguments: str | Path, has_result: bool = True
) -> str:
    """The line that reports the failure. It is in the result file too, where programs look for it."""
    result = warehouse.parent / "refused.json"
    # A program must not take the result of an earlier run for that of this one.
    result.write_text('{"verdict": "clean", "exit_code": 0}')
    capsys.readouterr()
    assert run_ingest(warehouse, "--result-file", result, *arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    reported = line.removeprefix("groupscope: ")
    if has_result:
        assert json.loads(result.read_text()) == {
            "job": "ingest",
            "verdict": "failed",
            "exit_code": code,
            "message": reported,
        }
    return reported


@contextmanager
def unchanged(warehouse: Path) -> Iterator[None]:
    """Whatever happens within: tables, versions and runs are as before, and the next run leaves nothing behind."""
    before = (versions(warehouse), history(warehouse), num_runs(warehouse))
    yield
    assert (versions(warehouse), history(warehouse), num_runs(warehouse)) == before
    assert unfinished_manifests(LocalPlace(warehouse)) == []


def check_no_leftovers(warehouse: Path) -> None:
    """After a run that ended well."""
    assert leftovers(LocalPlace(warehouse), Warehouse(LocalPlace(warehouse)).run_ids()) == []
    assert [path.name for path in warehouse.rglob("*.begun")] == []


def num_runs(warehouse: Path) -> int:
    return len(Warehouse(LocalPlace(warehouse)).run_rows(["run_id"]))


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """A small file system of its own; only a superuser can make one."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("mount is not permitted here: run as root, in a container with --cap-add SYS_ADMIN")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(path: Path, size: int) -> None:
    """Takes room of its file system."""
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(size, 1))
