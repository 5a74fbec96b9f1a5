"""What a task of lag reads and holds of a slice: it reads each row once, and holds no more while the slice grows."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from benchmarks.segments import SNAPSHOTS
from benchmarks.skewed_logs import write_shape
from jobs.ingestion.task import copies
from jobs.measuring import slice_rows, task
from jobs.measuring.spilled_rows import SpilledRows
from jobs.measuring.written_rows import Writer
from jobs.processes.freed_memory import keep_memory
from jobs.replaying.tables import history_files
from jobs.warehouses import table_files
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay, result_of

# Of a row group, of a slice that is read whole, and of a range.
PIECE_ROWS, MOST_ROWS, RANGE_ROWS = 250, 2_000, 1_000
# The tables that have a row for each commit.
COMMITTED = ("offset_history", "offset_commits")
# Arrow's memory may outlive a test, and gives itself back to its pool.
POOLS: list[pa.MemoryPool] = []


@dataclass
class Held:
    """Rows of both tables, in all ranges and in the largest, and the most bytes that Arrow held."""

    rows: int
    most_rows: int
    most_bytes: int


def held(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> Held:
    keep_memory()
    pool, before = pa.proxy_memory_pool(pa.system_memory_pool()), pa.default_memory_pool()
    POOLS.append(pool)
    sizes: list[int] = []
    rows_of = task.rows_of

    def counted(*arguments: Any) -> slice_rows.SliceRows:
        pa.set_memory_pool(pool)
        return rows_of(*arguments)

    def walk(writer: Writer) -> None:
        for keys in chain(*writer.rows.ranges):
            history = writer.rows.history(keys)
            sizes.append(history.table("offset_history").num_rows + history.commits.num_rows)

    monkeypatch.setattr(task, "rows_of", counted)
    monkeypatch.setattr(Writer, "write_all", walk)
    try:
        result_of("lag", warehouse)
    finally:
        pa.set_memory_pool(before)
    return Held(sum(sizes), max(sizes), pool.max_memory())


def hot_group(folder: Path, commits: int, groups: int = 1) -> Path:
    """A warehouse with so many commits, for 76 keys if they are of one group."""
    log, warehouse = folder / "log", folder / "w"
    log.mkdir(parents=True)
    write_shape(log, 1, groups=groups, topics=10, topics_read=10, records=commits)
    ingest(warehouse, "--source", f"segments:{log}", "--snapshots", log / SNAPSHOTS)
    replay(warehouse)
    return warehouse


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((copies, "MOST_RECORDS"), (table_files, "MOST_ROWS"), (history_files, "MOST_ROWS")):
        monkeypatch.setattr(module, name, PIECE_ROWS)
    monkeypatch.setattr(slice_rows, "MOST_ROWS", MOST_ROWS)
    monkeypatch.setattr(slice_rows, "RANGE_ROWS", RANGE_ROWS)


@pytest.mark.usefixtures("small_pieces")
def test_four_times_the_commits_of_a_group_are_no_more_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouses = [hot_group(tmp_path / str(commits), commits) for commits in (4_000, 16_000)]
    with monkeypatch.context() as patched:
        few = held(warehouses[0], patched)
    with monkeypatch.context() as patched:
        many = held(warehouses[1], patched)
    wanted = [rows(warehouses[1], name) for name in ("offset_commits", "offset_history")]
    assert many.rows == sum(map(len, wanted)) > 3.9 * few.rows
    of_key = Counter((row["topic"], row["partition"]) for each in wanted for row in each)
    assert many.most_rows <= RANGE_ROWS + max(of_key.values())
    assert many.most_bytes < 1.05 * few.most_bytes


@dataclass(frozen=True)
class Reads:
    """How often `lag` read something: of each row group, by file, a column of the key and one of the value; of each
    range that it had put on the disk, by table and file."""

    keys: Counter[tuple[str, int]]
    values: Counter[tuple[str, int]]
    ranges: Counter[tuple[str, int, object]]


def read_by_lag(warehouse: Path, patched: pytest.MonkeyPatch) -> Reads:
    reads = Reads(Counter(), Counter(), Counter())
    read_range = SpilledRows.read

    class CountedFile(pq.ParquetFile):
        def __init__(self, source: Any, **more: Any) -> None:
            super().__init__(source, **more)
            self.name = str(source)

        def read_row_group(self, group: int, columns: Any = None, **more: Any) -> pa.Table:
            reads.keys[self.name, group] += columns is None or "topic" in columns
            reads.values[self.name, group] += columns is None or "commit_time" in columns
            return super().read_row_group(group, columns, **more)

    def counted_range(self: SpilledRows, name: str, number: int) -> Iterator[pa.Table]:
        reads.ranges[name, number, self.file] += 1
        return read_range(self, name, number)

    patched.setattr(pq, "ParquetFile", CountedFile)
    patched.setattr(SpilledRows, "read", counted_range)
    result_of("lag", warehouse)
    return reads


def row_groups(warehouse: Path) -> set[tuple[str, int]]:
    files = chain(*(DeltaTable(warehouse / name).file_uris() for name in COMMITTED))
    return {(file, group) for file in files for group in range(pq.read_metadata(file).num_row_groups)}


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("groups", "range_rows", "times"),
    [
        (1, RANGE_ROWS, {"offset_history": 2, "offset_commits": 3}),
        (20, 300, {"offset_history": 1, "offset_commits": 1}),
    ],
    ids=["one group", "ranges of whole groups"],
)
def test_each_row_is_read_once_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: int, range_rows: int, times: dict[str, int]
) -> None:
    """A few columns, which tell where ranges end, are read before. A range that shares a group with others is needed in
    two rounds: first what each must know of the others is noted, between them commits are counted."""
    warehouse = hot_group(tmp_path, 4_000, groups)
    monkeypatch.setattr(slice_rows, "MOST_ROWS", range_rows)
    monkeypatch.setattr(slice_rows, "RANGE_ROWS", range_rows)
    with monkeypatch.context() as patched:
        reads = read_by_lag(warehouse, patched)
    stored = row_groups(warehouse)
    assert len(stored) > 20
    assert {place: reads.values[place] for place in stored} == dict.fromkeys(stored, 1)
    assert max(reads.keys[place] for place in stored) == 2
    most = {name: max(number for (of, _, _), number in reads.ranges.items() if of == name) for name in COMMITTED}
    assert most == times
