"""`groupscope doctor` finds each way in which a warehouse can be broken, and nothing in one that is well."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema, TableFeatures, write_deltalake

from jobs.checks.key_slices import slices
from jobs.checks.row_checks import repeated_keys
from jobs.checks.table_checks import open_tables
from jobs.checks.version_checks import readable_versions
from jobs.doctor import run_checks
from jobs.storage.kernel_lock import KernelLock
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_commits import PROPERTIES, commit
from jobs.warehouses.delta_tables import Change, DataFile
from jobs.warehouses.files.delta_log_files import log_files
from jobs.warehouses.manifest import Manifest, write_manifest
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, GROUP_KEY, GROUP_V3, batch, segment
from tests.make.tables import NOW_MS, filled, make, write_run
from udfs.arrays.arrow_schema import table_schema

ROOT = Path(__file__).parents[3]
COMMITS = [{"record_offset": offset, "offsets_partition": offset % 3} for offset in range(9)]
COMMIT_SCHEMA = table_schema(TABLES["offset_commits"])


def problems(root: Path) -> set[tuple[str, str, str | None]]:
    return {
        (str(result.status), result.check, result.subject)
        for result in run_checks(LocalPlace(root))
        if result.status != "ok"
    }


def only_file(warehouse: Warehouse, table: str) -> Path:
    (path,) = warehouse.path(table).path.glob("*.parquet")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rejected = [{"record_offset": 9, "offsets_partition": 1}, {"byte_position": 0, "source_file": "x.log"}]
    return make(tmp_path_factory.mktemp("made"), {"offset_commits": COMMITS}, {"rejected_records": rejected}).root.path


@pytest.fixture
def well(made: Path, tmp_path: Path) -> Warehouse:
    shutil.copytree(made, tmp_path / "well")
    return Warehouse(LocalPlace(tmp_path / "well"))


def test_a_warehouse_that_is_well_has_no_findings_but_good_ones(well: Warehouse) -> None:
    assert problems(well.root.path) == set()


def test_a_warehouse_that_real_ingests_wrote_is_well(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    for name in ("first", "second"):
        segment(
            tmp_path / name, batch(10, [(COMMIT_KEY, COMMIT_V3), (GROUP_KEY, GROUP_V3), (b"\0\x63", b"")]), partition=3
        )
        segment(tmp_path / name, batch(0, [(COMMIT_KEY, COMMIT_V3)])[:-1], partition=4)
        command = ["ingest", "--source", f"segments:{tmp_path / name}", "--warehouse", str(warehouse)]
        done = subprocess.run([sys.executable, "-m", "jobs.cli", *command], capture_output=True, cwd=ROOT, check=False)
        assert done.returncode in (0, 22), done.stderr
    assert problems(warehouse) == set()


def lose_a_file(warehouse: Warehouse) -> None:
    only_file(warehouse, "offset_commits").unlink()


def cut_a_file(warehouse: Warehouse) -> None:
    os.truncate(only_file(warehouse, "offset_commits"), 100)


def swap_bytes(warehouse: Warehouse) -> None:
    path = only_file(warehouse, "offset_commits")
    path.write_bytes(bytes(path.stat().st_size))


def write_rows_twice(warehouse: Warehouse) -> None:
    write_run(warehouse, "run-0003", {"offset_commits": COMMITS[:1]})


def write_null(warehouse: Warehouse) -> None:
    """As a writer that does not look: in a file that allows it, of which the table's log knows nothing."""
    rows = filled(TABLES["offset_commits"], [{"record_offset": 100}])
    lax = pa.schema([field.with_nullable(True) for field in rows.schema])
    place = rows.schema.get_field_index("group_id")
    rows = rows.cast(lax).set_column(place, lax.field("group_id"), pa.nulls(1, pa.string()))
    path = warehouse.path("offset_commits").path / "part-null.parquet"
    pq.write_table(rows, path)
    add_file(warehouse, DataFile(path.name, path.stat().st_size, 1, json.dumps({"numRecords": 1})))


def add_file(warehouse: Warehouse, file: DataFile) -> None:
    """By a run that counted its one row."""
    sequence = warehouse.next_sequence()
    path, delta = warehouse.path("offset_commits"), warehouse.open("offset_commits")
    version = commit(path, TABLES["offset_commits"], Change((file,)), sequence, NOW_MS, delta).version()
    counts = {"offsets_partition": 0, "read": 1, "decoded": 1, "rejected": 0, "already_known": 0}
    write_run(warehouse, "run-0003", {}, [counts])
    assert warehouse.versions()["offset_commits"] == version


def write_without_statistics(warehouse: Warehouse) -> None:
    rows = filled(TABLES["offset_commits"], [{"record_offset": 100}])
    path = warehouse.path("offset_commits").path / "part-plain.parquet"
    pq.write_table(rows, path)
    add_file(warehouse, DataFile(path.name, path.stat().st_size, 1, "{}"))


def raise_protocol(warehouse: Warehouse) -> None:
    delta = DeltaTable(warehouse.path("offset_commits").path)
    delta.alter.add_feature(TableFeatures.DeletionVectors, allow_protocol_versions_increase=True)
    write_run(warehouse, "run-0003", {"offset_commits": [{"record_offset": 100}]})


def remake(schema: pa.Schema, properties: dict[str, str] = PROPERTIES) -> Callable[[Warehouse], None]:
    def change(warehouse: Warehouse) -> None:
        path = warehouse.path("topic_snapshots").path
        shutil.rmtree(path)
        DeltaTable.create(path, Schema.from_arrow(schema), configuration=properties, raise_if_key_not_exists=False)

    return change


TOPICS = table_schema(TABLES["topic_snapshots"])


def with_field(name: str, change: Callable[[pa.Field], pa.Field]) -> pa.Schema:
    return pa.schema([change(field) if field.name == name else field for field in TOPICS])


def drop_table(warehouse: Warehouse) -> None:
    shutil.rmtree(warehouse.path("topic_snapshots").path)


def spoil_log(warehouse: Warehouse) -> None:
    (warehouse.path("topic_snapshots").path / "_delta_log" / f"{0:020}.json").write_text("{")


def write_behind_runs(warehouse: Warehouse) -> None:
    write_deltalake(warehouse.path("offset_commits").path, filled(TABLES["offset_commits"], [{}]), mode="append")


def leave_a_file(warehouse: Warehouse) -> None:
    path = only_file(warehouse, "offset_commits")
    shutil.copy(path, path.with_name("part-left.parquet"))


def leave_a_manifest(warehouse: Warehouse) -> None:
    leave_a_file(warehouse)
    change = Change((DataFile("part-left.parquet", 1, 1, "{}"),))
    write_manifest(warehouse.root, Manifest("run-0003", 9, NOW_MS, {"offset_commits": change}, ()))


def spoil_a_manifest(warehouse: Warehouse) -> None:
    (warehouse.root / "_runs").make_folder()
    (warehouse.root / "_runs" / "run-0003.manifest.json").write_whole("{}")


def miscount(**counts: int) -> Callable[[Warehouse], None]:
    plain = {"offsets_partition": 1, "read": 0, "decoded": 0, "rejected": 0, "already_known": 0}
    return lambda warehouse: write_run(warehouse, "run-0003", {}, [plain | counts])


def reject_uncounted(warehouse: Warehouse) -> None:
    write_run(warehouse, "run-0003", {"rejected_records": [{"offsets_partition": 2, "record_offset": 5}]}, [])


UNREADABLE = {("broken", check) for check in ("files", "sums")}
MANIFEST = "_runs/run-0003.manifest.json"


def test_versions_behind_a_gap_in_the_delta_log_cannot_be_opened_until_a_checkpoint() -> None:
    commits, checkpoints = [f"{version:020}.json" for version in (0, 1, 3, 4, 6, 7, 9)], [f"{6:020}.checkpoint.parquet"]
    log = log_files([LocalPlace(Path("_delta_log", name)) for name in commits + checkpoints])
    assert readable_versions(log) == {0, 1, 6, 7}


@pytest.mark.drawn(5)
@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lose_a_file, UNREADABLE),
        (cut_a_file, UNREADABLE),
        (swap_bytes, UNREADABLE),
        (write_rows_twice, {("broken", "keys", "offset_commits")}),
        (write_null, {("broken", "nulls", "offset_commits.group_id"), ("warn", "statistics", "offset_commits")}),
        (write_without_statistics, {("warn", "statistics", "offset_commits")}),
        (raise_protocol, {("broken", "protocol", "offset_commits"), ("broken", "delta-rs", "offset_commits")}),
        (remake(TOPICS.remove(3)), {("broken", "schema", "topic_snapshots.partition")}),
        (
            remake(with_field("partition", lambda field: field.with_type(pa.int64()))),
            {("broken", "schema", "topic_snapshots.partition")},
        ),
        (
            remake(with_field("topic", lambda field: field.with_nullable(True))),
            {("broken", "schema", "topic_snapshots.topic")},
        ),
        (
            remake(with_field("topic", lambda field: field.with_metadata({"comment": "no"}))),
            {("warn", "schema", "topic_snapshots")},
        ),
        (remake(TOPICS.append(pa.field("more", pa.int32()))), {("warn", "schema", "topic_snapshots.more")}),
        (
            remake(TOPICS, {"groupscope.contract_version": "4"}),
            {("broken", "schema", "topic_snapshots")},
        ),
        (drop_table, {("broken", "tables", "topic_snapshots")}),
        (spoil_log, {("broken", "tables", "topic_snapshots")}),
        (write_behind_runs, {("broken", "versions", "offset_commits")}),
        (leave_a_file, {("warn", "orphans", "offset_commits")}),
        (leave_a_manifest, {("warn", "manifests", MANIFEST)}),
        (spoil_a_manifest, {("broken", "manifests"), ("broken", "orphans")}),
        (miscount(read=5, already_known=4), {("broken", "counts", "run run-0003")}),
        (miscount(read=5, decoded=5), {("broken", "sums", "a, offsets partition 1")}),
        (reject_uncounted, {("broken", "sums", "a, offsets partition 2")}),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_what_is_broken_is_detected_and_named(
    well: Warehouse, spoil: Callable[[Warehouse], None], expected: set[tuple[str, ...]]
) -> None:
    spoil(well)
    result = problems(well.root.path)
    assert {kind[: len(next(iter(expected)))] for kind in result} == expected
    assert all(finding.mend for finding in run_checks(well.root) if finding.status != "ok")


def test_a_lock_that_is_held_is_reported_and_what_its_run_writes_is_no_orphan(well: Warehouse) -> None:
    leave_a_file(well)
    with KernelLock(well.root.path, "ingest").hold(0, print):
        assert problems(well.root.path) == {("warn", "lock", "_lock")}


def doctor(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jobs.cli", "doctor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)


def test_the_exit_code_says_whether_anything_is_broken_and_the_worst_stands_first(well: Warehouse) -> None:
    leave_a_file(well)
    warned = doctor("--warehouse", well.root.path, "--format", "json")
    lines = [json.loads(line) for line in warned.stdout.splitlines()]
    assert (warned.returncode, warned.stderr, lines[0]["status"], lines[1]["status"]) == (0, "", "warn", "ok")
    write_rows_twice(well)
    broken = doctor("--warehouse", well.root.path, "--format", "json")
    first = json.loads(broken.stdout.splitlines()[0])
    assert (broken.returncode, broken.stderr) == (
        23,
        f"groupscope: {well.root}: 1 problem with status broken; do not use this warehouse until repaired\n",
    )
    assert first["message"] == (
        "1 key duplicated, each in several rows, such as cluster a, offsets_partition 0, record_offset 0, "
        "partition_leader_epoch None"
    )


def test_a_folder_that_is_no_warehouse_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    for folder in (tmp_path / "absent", tmp_path):
        done = doctor("--warehouse", folder)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (23, "", 1)
        assert done.stderr.startswith(f"groupscope: {folder}: ")


@pytest.mark.drawn(3)
@pytest.mark.parametrize("table", ["offset_commits", "rejected_records", "topic_snapshots", "source_files"])
@pytest.mark.parametrize("most_rows", [20, 150, 10_000])
def test_slices_hold_every_row_once_and_all_rows_of_a_key_together(
    tmp_path: Path, rng: np.random.Generator, table: str, most_rows: int
) -> None:
    rows = [random_keys(rng, table) for _ in range(400)]
    warehouse = make(tmp_path, *({table: rows[start : start + 80]} for start in range(0, 400, 80)))
    key = TABLES[table].key
    result = [
        [tuple(row.values()) for row in part.select(list(key)).to_pylist()]
        for part in slices(open_tables(warehouse), table, most_rows)
    ]
    expected = Counter(tuple(row.values()) for row in filled(TABLES[table], rows).select(list(key)).to_pylist())
    assert Counter(row for part in result for row in part) == expected
    assert sum(len(set(part)) for part in result) == len(expected)
    twice = [
        row
        for part in slices(open_tables(warehouse), table, most_rows)
        for row in repeated_keys(part, list(key)).to_pylist()
    ]
    assert {tuple(row.values()) for row in twice} == {row for row, number in expected.items() if number > 1}
    if most_rows == 20 and table == "offset_commits":
        assert len(result) >= 4  # its four partitions, at least


def random_keys(rng: np.random.Generator, table: str) -> dict[str, Any]:
    row = {
        "cluster": rng.choice(["a", "b"]),
        "offsets_partition": int(rng.integers(4)),
        "record_offset": int(rng.integers(50)),
        "partition_leader_epoch": None if rng.integers(2) else 1,
        "source_file": f"{rng.integers(20)}.log",
        "byte_position": None,
        "topic": f"t{rng.integers(3)}",
        "partition": int(rng.integers(20)),
        "run_id": f"run-{rng.integers(5)}",
    }
    if table == "rejected_records":
        row |= {name: None for name in ("offsets_partition", "record_offset") if rng.integers(2)}
    return {name: value for name, value in row.items() if name in TABLES[table].key}
