"""Views over the gate: warehouses made by hand, and rows that are worked out by hand."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.queries.engines.duckdb_engine import DuckDBEngine
from schemas.views import VIEWS
from tests.make.tables import Rows, make
from tests.oracles.lag.days import with_days

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
GATE_VIEWS = (
    "v_gate_spans", "v_gate_coverage", "v_ungated_commits", "v_freshness_slo", "v_lag_daily", "v_expectation_daily"
)  # fmt: skip
Row = dict[str, Any]


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def rows_of(root: Path, view: str, tables: Mapping[str, Rows]) -> list[Row]:
    make(root, with_days(tables))
    return rows_in(root, view)


def rows_in(root: Path, view: str) -> list[Row]:
    with DuckDBEngine(str(root)).scope([f"SELECT * FROM {view}"]) as answer:
        found = answer(f"SELECT * FROM {view}")
        assert list(found.names) == [column.name for column in VIEWS[view].columns]
        return [dict(zip(found.names, row, strict=True)) for row in found.rows]


def picked(rows: list[Row], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def span(first: int, end: int, minutes: float, verdict: str = "passed", **others: Any) -> Row:
    about = {"group_id": "g", "topic": "orders", "partition": 0, "result_hash": f"{minutes}"}
    return {**about, "from_offset": first, "to_offset": end, "recorded_time": at(minutes), "verdict": verdict, **others}


def commit(previous: int | None, committed: int, minutes: float, record: int, **others: Any) -> Row:
    delta = None if previous is None else committed - previous
    value = {"previous_offset": previous, "committed_offset": committed, "delta": delta, "commit_time": at(minutes)}
    about = {"group_id": "g", "topic": "orders", "partition": 0, "from_record_offset": record, "via": "plain"}
    evidence = {"evidence_first_offset": record, "evidence_last_offset": record}
    return {**about, **value, **evidence, **others}


def test_without_rows_there_are_none(tmp_path: Path) -> None:
    make(tmp_path / "w", with_days({}))
    for view in GATE_VIEWS:
        assert rows_in(tmp_path / "w", view) == [], view


def test_a_span_stands_beside_the_one_before_it(tmp_path: Path) -> None:
    spans = [
        span(0, 100, 0, num_rows_written=90),
        span(100, 200, 1, num_rows_written=100),
        span(230, 300, 2),
        span(250, 270, 3),
        span(300, 310, 4, "failed"),
        # Another partition has a sequence of its own.
        span(7, 9, 5, partition=1, num_rows_written=4),
    ]
    rows = rows_of(tmp_path / "w", "v_gate_spans", {"gate_spans": spans})
    found = picked(rows, "partition", "span_number", "from_offset", "previous_end_offset", "num_gap", "num_overlap")
    assert found == [
        (0, 5, 300, 270, 0, 0),
        (0, 3, 230, 200, 30, 0),
        (0, 4, 250, 300, 0, 20),
        (0, 2, 100, 100, 0, 0),
        (1, 1, 7, None, None, None),
        (0, 1, 0, None, None, None),
    ]
    told = picked(rows, "rank", "verdict", "num_rows_expected", "num_rows_written", "deviation")
    assert told == [
        (1, "failed", 10, None, None),
        (2, "passed", 70, None, None),
        (3, "passed", 20, None, None),
        (4, "passed", 100, 100, 0.0),
        (5, "passed", 2, 4, 1.0),
        (6, "passed", 100, 90, -0.1),
    ]


def test_a_span_that_is_recorded_again_is_one_span(tmp_path: Path) -> None:
    """Two spans of one command that failed and were let through together, and a third that was validated twice."""
    spans = [
        *(span(first, first + 100, 0, "failed") for first in (0, 100)),
        *(span(first, first + 100, 1, "overridden", actor="me") for first in (0, 100)),
        span(200, 300, 2),
        span(200, 300, 3),
        # Read anew from the beginning: that is no other attempt.
        span(0, 100, 4),
    ]
    rows = rows_of(tmp_path / "w", "v_gate_spans", {"gate_spans": spans})
    in_order = sorted(rows, key=lambda row: row["span_number"])
    found = picked(in_order, "from_offset", "verdict", "num_attempts", "num_gap", "num_overlap", "recorded_time")
    assert found == [
        (0, "overridden", 3, None, None, at(1)),
        (100, "overridden", 2, 0, 0, at(1)),
        (200, "passed", 2, 0, 0, at(3)),
        (0, "passed", 3, 0, 100, at(4)),
    ]


@pytest.mark.parametrize(
    ("spans", "gaps"),
    [
        # Of (first offset, end): in the order of recording, and the gap before each.
        ([(0, 300), (300, 700), (0, 300), (700, 800)], [None, 0, 0, 0]),
        ([(0, 300), (300, 700), (0, 300), (750, 800)], [None, 0, 0, 50]),
        ([(0, 300), (700, 800), (300, 700)], [None, 0, 0]),
        ([(0, 300), (700, 800), (400, 500)], [None, 200, 100]),
        ([(700, 800), (0, 300)], [400, None]),
        ([(0, 300), (700, 750), (700, 800)], [None, 400, 0]),
        ([(0, 900), (300, 400), (950, 999)], [None, 0, 50]),
    ],
)
def test_a_gap_is_what_no_span_covers_whatever_was_recorded_when(
    tmp_path: Path, spans: list[tuple[int, int]], gaps: list[int | None]
) -> None:
    recorded = [span(first, end, minute) for minute, (first, end) in enumerate(spans)]
    rows = rows_of(tmp_path / "w", "v_gate_spans", {"gate_spans": recorded})
    assert [row["num_gap"] for row in sorted(rows, key=lambda row: row["span_number"])] == gaps
    if 400 in gaps:
        assert rows[0]["num_gap"] == 400, "the largest gap is first"


RESET: Row = {
    **{"group_id": "g", "topic": "orders", "at_time": at(5), "evidence_first_offset": 50, "evidence_last_offset": 59},
    **{"partitions": [0], "from_offsets": [100], "to_offsets": []},
}
CAUSES: dict[str, tuple[tuple[int, int], dict[str, list[Row]], str | None]] = {
    "nothing known": ((120, 200), {}, None),
    "a gap, committed": ((120, 200), {"offset_history": [commit(100, 120, 5, 50)]}, "ungated_commit"),
    "a gap, before": ((120, 200), {"offset_history": [commit(100, 120, -5, 50)]}, None),
    "a gap, later": ((120, 200), {"offset_history": [commit(100, 120, 15, 50)]}, None),
    "a gap, of another": ((120, 200), {"offset_history": [commit(100, 120, 5, 50, partition=1)]}, None),
    "stepped over": ((101, 200), {"offset_history": [commit(0, 101, 5, 50)]}, "transaction_hole"),
    "back from beyond": ((120, 200), {"offset_history": [commit(500, 120, 5, 50)]}, None),
    "rewound": ((60, 200), {"offset_history": [commit(100, 60, 5, 50)]}, "rewind"),
    "reset back": ((60, 200), {"offset_history": [commit(100, 60, 5, 50)], "offset_resets": [RESET]}, "reset"),
    "reset on": ((160, 200), {"offset_history": [commit(100, 160, 5, 59)], "offset_resets": [RESET]}, "reset"),
    "expired": (
        (60, 200),
        {"offset_history": [commit(0, 100, 1, 3, to_record_offset=55)], "offset_resets": [RESET]},
        "reset",
    ),
    "reset of others": (
        (60, 200),
        {"offset_history": [commit(100, 60, 5, 60)], "offset_resets": [RESET]},
        "rewind",
    ),
    "no longer there": (
        (120, 200),
        {"lag_points": [{"group_id": "g", "topic": "orders", "snapshot_time": at(6), "log_start_offset": 120}]},
        "retention_loss",
    ),
    "still there": (
        (120, 200),
        {"lag_points": [{"group_id": "g", "topic": "orders", "snapshot_time": at(6), "log_start_offset": 100}]},
        None,
    ),
    "neither": ((100, 200), {"offset_history": [commit(100, 60, 5, 50)]}, None),
}


@pytest.fixture(scope="module")
def spans_of_causes(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Each case is a cluster of one warehouse. The span before is [0, 100)."""
    tables: dict[str, list[Row]] = {}
    for name, ((first, end), others, _) in CAUSES.items():
        for table, rows in {"gate_spans": [span(0, 100, 0), span(first, end, 10)], **others}.items():
            tables.setdefault(table, []).extend({**row, "cluster": name} for row in rows)
    return rows_of(tmp_path_factory.mktemp("causes") / "w", "v_gate_spans", tables)


@pytest.mark.parametrize("name", CAUSES)
def test_the_history_says_why_a_span_does_not_follow(spans_of_causes: list[Row], name: str) -> None:
    (first, _), _, cause = CAUSES[name]
    rows = [row for row in spans_of_causes if row["cluster"] == name]
    assert {row["from_offset"]: row["cause"] for row in rows} == {0: None, first: cause}


GATED = {
    "gate_spans": [
        span(0, 100, 0),
        # They overlap: 50 offsets count once.
        span(100, 180, 10),
        span(130, 200, 10.5),
        # Too late for its commit.
        span(200, 250, 30),
        span(250, 300, 40, "overridden", until_time=at(45)),
        span(300, 310, 50, "overridden", until_time=at(52)),
        # The newest result before the commit counts.
        span(310, 320, 60),
        span(310, 320, 61, "failed"),
        span(320, 330, 70, "failed"),
        span(320, 330, 71),
        span(0, 10, 90, topic="clicks"),
        span(0, 10, 91, topic="views"),
    ],
    "offset_history": [
        # Before the group was gated; the first of a partition.
        commit(5, 90, -1, 9),
        commit(None, 0, 0.5, 10),
        commit(0, 100, 1, 11),
        commit(100, 200, 11, 12),
        commit(200, 250, 20, 13),
        commit(250, 300, 44, 14),
        commit(300, 310, 53, 15),
        commit(310, 320, 62, 16),
        commit(320, 330, 72, 17),
        # Half of it, and what goes back is nothing to validate.
        commit(330, 290, 73, 18),
        commit(290, 340, 44.5, 19),
        commit(0, 4, 80, 20, topic="clicks"),
        commit(4, 10, 92, 21, topic="clicks"),
        commit(0, 1_000, 5, 22, group_id="free"),
    ],
}


def test_coverage_adds_up_what_had_been_validated_before_its_commit(tmp_path: Path) -> None:
    """orders: 100 + 100 + 50 (let through in time) + 10; the commit that follows the step back has 10 of 50."""
    rows = rows_of(tmp_path / "w", "v_gate_coverage", GATED)
    assert picked(rows, "rank", "topic", "num_commits", "num_messages", "num_gated_messages", "share_gated") == [
        (1, "orders", 8, 380, 270, 270 / 380),
        (2, "clicks", 1, 6, 6, 1.0),
        (3, "views", 0, 0, 0, None),
    ]
    found = picked(
        rows, "num_ungated_messages", "num_ungated_commits", "first_span_time", "last_span_time", "num_spans"
    )
    assert found == [(110, 4, at(0), at(71), 10), (0, 0, at(90), at(90), 1), (0, 0, at(91), at(91), 1)]


def test_ungated_commits_are_those_that_no_passed_span_covers_with_the_owner_then(tmp_path: Path) -> None:
    def stay(member: str, first: int, end: int | None, **others: Any) -> Row:
        about = {"group_id": "g", "topic": "orders", "member_id": member, "client_host": f"/{member}", "client_id": "c"}
        return {
            **about,
            "from_record_offset": first,
            "to_record_offset": end,
            "is_provisional": end is None,
            "phase": "assigned",
            **others,
        }

    owners = [
        stay("m1", 0, 13),
        stay("m2", 13, 16),
        stay("m3", 16, None),
        stay("standby", 14, None, role="standby"),
        stay("other", 0, None, partition=1),
    ]
    rows = rows_of(tmp_path / "w", "v_ungated_commits", {**GATED, "ownership_intervals": owners})
    assert picked(rows, "rank", "topic", "committed_offset", "num_messages", "num_ungated_messages", "commit_time") == [
        (1, "orders", 250, 50, 50, at(20)),
        (2, "orders", 340, 50, 40, at(44.5)),
        (3, "orders", 320, 10, 10, at(62)),
        (4, "orders", 310, 10, 10, at(53)),
        (5, "clicks", 4, 4, 4, at(80)),
    ]
    assert picked(rows, "member_id", "client_host", "client_id", "gated_later_time", "is_topic_gated") == [
        ("m2", "/m2", "c", at(30), True),
        ("m3", "/m3", "c", at(60), True),
        ("m3", "/m3", "c", None, True),
        ("m2", "/m2", "c", None, True),
        (None, None, None, at(90), False),
    ]
    assert picked(rows, "evidence_first_offset", "previous_offset")[0] == (13, 200)


def point(minutes: float, lag: int | None, time_lag: int | None, **others: Any) -> Row:
    about = {"group_id": "g", "group_type": "classic", "topic": "orders", "snapshot_time": at(minutes)}
    method = "none" if time_lag is None else "interpolated"
    return {**about, "lag": lag, "time_lag_ms": time_lag, "time_lag_method": method, **others}


LAGS = {
    "lag_points": [
        # 20 values: the 10th, the 19th and the 20th are the percentiles of nearest rank.
        *(
            point(number % 4, 10 * number, None if number > 3 else 100 * number, partition=number)
            for number in range(1, 21)
        ),
        point(9, None, None),
        # Another day, another topic.
        point(24 * 60, 5, None),
        point(24 * 60 + 1, 7, None),
        point(0, None, None, topic="clicks"),
    ]
}


@pytest.mark.parametrize(("earlier", "own", "confidence"), [("certain", "certain", "certain"),
    ("possible", "certain", "possible"), ("certain", "possible", "possible"), ("likely", "certain", "certain"),
])  # fmt: skip
def test_an_ungated_commit_is_no_surer_than_the_one_at_which_it_begins(
    tmp_path: Path, earlier: str, own: str, confidence: str
) -> None:
    """How the one before ended may be likely: this one shows that it did."""
    history = [
        commit(None, 90, -1, 9, to_record_offset=11, confidence=earlier),
        commit(90, 100, 1, 11, to_record_offset=None, confidence=own),
        # Of another partition.
        commit(None, 90, -1, 10, to_record_offset=11, confidence="possible", partition=1),
    ]
    spans = [span(0, 10, 0)]
    rows = rows_of(tmp_path / "w", "v_ungated_commits", {"gate_spans": spans, "offset_history": history})
    assert picked(rows, "committed_offset", "num_ungated_messages", "confidence") == [(100, 10, confidence)]


def test_daily_lag_gives_percentiles_of_nearest_rank(tmp_path: Path) -> None:
    rows = rows_of(tmp_path / "w", "v_lag_daily", LAGS)
    day = datetime(2026, 11, 21, tzinfo=UTC)
    assert picked(rows, "day_time", "topic", "num_points", "num_minutes", "num_minutes_unknown") == [
        (day + timedelta(days=1), "orders", 2, 2, 0),
        (day, "orders", 21, 5, 1),
        (day, "clicks", 1, 1, 1),
    ]
    assert picked(rows, "lag_p50", "lag_p95", "lag_p99", "lag_max") == [
        (5, 7, 7, 7),
        (100, 190, 200, 200),
        (None, None, None, None),
    ]
    assert picked(rows, "time_lag_ms_p50", "time_lag_ms_p95", "time_lag_ms_p99", "time_lag_ms_max") == [
        (None, None, None, None),
        (200, 300, 300, 300),
        (None, None, None, None),
    ]


def test_freshness_has_the_least_fresh_first(tmp_path: Path) -> None:
    others = [point(1, 1, 900, topic="views"), point(2, 1, 400, topic="views", time_lag_method="extrapolated")]
    rows = rows_of(tmp_path / "w", "v_freshness_slo", {"lag_points": [*LAGS["lag_points"], *others]})
    names = (
        "rank",
        "topic",
        "time_lag_ms_p50",
        "time_lag_ms_p95",
        "num_minutes",
        "num_minutes_known",
        "time_lag_method",
    )
    assert picked(rows, *names) == [
        (1, "views", 400, 900, 2, 2, None),
        (2, "orders", 200, 300, 5, 3, "interpolated"),
        (3, "orders", None, None, 2, 0, None),
        (4, "clicks", None, None, 1, 0, None),
    ]


def judged(day: int, *successes: bool | None, expectation: str = "e") -> dict[str, list[Row]]:
    """One run for each outcome."""
    runs = [f"{expectation}-{day}-{number}" for number in range(len(successes))]
    begun = START + timedelta(days=day)
    about = {"suite": "s", "cluster": "a"}
    results = [
        {**about, "run_id": run, "expectation": expectation, "column_name": "c", "success": success}
        for run, success in zip(runs, successes, strict=True)
    ]
    return {"gate_runs": [{**about, "run_id": run, "started_time": begun} for run in runs], "gate_results": results}


def together(*parts: dict[str, list[Row]]) -> dict[str, list[Row]]:
    return {name: [row for part in parts for row in part[name]] for name in ("gate_runs", "gate_results")}


def test_expectations_by_day_with_what_is_usual(tmp_path: Path) -> None:
    """Before the last day: 10 runs within 28 days, 2 of them failed. 3 failures of 4 runs are 3 * 10 - 4 * 2 = 22 by
    the root of 4 * 2 * 8 = 64: 2.75 standard deviations. The first day lies too far back to count."""
    tables = together(
        judged(-40, False),
        judged(-10, *[True] * 7, False),
        judged(-1, True, False),
        judged(0, True, False, False, False, None),
    )
    rows = rows_of(tmp_path / "w", "v_expectation_daily", tables)
    names = ("num_runs", "num_failures", "num_errors", "share_failing", "share_failing_7_days", "share_failing_28_days")
    assert picked(rows, *names) == [
        (4, 3, 1, 0.75, 4 / 6, 5 / 14),
        (2, 1, 0, 0.5, 0.5, 0.2),
        (8, 1, 0, 0.125, 0.125, 0.125),
        (1, 1, 0, 1.0, 1.0, 1.0),
    ]
    # A day before: (1 * 8 - 2 * 1) / sqrt(2 * 1 * 7).
    z_scores = [row["z_score"] for row in rows]
    assert z_scores == [2.75, pytest.approx(1.6035674514745464), None, None]
    assert picked(rows, "is_always_failing", "is_never_failing") == [(False, False)] * 3 + [(True, False)]


def test_an_expectation_that_never_fails_for_90_days_is_marked(tmp_path: Path) -> None:
    tables = together(
        judged(-100, False, expectation="long"),
        *(judged(day, True, expectation="long") for day in (-90, -89, 0)),
        judged(-89, True, expectation="just"),
        judged(0, True, expectation="just"),
        judged(-88, True, expectation="short"),
        judged(0, True, expectation="short"),
        judged(0, None, expectation="unknown"),
    )
    rows = rows_of(tmp_path / "w", "v_expectation_daily", tables)
    today = [row for row in rows if row["day_time"].date() == START.date()]
    assert {row["expectation"]: (row["is_never_failing"], row["is_always_failing"]) for row in today} == {
        "long": (True, False),
        "just": (True, False),
        "short": (False, False),
        "unknown": (False, False),
    }
