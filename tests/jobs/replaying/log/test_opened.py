"""How many rows of a row group are those of an offsets partition."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.replaying.log.opened import FEW_ROWS, Opened, pieces
from jobs.replaying.log.row_groups import LogFile, Wanted
from jobs.storage.places.local_place import LocalPlace

CLUSTER, OTHER = "ours", "others"


def log_file(path: Path, sizes: dict[int, int], other_rows: int = 0) -> LogFile:
    """One row group with rows of these partitions in turn, as far as each has any, and rows of another cluster."""
    rows = sorted((offset, partition, CLUSTER) for partition, size in sizes.items() for offset in range(size))
    rows += [(offset, min(sizes), OTHER) for offset in range(other_rows)]
    offsets, partitions, clusters = zip(*rows, strict=True)
    pq.write_table(
        pa.table({
            "cluster": clusters,
            "offsets_partition": pa.array(partitions, pa.int32()),
            "record_offset": offsets,
            "partition_leader_epoch": pa.array([0] * len(rows), pa.int32()),
            "run_id": ["run"] * len(rows),
        }),
        path,
    )  # fmt: skip
    return LogFile(LocalPlace(path), min(sizes), max(sizes))


def counted(file: LogFile, partition: int) -> int:
    opened, wanted = Opened(), Wanted(CLUSTER, partition)
    return sum(opened.num_rows(piece, wanted) for piece in pieces([file], wanted, opened))


def test_rows_of_a_long_row_group_are_counted(tmp_path: Path) -> None:
    file = log_file(tmp_path / "a.parquet", {3: FEW_ROWS, 5: 7}, other_rows=40)
    assert [counted(file, partition) for partition in (3, 4, 5)] == [FEW_ROWS, 0, 7]


@pytest.mark.parametrize("num_rows", [2, FEW_ROWS - 1])
def test_partitions_have_equal_parts_of_a_short_one(tmp_path: Path, num_rows: int) -> None:
    file = log_file(tmp_path / "a.parquet", {3: num_rows, 4: 1})
    assert counted(file, 3) == counted(file, 4) == -(-(num_rows + 1) // 2)
