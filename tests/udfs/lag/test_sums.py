"""Days and minutes of lag against the slow adding up of the same points, however these come and whatever is settled."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from schemas.tables import TABLES
from schemas.words.lag import TimeLagMethod
from tests.oracles.lag.days import slow_days, slow_minutes
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.texts import KIND
from udfs.lag.sums import LagSums, Sums, sorted_within

Row = dict[str, Any]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START = datetime(2026, 11, 21, tzinfo=UTC)
TAKEN = (
    "group_id", "topic", "topic_id", "partition", "snapshot_time", "lag", "time_lag_ms", "time_lag_method",
    "group_type", "evidence_first_offset", "evidence_last_offset", "confidence",
)  # fmt: skip


def random_points(rng: np.random.Generator) -> list[Row]:
    """Few of everything. In the order of the table: by group, topic, partition and snapshot."""
    snapshots = sorted({int(each) for each in rng.integers(0, 3 * 86_400, int(rng.integers(1, 12)))})
    # Some within one minute.
    snapshots += [each + 1 for each in snapshots if rng.random() < 0.3]
    keys = [(group, topic, partition) for group in "ab" for topic in ("t", "u", None) for partition in range(3)]
    return [
        random_point(rng, key, START + timedelta(seconds=second))
        for key in keys
        for second in sorted(set(snapshots))
        if rng.random() < 0.7
    ]


def random_point(rng: np.random.Generator, key: tuple[str, str | None, int], at: datetime) -> Row:
    group, topic, partition = key
    record, size = int(rng.integers(100)), int(rng.choice([5, 2**40, 2**62]))
    time_lag = None if rng.random() < 0.3 else int(rng.integers(size))
    return {
        "group_id": group,
        "topic": topic,
        "topic_id": "id" if topic is None else str(rng.choice(["1", "2"])) if rng.random() < 0.5 else None,
        "partition": partition,
        "snapshot_time": at,
        "lag": None if rng.random() < 0.3 else int(rng.integers(size)),
        "time_lag_ms": time_lag,
        "time_lag_method": TimeLagMethod.NONE.value
        if time_lag is None
        else str(rng.choice(["interpolated", "no_lag"])),
        "group_type": str(rng.choice(["classic", "consumer", "streams"])),
        "evidence_first_offset": record,
        "evidence_last_offset": record,
        "confidence": str(rng.choice(["certain", "possible"])),
    }


def pieces(rng: np.random.Generator, rows: list[Row]) -> Iterator[pa.Table]:
    """Cut anywhere, texts as codes of the piece's own."""
    cuts = np.unique(rng.integers(0, len(rows) + 1, int(rng.integers(1, 6)))).tolist()
    for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        if begin < end:
            schema = pa.schema([table_schema(TABLES["lag_points"]).field(name) for name in TAKEN])
            result = pa.Table.from_pylist(rows[begin:end], schema)
            codes = [field.with_type(KIND) if field.type == pa.string() else field for field in schema]
            yield result.cast(pa.schema(codes))


def micros(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)


def summed(rng: np.random.Generator, rows: list[Row], settled: datetime | None) -> list[Sums]:
    sums = LagSums(7, None if settled is None else micros(settled))
    is_provisional = [settled is None or row["snapshot_time"] >= settled for row in rows]
    result: list[Sums] = []
    for wanted in (True, False):
        for piece in pieces(rng, [row for row, each in zip(rows, is_provisional, strict=True) if each is wanted]):
            result += sums.take(piece)
    return [*result, *sums.remaining()]


def row_texts(rows: Iterable[Row]) -> list[str]:
    return sorted(str([(name, str(value)) for name, value in sorted(row.items())]) for row in rows)


@pytest.mark.parametrize("rounds", [60, pytest.param(600, marks=pytest.mark.soak)])
def test_days_and_minutes_are_those_of_a_slow_adding_up(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    for _ in range(rounds):
        monkeypatch.setattr("udfs.lag.sums.MOST_POINTS", int(rng.integers(1, 40)))
        rows = random_points(rng)
        settled = None if rng.random() < 0.2 else START + timedelta(seconds=int(rng.integers(0, 3 * 86_400)))
        result = summed(rng, rows, settled)
        marked = [
            {**row, "evidence_partition": 7, "is_provisional": settled is None or row["snapshot_time"] >= settled}
            for row in rows
        ]
        assert row_texts(row for each in result for row in each.days.to_pylist()) == row_texts(slow_days(marked))
        assert row_texts(row for each in result for row in each.minutes.to_pylist()) == row_texts(slow_minutes(marked))


def test_sums_have_the_columns_of_their_tables(rng: np.random.Generator) -> None:
    (result,) = summed(rng, [random_point(rng, ("g", "t", 0), START)], None)
    made_by_job = {"cluster", "is_provisional"}
    for rows, table in ((result.days, TABLES["lag_days"]), (result.minutes, TABLES["lag_minutes"])):
        assert {*rows.column_names} == {column.name for column in table.columns} - made_by_job


def test_values_that_fit_into_no_number_with_their_cell_are_sorted_too() -> None:
    values = np.array([2**62, 5, 2**63 - 1, 0, 7])
    assert sorted_within(np.array([0, 0, 1, 1, 1]), values).tolist() == [5, 2**62, 0, 7, 2**63 - 1]
