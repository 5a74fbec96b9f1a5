"""Days and minutes of lag: views over them say what all points say, in both engines, whichever way runs are cut."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jobs import cli
from jobs.measuring.written_points import PointWriter
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.queries.engines.spark_engine import SparkEngine
from jobs.queries.results import QueryResult
from schemas.views import VIEWS
from tests.builders.tables.lag_histories import SECOND, history_of, random_model
from tests.builders.tables.measured import in_ranges
from tests.builders.tables.random_gate import random_gate
from tests.make.tables import NOW, make
from tests.oracles.lag.days import slow_days, slow_minutes
from tests.oracles.lag.lag_at_snapshots import SlowLag
from tests.oracles.lag.points_by_day import BY_VIEW
from tests.runs.ingested import ROOT
from udfs.lag.partition_history import PartitionHistory

Row = dict[str, Any]
# Between two times of a random history, so that it lasts for days.
STRETCH = 3_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module", params=["sample", "random"])
def warehouse(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp(request.param) / "w"
    if request.param == "random":
        groups = [
            {"cluster": cluster, "group_id": group, "partition": None, "as_of_time": NOW + timedelta(hours=hour),
             "freshness_objective_ms": 10**8 * hour or None}
            for cluster in "ab" for group in ("g", "größe") for hour in range(3)
        ]  # fmt: skip
        rows = random_gate(np.random.default_rng(4), 3_000)
        limits = [{"cluster": each, "setting": "freshness_missed_percent", "value": 5} for each in "ab"]
        return make(root, {**rows, "group_verdicts": groups, "gate_limits": limits}).root.path
    data, config = ROOT / "data" / "sample", root.with_name("groupscope.toml")
    config.write_text('[[groups]]\npattern = ".*"\nfreshness_objective_s = 5\n')
    words = ["--warehouse", str(root), "--config", str(config)]
    source = ["--source", f"segments:{data}", "--snapshots", str(data / "snapshots.jsonl")]
    for command in (["ingest", *source], ["replay"], ["lag"], ["gate", "--fail-on", "never"]):
        assert cli.main([*command, *words]) == 0
    return root


@contextmanager
def engine(name: str, root: Path, statements: list[str]) -> Iterator[Callable[[str], QueryResult]]:
    engines = {"duckdb": DuckDBEngine(str(root)), "spark": SparkEngine(str(root), is_debug=False)}
    with engines[name].scope(statements) as answer:
        yield answer


def statements_of(view: str, meant: str) -> tuple[str, str]:
    columns = ", ".join(column.name for column in VIEWS[view].columns if column.name != "rank")
    return f"SELECT {columns} FROM {view}", f"SELECT {columns} FROM (\n{meant}) AS meant"


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", ["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def test_views_of_days_say_what_all_points_say(warehouse: Path, name: str) -> None:
    statements = {view: statements_of(view, meant) for view, meant in BY_VIEW.items()}
    with engine(name, warehouse, [each for both in statements.values() for each in both]) as answer:
        for ours, meant in statements.values():
            result, wanted = (sorted(map(repr, answer(each).rows)) for each in (ours, meant))
            assert result == wanted
            assert len(result) > 20
    assert any("False" in row for row in result) and any("True" in row for row in result)


@dataclass
class Written:
    """What runs leave of each table: closed rows stay, open ones go with the next run."""

    rows: dict[str, list[Row]] = field(default_factory=dict)

    def write(self, name: str, rows: pa.Table, partition: int, *, is_ordered: bool = False) -> None:
        self.rows.setdefault(name, []).extend(rows.to_pylist())

    def begin_run(self) -> None:
        self.rows = {name: [row for row in rows if not row["is_provisional"]] for name, rows in self.rows.items()}


def stretched(model: SlowLag) -> PartitionHistory:
    def later(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
        times = ("from_time", "to_time")
        return [{name: value * STRETCH if name in times and value else value for name, value in row.items()}
                for row in rows]  # fmt: skip

    snapshots = {time * STRETCH if time > 0 else time: captured for time, captured in model.snapshots.items()}
    return history_of(
        SlowLag(later(model.offsets), later(model.owners), later(model.subscriptions), snapshots),
        100 * STRETCH * SECOND,
    )


def test_days_are_of_all_points_whichever_way_runs_are_cut(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run is about a time, which may lie before what is settled."""
    several = 0
    for _ in range(60):
        monkeypatch.setattr("udfs.lag.sums.MOST_POINTS", int(rng.integers(1, 40)))
        history, written, settled = stretched(random_model(rng)), Written(), None
        for unit in rng.integers(0, 110, int(rng.integers(1, 6))).tolist():
            as_of, before = unit * STRETCH * SECOND, settled
            settled = max(as_of, settled or 0) if rng.random() < 0.8 else settled
            written.begin_run()
            writer = PointWriter(7, "a", before, settled, written)  # type: ignore[arg-type]
            ranges = in_ranges(replace(history, as_of_time=as_of), int(rng.integers(1, 9)))
            for are_open in (True, False):
                for each in ranges:
                    writer.write(each, is_provisional=are_open)
            writer.finish()
        points = written.rows.get("lag_points", [])
        days, minutes = written.rows.get("lag_days", []), written.rows.get("lag_minutes", [])
        several += len({row["day_time"] for row in days}) > 1
        assert row_texts(days) == row_texts(slow_days(points))
        assert row_texts(minutes) == row_texts(slow_minutes(points))
        for row in days:
            assert row["is_provisional"] == is_provisional(row["day_time"] + timedelta(days=1), settled)
        for row in minutes:
            assert row["is_provisional"] == is_provisional(row["minute_time"] + timedelta(minutes=1), settled)
    assert several > 20


def is_provisional(end: datetime, settled: int | None) -> bool:
    return settled is None or end > EPOCH + timedelta(microseconds=settled)


def row_texts(rows: Iterable[Row]) -> list[str]:
    return sorted(
        str([(name, str(value)) for name, value in sorted(row.items()) if name != "is_provisional"]) for row in rows
    )
