"""Warehouses and disks that an ingest cannot use: one clear line, the contract's exit code, and nothing changed."""

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jobs import cli
from jobs.warehouses.warehouse_marker import MARKER
from schemas.words.exit_codes import ExitCode
from tests.builders.warehouses.one_run import log, source, warehouse
from tests.runs.ingested import history, ingest, run_ingest
from tests.runs.refused import check_no_leftovers, fill, mounted, refused, unchanged

__all__ = ["log", "source", "warehouse"]

UNUSABLE = ExitCode.UNUSABLE_WAREHOUSE
Capsys = pytest.CaptureFixture[str]


def test_a_folder_of_another_program_is_left_alone(tmp_path: Path, capsys: Capsys, source: str) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    line = refused(folder, capsys, UNUSABLE, "--source", source)
    assert line.startswith(f"{folder}: no {MARKER} in it")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_file_in_place_of_a_warehouse(tmp_path: Path, capsys: Capsys, source: str) -> None:
    (tmp_path / "theirs").write_text("mine")
    assert "is a file" in refused(tmp_path / "theirs", capsys, UNUSABLE, "--source", source)
    assert "Not a directory" in refused_elsewhere(tmp_path / "theirs" / "below", tmp_path, capsys, "--source", source)
    assert (tmp_path / "theirs").read_text() == "mine"


@pytest.mark.parametrize("name", ["a%20b", "a\\b", "a\tb"])
def test_a_path_that_the_library_of_delta_reads_as_another_one(
    tmp_path: Path, capsys: Capsys, source: str, name: str
) -> None:
    for command in ("replay", "sql", "doctor"):
        words = [command, "--warehouse", str(tmp_path / name), *(["SELECT 1"] if command == "sql" else [])]
        assert cli.main(words) == ExitCode.USAGE
        assert "tables cannot be in a folder with " in capsys.readouterr().err
    assert "choose another one" in refused(tmp_path / name, capsys, ExitCode.USAGE, "--source", source)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"contract_version": 4}', "has table format 4, this release reads up to 3: use a newer groupscope"),
        (
            '{"contract_version": 1}',
            ": was written by an older release (table format 1, this release needs 3). "
            "Read __consumer_offsets again into a new folder: groupscope audit --source … --warehouse NEW",
        ),
        ('{"contract_version": "1"}', "has table format 1, this release reads up to 3"),
        ("", "not readable"),
        ("[]", "not readable"),
    ],
)
def test_a_warehouse_of_another_version(
    warehouse: Path, capsys: Capsys, source: str, content: str, message: str
) -> None:
    with unchanged(warehouse):
        (warehouse / MARKER).write_text(content)
        assert message in refused(warehouse, capsys, UNUSABLE, "--source", source)


def test_a_new_warehouse_whose_first_run_was_killed_at_once_is_still_ours(tmp_path: Path, source: str) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / f"{MARKER}.4711.begun").write_text("{")
    ingest(tmp_path / "w", "--source", source)
    check_no_leftovers(tmp_path / "w")


def test_a_table_that_lost_a_file_is_reported_by_its_name(
    tmp_path: Path, warehouse: Path, capsys: Capsys, source: str
) -> None:
    (path,) = (warehouse / "offset_commits").glob("*.parquet")
    path.rename(tmp_path / "kept")
    # It overlaps what the run before read, so the file is looked at.
    assert path.name in refused(warehouse, capsys, UNUSABLE, "--source", source)
    (tmp_path / "kept").rename(path)
    ingest(warehouse, "--source", source)


# Disks


def test_a_read_only_file_system(tmp_path: Path, capsys: Capsys, warehouse: Path, source: str) -> None:
    with mounted(tmp_path / "disk", "32m") as disk:
        shutil.copytree(warehouse, disk / "w")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with unchanged(disk / "w"):
            line = refused_elsewhere(disk / "w", tmp_path, capsys, "--source", source)
            assert line == f"{disk / 'w'}: is read-only; give a folder to write to"
        line = refused_elsewhere(disk / "new", tmp_path, capsys, "--source", source)
        assert line == f"{disk / 'new'}: {os.strerror(errno.EROFS)}"


def refused_elsewhere(warehouse: Path, tmp_path: Path, capsys: Capsys, *arguments: str) -> str:
    """With the result beside the disk, which cannot take it."""
    capsys.readouterr()
    result = tmp_path / "refused.json"
    assert run_ingest(warehouse, "--result-file", result, *arguments) == UNUSABLE
    (line,) = capsys.readouterr().err.splitlines()
    reported = line.removeprefix("groupscope: ")
    assert json.loads(result.read_text())["message"] == reported
    return reported


def test_a_full_disk_at_any_step_leaves_the_last_run_and_a_later_run_goes_on(
    tmp_path: Path, capsys: Capsys, warehouse: Path, source: str
) -> None:
    """More and more room beside the tables, so that it runs out at one step after another."""
    ingest(tmp_path / "direct", "--source", source)
    before, after = history(warehouse), history(tmp_path / "direct")
    used = sum(path.stat().st_blocks for path in warehouse.rglob("*")) * 512
    reported = []
    with mounted(tmp_path / "disk", str(used + (4 << 20))) as disk:
        for spare in range(0, 1 << 20, 12 << 10):
            shutil.copytree(warehouse, disk / "w")
            fill(disk / "filler", shutil.disk_usage(disk).free - spare)
            capsys.readouterr()
            if (code := run_ingest(disk / "w", "--source", source)) == ExitCode.CLEAN:
                break
            assert code == UNUSABLE
            reported += [line.removeprefix("groupscope: ") for line in capsys.readouterr().err.splitlines()]
            assert history(disk / "w") == before
            (disk / "filler").unlink()
            ingest(disk / "w", "--source", source)
            assert history(disk / "w") == after
            check_no_leftovers(disk / "w")
            shutil.rmtree(disk / "w")
    assert all("No space left on device" in line and str(disk / "w") in line for line in reported), reported
    assert all(line.isprintable() for line in reported), reported
    # Of tables, and of Delta's logs.
    assert len(set(reported)) > 1, reported
