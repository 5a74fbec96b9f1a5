"""v_freshness_slo beside objectives: which minutes are over, which days miss, and what cannot be said."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.queries.engines.duckdb_engine import DuckDBEngine
from tests.make.tables import make
from tests.oracles.lag.days import with_days
from udfs.rules.verdicts.freshness import Objective, objective_ms

Row = dict[str, Any]
START = datetime(2026, 11, 21, tzinfo=UTC)


def point(minute: int, time_lag: int | None, **others: Any) -> Row:
    return {"group_id": "g", "topic": "t", "snapshot_time": START + timedelta(minutes=minute), "time_lag_ms": time_lag,
            **others}  # fmt: skip


def asked(objective: int | None, hour: int = 12, **others: Any) -> Row:
    """The row of a group as a whole."""
    about = {"group_id": "g", "own_verdict": "OK", "partition": None, "as_of_time": START + timedelta(hours=hour)}
    return {**about, "freshness_objective_ms": objective, **others}


def judged(root: Path, points: list[Row], *groups: Row, percent: int | None = 5) -> Row:
    limits = [] if percent is None else [{"setting": "freshness_missed_percent", "value": percent}]
    make(root, {**with_days({"lag_points": points, "group_verdicts": list(groups)}), "gate_limits": limits})
    statement = "SELECT * FROM v_freshness_slo"
    with DuckDBEngine(str(root)).scope([statement]) as answer:
        names, rows = answer(statement)
        (row,) = rows
        result = dict(zip(names, row, strict=True))
    return {name: result[name] for name in ("num_minutes_known", "num_minutes_over", "budget_left", "is_met")}


def answer(known: int, over: int | None, left: float | None, met: bool | None) -> Row:
    return {"num_minutes_known": known, "num_minutes_over": over, "budget_left": left, "is_met": met}


def forty(num_over: int, **others: Any) -> list[Row]:
    return [point(minute, 60_001 if minute < num_over else 60_000, **others) for minute in range(40)]


CASES: dict[str, tuple[list[Row], list[Row], Row]] = {
    "5 in 100 minutes may be over": (forty(2), [asked(60_000)], answer(40, 2, 0.0, True)),
    "one more misses it": (forty(3), [asked(60_000)], answer(40, 3, -0.5, False)),
    "two partitions in one minute are one minute": (
        [*forty(2), point(0, 70_000, partition=1)], [asked(60_000)], answer(40, 2, 0.0, True),
    ),
    "the newest run says what is asked": (
        forty(3), [asked(1, hour=1), asked(70_000, hour=2)], answer(40, 0, 1.0, True),
    ),
    "rows of partitions and of others ask nothing": (
        forty(3), [asked(1, partition=0), asked(1, group_id="h"), asked(1, cluster="b")], answer(40, None, None, None),
    ),
    "nothing is asked": (forty(3), [asked(None)], answer(40, None, None, None)),
    "nothing is known": ([point(0, None)], [asked(60_000)], answer(0, 0, None, None)),
    # The log is not known so far: what seems late may have been committed meanwhile.
    "what may still change counts neither as over nor as known": (
        [*forty(0), point(50, 90_000, is_provisional=True), point(51, 5, is_provisional=True)], [asked(60_000)],
        answer(41, 0, 1.0, True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_day_is_held_against_what_is_asked(tmp_path: Path, case: str) -> None:
    points, groups, expected = CASES[case]
    assert judged(tmp_path, points, *groups) == expected


def test_the_setting_says_how_many_minutes_may_be_over(tmp_path: Path) -> None:
    assert judged(tmp_path / "10", forty(4), asked(60_000), percent=10) == answer(40, 4, 0.0, True)
    assert judged(tmp_path / "9", forty(4), asked(60_000), percent=9)["is_met"] is False
    assert judged(tmp_path / "unknown", forty(4), asked(60_000), percent=None) == answer(40, 4, None, None)


def test_the_strictest_section_whose_pattern_is_the_whole_id_counts() -> None:
    asked_of = [Objective("bill.*", 60), Objective("billing", 30), Objective("ill", 1)]
    groups = ("billing", "bills", "ill", "other")
    assert [objective_ms(asked_of, group) for group in groups] == [30_000, 60_000, 1_000, None]
