"""Ways in which a warehouse of `five_days` is broken: by a job that goes wrong, a lost disk or another program."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema, TableFeatures

from benchmarks.year_of_runs import run_at
from jobs.replaying.run import Replay
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_commits import PROPERTIES
from jobs.warehouses.delta_tables import Change, DataFile
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.open_warehouse import writing
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES, folder_of
from tests.faults.at_steps import at
from tests.make.tables import NOW_MS, filled
from udfs.arrays.arrow_schema import table_schema

CLUSTER = "default"


class Ended(Exception):
    """A run, in the place of a kill."""


def as_written(_: Path, file: DataFile) -> DataFile:
    return file


def add_row(
    root: Path,
    table: str,
    row: dict[str, Any],
    *,
    is_provisional: bool | None,
    spoiled: Callable[[Path, DataFile], DataFile] = as_written,
) -> None:
    """By a run of its own, as if a job had gone wrong. `spoiled`: its file, and what the log says of it."""
    with writing(LocalPlace(root), "test", 0, print) as warehouse:
        sequence = warehouse.next_sequence()
        run_id = f"{sequence:08}-20261124T000000Z"
        file = TableFile(warehouse.path(table), TABLES[table], run_id)
        file.write(filled(TABLES[table], [row]))
        done = file.close()
        assert isinstance(done, DataFile)
        change = Change((spoiled(root / folder_of(table) / done.name, replace(done, is_provisional=is_provisional)),))
        warehouse.write(Manifest(run_id, sequence, NOW_MS, {table: change}, (run_row(warehouse, run_id),)))


def run_row(warehouse: Warehouse, run_id: str) -> dict[str, Any]:
    columns = [column.name for column in TABLES["runs"].columns]
    newest = max(warehouse.run_rows(columns), key=lambda row: str(row["run_id"]))
    times = dict.fromkeys(("started_time", "finished_time"), NOW_MS)
    return {**newest, **times, "as_of_time": None, "run_id": run_id, "job": "test", "ingest_counts": []}


def overlap(root: Path) -> None:
    row = {
        "cluster": CLUSTER,
        "group_id": "g0",
        "topic": "t",
        "partition": 0,
        "from_record_offset": 0,
        "to_record_offset": 10**6,
    }
    ends = {"is_provisional": False, "ended_by": "commit", "via": "plain", "confidence": "certain"}
    add_row(root, "offset_history", {**row, **ends}, is_provisional=False)


def store_another_offset(root: Path) -> None:
    row = {"cluster": CLUSTER, "group_id": "nobody", "topic": "t", "partition": 0, "kind": "live"}
    add_row(root, "replayed_offsets", row, is_provisional=None)


def store_a_deletion(root: Path) -> None:
    """Of an offset that is in effect."""
    rows = DeltaTable(root / "offset_history").to_pyarrow_table().to_pylist()
    row = next(row for row in rows if row["is_provisional"] and row["ended_by"] is None)
    key = {name: row[name] for name in ("cluster", "group_id", "topic", "partition")}
    add_row(root, "replayed_offsets", {**key, "kind": "gone"}, is_provisional=None)


def lose_a_group(root: Path) -> None:
    """Its stored rows, without which the next replay does not know how long it has been alive."""
    row = {"cluster": CLUSTER, "group_id": "nobody", "topic": "t", "partition": 0, "from_record_offset": 5}
    add_row(
        root,
        "offset_history",
        {**row, "is_provisional": True, "via": "plain", "confidence": "certain"},
        is_provisional=True,
    )


def continue_after_an_unknown_run(root: Path) -> None:
    (row,) = DeltaTable(root / folder_of("replayed_partitions")).to_pyarrow_table().to_pylist()
    changed = {**row, "offsets_partition": 49, "through_run_id": "00009999-20261124T000000Z"}
    add_row(root, "replayed_partitions", changed, is_provisional=None)


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


def write_a_row_twice(root: Path) -> None:
    row = next(row for row in rows_of(root, "offset_history") if not row["is_provisional"])
    add_row(root, "offset_history", row, is_provisional=False)


def write_a_null(root: Path) -> None:
    """As a writer that does not look: in a file that allows it, of which the table's log knows nothing."""

    def without_group(path: Path, file: DataFile) -> DataFile:
        rows = pq.read_table(path)
        lax = pa.schema([field.with_nullable(True) for field in rows.schema])
        place = lax.get_field_index("group_id")
        pq.write_table(rows.cast(lax).set_column(place, lax.field(place), pa.nulls(1, pa.string())), path)
        return replace(file, size=path.stat().st_size)

    add_row(
        root, "offset_history", {"cluster": CLUSTER, "to_record_offset": 1}, is_provisional=False, spoiled=without_group
    )


def lose_statistics(table: str) -> Callable[[Path], None]:
    """Of files that newer commits than the last checkpoint add."""

    def without(action: dict[str, Any]) -> dict[str, Any]:
        return {**action, "add": {**action["add"], "stats": "{}"}} if "add" in action else action

    def lose(root: Path) -> None:
        for log in (root / folder_of(table) / "_delta_log").glob("*.json"):
            actions = [without(json.loads(line)) for line in log.read_text().splitlines()]
            log.write_text("".join(f"{json.dumps(action)}\n" for action in actions))

    return lose


def need_another_reader(root: Path) -> None:
    delta = DeltaTable(root / "rebalances")
    delta.alter.add_feature(TableFeatures.DeletionVectors, allow_protocol_versions_increase=True)
    name_newest_versions(root)


def change_a_type(root: Path) -> None:
    """At the version that runs name."""
    path, version = root / "topics", DeltaTable(root / "topics").version()
    schema = table_schema(TABLES["topics"])
    place = schema.get_field_index("topic")
    shutil.rmtree(path)
    wrong = Schema.from_arrow(schema.set(place, schema.field(place).with_type(pa.int64())))
    DeltaTable.create(path, wrong, configuration=PROPERTIES, raise_if_key_not_exists=False)
    for _ in range(version):
        DeltaTable(path).alter.set_table_properties({"delta.dataSkippingNumIndexedCols": "12"})


def end_a_run(root: Path) -> None:
    """As if it were killed."""

    def end() -> None:
        raise Ended

    with at("manifest_written", end), pytest.raises(Ended):
        run_at(str(root), NOW_MS, Replay(is_full=True))


def name_newest_versions(root: Path, **columns: Any) -> None:
    """By a run that changes nothing, with these columns of its row."""
    with writing(LocalPlace(root), "test", 0, print) as warehouse:
        sequence = warehouse.next_sequence()
        run_id = f"{sequence:08}-20261124T000000Z"
        changes = {name: Change() for name in warehouse.versions() if name != "runs"}
        warehouse.write(Manifest(run_id, sequence, NOW_MS, changes, ({**run_row(warehouse, run_id), **columns},)))


def rows_of(root: Path, table: str) -> list[dict[str, Any]]:
    return list(DeltaTable(root / folder_of(table)).to_pyarrow_table().to_pylist())


def lose_records(root: Path) -> None:
    max((root / "offset_commits").glob("*.parquet"), key=lambda path: path.stat().st_size).unlink()


def write_uncounted(root: Path) -> None:
    add_row(root, "offset_commits", {"cluster": CLUSTER, "record_offset": 10**6}, is_provisional=None)


def miscount(root: Path) -> None:
    """A run that read more than it decoded."""
    counts = {"offsets_partition": 0, "read": 1, "decoded": 0, "rejected": 0, "already_known": 0}
    name_newest_versions(root, ingest_counts=[counts])
