"""What `doctor` says of a broken warehouse mends it: a test breaks one, types the command, and `doctor` is content."""

import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

from benchmarks.year_of_runs import Year
from jobs import cli
from jobs.checks import history_checks, row_checks, table_checks, version_checks
from jobs.doctor import run_checks
from jobs.storage.kernel_lock import KernelLock
from jobs.storage.places.local_place import LocalPlace
from schemas.words.exit_codes import ExitCode
from tests.builders.warehouses.broken_warehouses import (
    change_a_type,
    continue_after_an_unknown_run,
    end_a_run,
    leave_a_file,
    lose_a_file,
    lose_a_group,
    lose_a_table,
    lose_old_commits,
    lose_records,
    lose_statistics,
    miscount,
    need_another_reader,
    overlap,
    rows_of,
    store_a_deletion,
    store_another_offset,
    write_a_null,
    write_a_row_twice,
    write_uncounted,
)
from tests.builders.warehouses.five_days import five_days

# Each takes several audits, so a run draws some of them.
pytestmark = pytest.mark.drawn_together(3)

__all__ = ["five_days"]


@pytest.fixture(scope="module")
def written(five_days: Year, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(five_days.folder, tmp_path_factory.mktemp("maintained") / "year")
    result = replace(five_days, folder=folder)
    result.maintain()
    return result.warehouse


@pytest.fixture
def warehouse(written: Path, tmp_path: Path) -> Path:
    return shutil.copytree(written, tmp_path / "w")


# How a warehouse is broken, the check that finds it, and what is to be typed.
BY_A_COMMAND: list[tuple[Callable[[Path], None], str, str]] = [
    (overlap, "intervals", "replay --full"),
    (store_another_offset, "state", "replay --full"),
    (store_a_deletion, "state", "replay --full"),
    (lose_a_group, "state", "replay --full"),
    (continue_after_an_unknown_run, "progress runs", "replay --full"),
    (lose_old_commits, "run versions", "maintain --keep"),
    (leave_a_file, "orphans", "maintain --keep"),
    (lose_a_file, "files", "replay --full"),
    (lose_a_table, "tables", "replay --full"),
    (write_a_row_twice, "keys", "replay --full"),
    (write_a_null, "nulls", "replay --full"),
    (lose_statistics("offset_commits"), "statistics", "ingest --optimize full"),
    (lose_statistics("rebalances"), "statistics", "replay --full"),
    (need_another_reader, "protocol", "replay --full"),
    (need_another_reader, "delta-rs", "replay --full"),
    (change_a_type, "schema", "replay --full"),
    (end_a_run, "manifests", "replay"),
]


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("spoil", "check", "command"), BY_A_COMMAND)
def test_what_it_says_mends_it(warehouse: Path, spoil: Callable[[Path], None], check: str, command: str) -> None:
    assert {result.check for result in problems(warehouse)} == set()
    spoil(warehouse)
    result = {each.check: each for each in problems(warehouse)}
    assert check in result, result
    assert [" ".join(words).startswith(command) for words in commands(result[check].mend)] == [True]
    # A table that was made again has no older versions: then `doctor` says how runs forget them.
    for _ in range(2):
        mend_all(warehouse)
    assert problems(warehouse) == []


def test_a_table_that_another_program_wrote_to_is_as_before_once_it_is_restored(warehouse: Path) -> None:
    """Not by a command of ours: whoever wrote there may want to keep the rows."""
    path = warehouse / "rebalances"
    write_deltalake(path, DeltaTable(path).to_pyarrow_table().slice(0, 1), mode="append")
    (result,) = problems(warehouse)
    (version,) = re.findall(r"^restore version (\d+) \(Delta's RESTORE\); let only groupscope write", result.mend)
    assert (result.check, result.subject) == ("versions", "rebalances")
    DeltaTable(path).restore(int(version))
    assert problems(warehouse) == []


# What no command of ours brings back: only people know whether there is a backup, or the input.
BY_PEOPLE: list[tuple[Callable[[Path], None], str]] = [
    (lose_records, "files"),
    (write_uncounted, "sums"),
    (miscount, "counts"),
]
# Its own tests are named, or the check that says the same by the same code.
OTHERWISE = {
    "lock": "test_a_run_in_progress_is_waited_for",
    "versions": "test_a_table_that_another_program_wrote_to_is_as_before_once_it_is_restored",
    "progress": "tests/faults/test_lost_rows.py",
    "duckdb": "delta-rs",
}


def test_each_kind_of_problem_is_mended_here() -> None:
    checks = [*table_checks.CHECKS, *row_checks.CHECKS, *history_checks.CHECKS, *version_checks.CHECKS]
    tested = [*(check for _, check, _ in BY_A_COMMAND), *(check for _, check in BY_PEOPLE), *OTHERWISE]
    assert {check.name for check in checks} == set(tested)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("spoil", "check"), BY_PEOPLE)
def test_lost_records_come_back_from_a_backup_or_from_the_input(
    warehouse: Path, five_days: Year, tmp_path: Path, spoil: Callable[[Path], None], check: str
) -> None:
    backup = shutil.copytree(warehouse, tmp_path / "backup")
    spoil(warehouse)
    result = {each.check: str(each.mend) for each in problems(warehouse)}
    from_input = "or run groupscope audit on the same input into a new warehouse"
    assert result[check] == f"restore the table's folder from a backup, {from_input}"
    if spoil is lose_records:
        shutil.rmtree(warehouse / "offset_commits")
        shutil.copytree(backup / "offset_commits", warehouse / "offset_commits")
        assert problems(warehouse) == []
    words = ["audit", "--source", f"segments:{five_days.folder}/log-*", "--warehouse", str(tmp_path / "new")]
    assert cli.main([*words, "--report", str(tmp_path / "report"), "--fail-on", "never"]) == ExitCode.CLEAN
    assert problems(tmp_path / "new") == []
    assert len(rows_of(tmp_path / "new", "offset_commits")) == len(rows_of(backup, "offset_commits"))


def test_a_run_in_progress_is_waited_for(warehouse: Path) -> None:
    with KernelLock(warehouse, "ingest").hold(0, print):
        (result,) = problems(warehouse)
        assert (result.check, result.mend) == ("lock", "run doctor again when that run has ended")
    assert problems(warehouse) == []


def mend_all(warehouse: Path) -> None:
    """Does what is said of each problem."""
    for mend in {str(each.mend) for each in problems(warehouse)}:
        for folder in re.findall("delete the folder (.+), then: ", mend):
            shutil.rmtree(folder)
        for words in commands(mend):
            assert cli.main([*words, "--warehouse", str(warehouse)]) == ExitCode.CLEAN, words


def commands(mend: str) -> list[list[str]]:
    result = re.findall(r"`(groupscope [^`]+)`", mend) or re.findall(r"groupscope .+", mend)
    return [shlex.split(each)[1:] for each in result]


def problems(root: Path) -> list[Any]:
    return [result for result in run_checks(LocalPlace(root)) if result.status != "ok"]
