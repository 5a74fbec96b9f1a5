"""One group as large as a log, and a million groups: a replay's memory has bounds that these stay below."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.builders.logs.giants import many_groups, one_group, peak_mb, write
from tests.runs.ingested import ingest

Records = Callable[[int], Iterator[tuple[bytes, bytes]]]


def replayed(folder: Path, records: Records, count: int) -> int:
    write(folder / "log", records(count), count)
    ingest(folder / "w", "--source", f"segments:{folder / 'log'}")
    return peak_mb(folder / "w")


def num_rows(warehouse: Path, table: str) -> int:
    return int(DeltaTable(warehouse / table).to_pyarrow_dataset().count_rows())


@pytest.mark.parametrize(("count", "most_mb"), [
    (20_000, 700),
    pytest.param(1_000_000, 4_500, marks=pytest.mark.soak),
])  # fmt: skip
def test_one_group_may_fill_a_log(tmp_path: Path, count: int, most_mb: int) -> None:
    peak = replayed(tmp_path, one_group, count)
    assert num_rows(tmp_path / "w", "rebalances") == count
    # Each generation takes two partitions from one member to the other.
    assert num_rows(tmp_path / "w", "ownership_intervals") == 2 * count
    assert peak < most_mb


@pytest.mark.parametrize(("count", "most_mb"), [
    (20_000, 700),
    pytest.param(1_000_000, 4_500, marks=pytest.mark.soak),
])  # fmt: skip
def test_a_million_groups_of_one_record_each(tmp_path: Path, count: int, most_mb: int) -> None:
    peak = replayed(tmp_path, many_groups, count)
    assert num_rows(tmp_path / "w", "rebalances") == count
    assert num_rows(tmp_path / "w", "ownership_intervals") == count
    assert peak < most_mb
