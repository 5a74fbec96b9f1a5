"""What a task of lag holds of a slice at once: it stays the same while the slice grows."""

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.segments import SNAPSHOTS
from benchmarks.skewed_logs import write_shape
from jobs.ingestion.task import copies
from jobs.measuring import slice_rows, task
from jobs.measuring.written_rows import Writer
from jobs.processes.freed_memory import keep_memory
from jobs.replaying.tables import history_files
from jobs.warehouses import table_files
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay, result_of

# Of a row group, of a slice that is read whole, and of a range.
PIECE_ROWS, MOST_ROWS, RANGE_ROWS = 250, 2_000, 1_000
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


def hot_group(folder: Path, commits: int) -> Path:
    """A warehouse with so many commits of one group's 76 keys."""
    log, warehouse = folder / "log", folder / "w"
    log.mkdir(parents=True)
    write_shape(log, 1, groups=1, topics=10, topics_read=10, records=commits)
    ingest(warehouse, "--source", f"segments:{log}", "--snapshots", log / SNAPSHOTS)
    replay(warehouse)
    return warehouse


def test_four_times_the_commits_of_a_group_are_no_more_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((copies, "MOST_RECORDS"), (table_files, "MOST_ROWS"), (history_files, "MOST_ROWS")):
        monkeypatch.setattr(module, name, PIECE_ROWS)
    monkeypatch.setattr(slice_rows, "MOST_ROWS", MOST_ROWS)
    monkeypatch.setattr(slice_rows, "RANGE_ROWS", RANGE_ROWS)
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
