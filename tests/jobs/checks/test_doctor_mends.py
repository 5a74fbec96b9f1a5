"""What `doctor` says of a broken warehouse mends it: a test breaks one, types the command, and `doctor` is content."""

import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from benchmarks.year_of_runs import Year
from jobs import cli
from jobs.doctor import run_checks
from jobs.warehouses.delta_tables import Change, DataFile
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.open_warehouse import writing
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.contract.tables import TABLES, folder_of
from schemas.words.exit_codes import ExitCode
from tests.builders.warehouses.by_hand import NOW_MS, filled
from tests.builders.warehouses.five_days import five_days

__all__ = ["five_days"]

CLUSTER = "default"


@pytest.fixture(scope="module")
def written(five_days: Year, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(five_days.folder, tmp_path_factory.mktemp("maintained") / "year")
    found = replace(five_days, folder=folder)
    found.maintain()
    return found.warehouse


@pytest.fixture
def warehouse(written: Path, tmp_path: Path) -> Path:
    return shutil.copytree(written, tmp_path / "w")


def add_row(root: Path, table: str, row: dict[str, Any], *, is_open: bool | None) -> None:
    """By a run of its own, as if a job had gone wrong."""
    with writing(root, "test", 0, print) as warehouse:
        sequence = warehouse.next_sequence()
        run_id = f"{sequence:08}-20261124T000000Z"
        file = TableFile(warehouse.path(table), TABLES[table], run_id)
        file.write(filled(TABLES[table], [row]))
        done = file.close()
        assert isinstance(done, DataFile)
        change = Change((replace(done, is_open=is_open),))
        warehouse.write(Manifest(run_id, sequence, NOW_MS, {table: change}, (run_row(warehouse, run_id),)))


def run_row(warehouse: Warehouse, run_id: str) -> dict[str, Any]:
    columns = [column.name for column in TABLES["runs"].columns]
    newest = max(warehouse.run_rows(columns), key=lambda row: str(row["run_id"]))
    times = dict.fromkeys(("started_time", "finished_time"), NOW_MS)
    return {**newest, **times, "as_of_time": None, "run_id": run_id, "job": "test", "ingest_counts": []}


def overlap(root: Path) -> None:
    row = {"cluster": CLUSTER, "group_id": "g0", "topic": "t", "partition": 0, "from_offset": 0, "to_offset": 10**6}
    ends = {"is_open": False, "ended_by": "commit", "via": "plain", "confidence": "certain"}
    add_row(root, "offset_history", {**row, **ends}, is_open=False)


def store_another_offset(root: Path) -> None:
    row = {"cluster": CLUSTER, "group_id": "nobody", "topic": "t", "partition": 0, "kind": "live"}
    add_row(root, "replayed_offsets", row, is_open=None)


def store_a_deletion(root: Path) -> None:
    """Of an offset that is in effect."""
    rows = DeltaTable(root / "offset_history").to_pyarrow_table().to_pylist()
    row = next(row for row in rows if row["is_open"] and row["ended_by"] is None)
    key = {name: row[name] for name in ("cluster", "group_id", "topic", "partition")}
    add_row(root, "replayed_offsets", {**key, "kind": "gone"}, is_open=None)


def lose_a_group(root: Path) -> None:
    """Its stored rows, without which the next replay does not know how long it has been alive."""
    row = {"cluster": CLUSTER, "group_id": "nobody", "topic": "t", "partition": 0, "from_offset": 5}
    add_row(root, "offset_history", {**row, "is_open": True, "via": "plain", "confidence": "certain"}, is_open=True)


def continue_after_an_unknown_run(root: Path) -> None:
    (row,) = DeltaTable(root / folder_of("replayed_partitions")).to_pyarrow_table().to_pylist()
    changed = {**row, "offsets_partition": 49, "through_run_id": "00009999-20261124T000000Z"}
    add_row(root, "replayed_partitions", changed, is_open=None)


def lose_old_commits(root: Path) -> None:
    """Those before a checkpoint, which a run within the term names."""
    log = root / folder_of("offset_history") / "_delta_log"
    checkpoint = max(int(path.name[:20]) for path in log.glob("*.checkpoint.parquet"))
    for path in log.glob("*.json"):
        if int(path.stem) < checkpoint:
            path.unlink()


def leave_a_file(root: Path) -> None:
    run_id = next(iter(DeltaTable(root / "runs").to_pyarrow_table(columns=["run_id"]).to_pylist()))["run_id"]
    path = next((root / "offset_commits").glob("*.parquet"))
    shutil.copy(path, path.with_name(f"part-{run_id}-left.parquet"))


def lose_a_file(root: Path) -> None:
    Path(DeltaTable(root / "rebalances").file_uris()[0]).unlink()


def lose_a_table(root: Path) -> None:
    shutil.rmtree(root / "membership_intervals")


@pytest.mark.drawn(4)
@pytest.mark.parametrize(
    ("spoil", "check", "command"),
    [
        (overlap, "intervals", "replay --full"),
        (store_another_offset, "state", "replay --full"),
        (store_a_deletion, "state", "replay --full"),
        (lose_a_group, "state", "replay --full"),
        (continue_after_an_unknown_run, "progress runs", "replay --full"),
        (lose_old_commits, "run versions", "maintain --keep"),
        (leave_a_file, "orphans", "maintain --keep"),
        (lose_a_file, "files", "replay --full"),
        (lose_a_table, "tables", "replay --full"),
    ],
)
def test_what_it_says_mends_it(warehouse: Path, spoil: Callable[[Path], None], check: str, command: str) -> None:
    assert {found.check for found in problems(warehouse)} == set()
    spoil(warehouse)
    found = {each.check: each for each in problems(warehouse)}
    assert check in found, found
    assert [" ".join(words).startswith(command) for words in commands(found[check].mend)] == [True]
    # A table that was made again has no older versions: then `doctor` says how runs forget them.
    for _ in range(2):
        for mend in {str(each.mend) for each in problems(warehouse)}:
            for words in commands(mend):
                assert cli.main([*words, "--warehouse", str(warehouse)]) == ExitCode.CLEAN
    assert problems(warehouse) == []


def commands(mend: str) -> list[list[str]]:
    found = re.findall(r"`(groupscope [^`]+)`", mend) or re.findall(r"groupscope .+", mend)
    return [shlex.split(each)[1:] for each in found]


def problems(root: Path) -> list[Any]:
    return [found for found in run_checks(root) if found.status != "ok"]
