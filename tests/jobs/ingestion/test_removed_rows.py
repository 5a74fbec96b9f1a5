"""Which rows leave the files of decoded tables, and what is left of the files."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from jobs.ingestion.driver.removed_rows import RemovedRows, by_log_key, without_rows
from jobs.ingestion.task.windows import runs_replaced
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_commits import create
from jobs.warehouses.delta_tables import Change, DataFile
from jobs.warehouses.table_files import TableFile
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema

TABLE = TABLES["rejected_records"]
REQUIRED = {"part": "key", "reason": "underrun", "num_records": 1, "is_num_records_estimated": False, "run_id": "first"}
Keys = list[tuple[str, int | None, int | None, int | None]]


def row(cluster: str, partition: int | None, offset: int | None, epoch: int | None, **more: Any) -> dict[str, Any]:
    key = {"offsets_partition": partition, "record_offset": offset, "partition_leader_epoch": epoch}
    return {"cluster": cluster, **key, **REQUIRED, **more}


class Files:
    """Each of the given rows."""

    def __init__(self, folder: Path, *files: list[dict[str, Any]]) -> None:
        self.place, self.names = LocalPlace(folder), []
        added = []
        for rows in files:
            file = TableFile(self.place, TABLE, "first")
            file.write(pa.Table.from_pylist(rows, table_schema(TABLE)))
            done = file.close()
            assert isinstance(done, DataFile)
            added.append(done)
        self.names = [file.name for file in added]
        self.delta: DeltaTable = create(self.place, TABLE, Change(tuple(added)), 1, 0)

    def without(self, removed: RemovedRows) -> tuple[list[int], list[Keys]]:
        """Which files go, and the keys in those that come."""
        change = without_rows(self.delta, self.place, TABLE, removed, "second")
        gone = sorted(self.names.index(file.name) for file in change.removed)
        return gone, [keys_in(self.place.path / file.name) for file in change.added]


def keys_in(path: Path) -> Keys:
    names = ["cluster", "offsets_partition", "record_offset", "partition_leader_epoch"]
    return [tuple(each[name] for name in names) for each in pq.read_table(path, columns=names).to_pylist()]  # type: ignore[misc]


def test_rows_go_by_cluster_partition_leader_epoch_and_offset(tmp_path: Path) -> None:
    rows = [row("a", 3, offset, epoch) for offset in range(6) for epoch in (None, 0, 1)]
    others = [row("b", 3, 2, None), row("a", 4, 2, None), row("a", None, None, None, source_file="f", byte_position=5)]
    files = Files(tmp_path, rows, others)
    removed = RemovedRows("a", by_log_key([((3, None), (1, 2)), ((3, None), (4, 4)), ((3, 1), (0, 0))]))
    gone = {("a", 3, 1, None), ("a", 3, 2, None), ("a", 3, 4, None), ("a", 3, 0, 1)}
    stay = [("a", 3, offset, epoch) for offset in range(6) for epoch in (None, 0, 1)]
    assert files.without(removed) == ([0], [[key for key in stay if key not in gone]])


def test_of_a_file_of_which_all_rows_go_nothing_comes(tmp_path: Path) -> None:
    files = Files(tmp_path, [row("a", 3, offset, None) for offset in range(3)], [row("a", 3, 7, None)])
    assert files.without(RemovedRows("a", by_log_key([((3, None), (0, 5))]))) == ([0], [])
    assert files.without(RemovedRows("a")) == ([], [])


def test_ranges_of_bytes_go_by_their_file_and_position(tmp_path: Path) -> None:
    places = [("f", 5), ("f", 6), ("g", 5), ("f", None), ("g", None)]
    rows = [
        row("a", 3, None, number, source_file=file, byte_position=position)
        for number, (file, position) in enumerate(places)
    ]
    files = Files(tmp_path, [*rows, row("b", 3, None, 9, source_file="f", byte_position=5)], rows[1:2])
    gone, (left,) = files.without(RemovedRows("a", places=frozenset({("f", 5), ("g", None)})))
    assert (gone, [epoch for *_, epoch in left]) == ([0], [1, 2, 3, 9])


@pytest.mark.parametrize("others", [("b", 3, None), ("a", 4, None), ("a", 3, 0)])
def test_files_that_have_no_such_row_by_the_log_are_not_read(
    tmp_path: Path, others: tuple[str, int, int | None]
) -> None:
    """Of most logs every row has a leader epoch."""
    cluster, partition, epoch = others
    files = Files(tmp_path, [row(cluster, partition, 2, epoch)], [row("a", 3, 2, None)])
    (tmp_path / files.names[0]).unlink()
    assert files.without(RemovedRows("a", by_log_key([((3, None), (0, 5))]))) == ([1], [])


def test_ranges_hold_no_row_that_stays(rng: np.random.Generator) -> None:
    for _ in range(50):
        held = [row("a", 3, int(offset), None) for offset in np.unique(rng.integers(0, 60, 30))]
        is_replaced = rng.random(len(held)) < 0.7
        replaced = np.array([each["record_offset"] for each, gone in zip(held, is_replaced, strict=True) if gone])
        with_epochs = [row("a", 3, int(offset), 2) for offset in rng.integers(0, 60, 30)]
        rejected = [row("a", 3, int(offset), None) for offset in rng.integers(0, 60, 5)]
        # What of these tables a merge reads is the key.
        tables = {
            "offset_commits": pa.Table.from_pylist([*held, *with_epochs], table_schema(TABLE)),
            "rejected_records": pa.Table.from_pylist(rejected, table_schema(TABLE)),
        }
        ranges = runs_replaced(replaced.astype(np.int64), tables)
        found = [any(first <= each["record_offset"] <= last for first, last in ranges) for each in held]
        assert found == is_replaced.tolist()
        # As few as there can be: one for each run of rows that go.
        assert len(ranges) == np.count_nonzero(np.diff([0, *is_replaced.astype(int)]) > 0)
