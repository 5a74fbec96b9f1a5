"""Metrics of every table: their files, what they count, and that each rule lists the rows that it counts."""

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.configuration.settings import Settings
from jobs.gating.declarations.metric_files import FAILING, Limit, metric_files, parse_metrics
from jobs.gating.declarations.rule_files import RuleFile
from jobs.gating.declarations.sql_text import Parameters, parameters
from jobs.gating.measuring import Frame, measure
from jobs.output.failure import Failure
from jobs.queries.definitions.dialects import portable_text
from jobs.queries.engines.duckdb_engine import scope_of
from jobs.warehouses.warehouse import Warehouse
from schemas.records import REGISTRY
from schemas.tables import TABLES, USER_TABLES, Type
from schemas.views import VIEWS
from schemas.words.gate import FindingKind
from schemas.words.history import Severity
from tests.make.tables import NOW, Row, make, write_run
from tests.runs.ingested import ROOT

ABSENT = Path("absent/groupscope.toml")
METRICS = metric_files(ABSENT)
PARAMETERS = parameters("a", NOW, NOW, Settings())
# The gate's own tables are no input of it, and what people wrote is no data to check.
UNMEASURED = {"gate_metrics", "gate_runs", "gate_results", "gate_limits", "findings", "marks"}
# `runs` is not filled with rows of zeros.
TABLES_MEASURED = [name for name in METRICS if name in USER_TABLES and name not in UNMEASURED | {"runs"}]
NUMBERS = (Type.INT, Type.BIGINT, Type.DOUBLE)
INTERVAL = {"from_record_offset": 10, "to_record_offset": 20, "evidence_first_offset": 10, "evidence_last_offset": 20}
LATER = {**INTERVAL, "from_record_offset": 15, "to_record_offset": None}


def frames_of(warehouse: Warehouse, *tables: str) -> dict[str, Frame]:
    chosen = {name: METRICS[name] for name in tables}
    with scope_of(warehouse, [each.statement(PARAMETERS) for each in chosen.values()]) as answer:
        return {frame.table: frame for frame in measure(chosen, PARAMETERS, answer)}


def test_every_table_that_users_see_is_measured_and_nothing_unknown() -> None:
    assert USER_TABLES.keys() - UNMEASURED <= METRICS.keys()
    assert METRICS.keys() <= USER_TABLES.keys() | VIEWS.keys()


def test_the_rows_that_runs_should_have_written_are_those_of_every_decoded_table() -> None:
    text = (ROOT / "schemas" / "metrics" / "runs.sql").read_text()
    counted = re.findall(r"SELECT count\(\*\)(?: AS number)? FROM (\w+) WHERE", text)
    assert sorted(counted) == sorted({record.table for record in REGISTRY.values()} | {"transaction_markers"})


def test_verdicts_are_counted_as_of_the_run(tmp_path: Path) -> None:
    """A run may be about an earlier time than the run before."""
    times = [NOW + timedelta(days=days) for days in (-1, -1, 0, 1, 1, 1)]
    rows = [{"own_verdict": "STOP", "partition": place, "as_of_time": each} for place, each in enumerate(times)]
    frame = frames_of(make(tmp_path, {"group_verdicts": rows}), "group_verdicts")["group_verdicts"]
    assert (frame.total("num_rows"), frame.total("num_bad")) == (1, 1)


BROKEN: tuple[tuple[str, str, tuple[Mapping[str, Any], ...]], ...] = (
    ("offset_commits", "negative_offset", ({"committed_offset": -1},)),
    ("offset_commits", "negative_partition", ({"partition": -1},)),
    ("offset_commits", "clock_apart", ({"record_time": NOW, "commit_time": NOW + timedelta(minutes=61)},)),
    ("offset_history", "went_back", ({"delta": -5, "committed_offset": 5, "previous_offset": 10},)),
    ("offset_history", "delta_wrong", ({"delta": 4, "committed_offset": 5, "previous_offset": 10, "num_commits": 1},)),
    ("offset_history", "no_commit", ({"num_commits": 0},)),
    ("offset_history", "interval_order", ({"from_record_offset": 10, "to_record_offset": 9},)),
    ("offset_history", "evidence_order", ({"evidence_first_offset": 2, "evidence_last_offset": 1},)),
    ("transactions", "hanging", ({"groups": [], "outcome": "open", "first_time": NOW - timedelta(minutes=61)},)),
    (
        "transactions",
        "ends_before_it_begins",
        ({"groups": [], "first_time": NOW, "end_time": NOW - timedelta(seconds=61)},),
    ),
    ("group_state_intervals", "overlap", (INTERVAL, {**LATER, "state": "Empty"})),
    ("group_state_intervals", "gap", ({**INTERVAL, "ended_by": "next_state"}, {**INTERVAL, "from_record_offset": 21})),
    ("membership_intervals", "overlap", (INTERVAL, LATER)),
    ("ownership_intervals", "two_owners", (INTERVAL, {**LATER, "to_record_offset": 30, "member_id": "b"})),
    ("ownership_intervals", "orphan_owner", ({"to_record_offset": None},)),
    ("rebalances", "negative_duration", ({"duration_ms": -1},)),
    ("partition_moves", "unread_bounds", ({"unread_low_ms": 2, "unread_high_ms": 1},)),
    ("history_coverage", "overlap", ({"first_offset": 0, "last_offset": 9}, {"first_offset": 9, "last_offset": 12})),
    ("coordinator_epochs", "order", ({"first_offset": 2, "last_offset": 1},)),
    ("assignment_audit", "owned_twice", ({"num_owned_twice": 1},)),
    ("assignment_audit", "nonexistent", ({"num_nonexistent": 1},)),
    ("rejected_records", "malformed", ({"reason": "underrun"},)),
    ("lag_points", "beyond_end", ({"committed_beyond_end": True, "lag_raw": 1},)),
    ("lag_points", "lost_messages", ({"lost_messages": 1, "lag_raw": 1},)),
    ("lag_points", "lag_below_zero", ({"lag": -1, "lag_raw": 1},)),
    ("lag_points", "unknown_without_reason", ({"lag_raw": None, "unknown_reason": None},)),
    ("lag_days", "rank_order", ({"lag_p99": 2, "lag_max": 1},)),
    ("lag_minutes", "other_day", ({"minute_time": NOW, "day_time": NOW - timedelta(hours=24)},)),
    ("consumption_rates", "negative_rate", ({"messages_consumed": -1, "eta_high_ms": 1},)),
    ("consumption_rates", "eta_without_reason", ({"eta_high_ms": None, "eta_unknown_reason": None},)),
    ("expiry_forecast", "overdue", ({"expires_time": NOW - timedelta(hours=25)},)),
    ("commit_volume", "more_unchanged_than_all", ({"num_commits": 1, "num_unchanged": 2},)),
    ("topic_snapshots", "end_before_start", ({"log_start_offset": 2, "log_end_offset": 1},)),
    ("gate_spans", "empty_span", ({"from_offset": 2, "to_offset": 1},)),
)
# By every file that has evidence or an interval, from one and the same text.
SAME_IN_ALL = {"evidence_order", "interval_order"}


def test_each_rule_is_broken_by_a_case() -> None:
    rules = {(name, rule) for name, each in METRICS.items() for rule in each.rules if rule not in SAME_IN_ALL}
    assert rules <= {(table, rule) for table, rule, _ in BROKEN}


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Each case is a cluster; another one has all of their rows."""
    tables: dict[str, list[Row]] = defaultdict(list)
    for table, rule, rows in BROKEN:
        tables[table] += [{**row, "cluster": name} for name in (f"{table} {rule}", "b") for row in rows]
    return make(tmp_path_factory.mktemp("broken") / "w", tables)


@pytest.mark.parametrize(
    ("table", "rule"), [pytest.param(*each[:2], marks=pytest.mark.about(each[0])) for each in BROKEN]
)
def test_a_rule_counts_and_lists_the_rows_that_break_it(broken: Warehouse, table: str, rule: str) -> None:
    """One row breaks it; rows of other clusters are none of ours."""
    filled, metrics = parameters(f"{table} {rule}", NOW, NOW, Settings()), METRICS[table]
    listing = metrics.failing_rows(f"{FAILING}{rule}", filled)
    assert listing is not None
    with scope_of(broken, [metrics.statement(filled), listing]) as answer:
        (frame,) = measure({table: metrics}, filled, answer)
        assert frame.total(f"{FAILING}{rule}") == 1
        names, result = answer(listing)
        assert [dict(zip(names, row, strict=True))["cluster"] for row in result] == [f"{table} {rule}"]


def test_a_step_back_that_a_reset_explains_breaks_no_rule(tmp_path: Path) -> None:
    back = {
        "topic": "t",
        "delta": -5,
        "committed_offset": 5,
        "previous_offset": 10,
        "from_record_offset": 7,
        "num_commits": 1,
    }
    reset = {"topic": "t", "evidence_first_offset": 6, "evidence_last_offset": 7}
    warehouse = make(tmp_path, {"offset_history": [back], "offset_resets": [reset]})
    assert frames_of(warehouse, "offset_history")["offset_history"].total("rows_failing_went_back") == 0


# What two equal rows of zeros are counted as besides. For rules that are not here nothing is wrong with them.
OF_ZEROS: dict[str, dict[str, float]] = {
    "classic_group_metadata": {"num_values": 2}, "group_metadata": {"num_values": 2},
    "group_state_intervals": {"num_groups": 1, "rows_failing_overlap": 1},
    "history_coverage": {"num_holes": 1, "rows_failing_overlap": 1},
    "lag_days": {"num_points_apart": 2}, "lag_minutes": {"num_points_apart": 2},
    "membership_intervals": {"num_open": 2, "rows_failing_overlap": 1}, "ownership_intervals": {"num_open": 2},
    "offset_commits": {"num_plain": 2, "share_with_leader_epoch": 1},
    "offset_history": {"num_open": 2, "rows_failing_no_commit": 2},
    "rebalances": {"num_assignments": 2}, "rejected_records": {"rows_failing_malformed": 2},
    "topic_snapshots": {"num_snapshots": 1},
}  # fmt: skip


@pytest.fixture(scope="module")
def zeros(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Intervals have no end."""
    rows: dict[str, list[Row]] = {
        name: [
            {
                each.name: 0
                for each in TABLES[name].columns
                if each.type in NUMBERS and each.name not in ("to_record_offset", "to_offset")
            }
        ]
        * 2
        for name in TABLES_MEASURED
    }
    return make(tmp_path_factory.mktemp("zeros") / "w", rows)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return make(tmp_path_factory.mktemp("empty") / "w", {name: [] for name in TABLES_MEASURED})


@pytest.mark.parametrize("name", [pytest.param(each, marks=pytest.mark.about(each)) for each in TABLES_MEASURED])
def test_of_an_empty_table_all_counts_are_zero(empty: Warehouse, name: str) -> None:
    """Shares, and the largest of none, have no value. A table that is measured by slices has none."""
    (frame,) = frames_of(empty, name).values()
    counts = {tuple(values) for metric, values in frame.values.items() if metric.startswith(("num_", FAILING))}
    assert counts == ({(0,)} if frame.slices else {()})


@pytest.mark.parametrize("name", [pytest.param(each, marks=pytest.mark.about(each)) for each in TABLES_MEASURED])
def test_equal_rows_of_zeros_repeat_a_key_and_break_few_rules(zeros: Warehouse, name: str) -> None:
    (frame,) = frames_of(zeros, name).values()
    counted = {metric: frame.total(metric) for metric in METRICS[name].metrics if frame.total(metric)}
    both = {"num_rows": 2, "num_repeated_keys": 1}
    assert counted == {metric: both[metric] for metric in both if metric in METRICS[name].metrics} | OF_ZEROS.get(
        name, {}
    )


def test_points_that_share_a_key_are_counted(tmp_path: Path, rng: np.random.Generator) -> None:
    """More snapshots than a number has bits; a topic without a name, and one without an id."""
    points = [
        {
            "snapshot_time": NOW + timedelta(microseconds=int(rng.integers(150))),
            "group_id": str(rng.choice(["g", "h"])),
            "topic": str(rng.choice(["t", "u"])) if rng.random() < 0.7 else None,
            "topic_id": str(rng.choice(["1", "2"])) if rng.random() < 0.7 else None,
            "partition": int(rng.integers(2)),
            "is_provisional": bool(rng.random() < 0.2),
        }
        for _ in range(2_000)
    ]
    keys = {tuple(row[name] for name in TABLES["lag_points"].key if name != "cluster") for row in points}
    warehouse = make(tmp_path, {"lag_points": [*points, *({**row, "cluster": "b"} for row in points)]})
    result = frames_of(warehouse, "lag_points")["lag_points"]
    assert (result.total("num_rows"), result.total("num_repeated_keys")) == (2_000, 2_000 - len(keys))
    assert 0 < len(keys) < 2_000


def test_points_that_are_of_no_day_are_counted(tmp_path: Path) -> None:
    points = [{"lag_raw": 1}] * 3
    warehouse = make(
        tmp_path, {"lag_points": points, "lag_days": [{"num_points": 1}], "lag_minutes": [{"num_points": 5}]}
    )
    frames = frames_of(warehouse, "lag_days", "lag_minutes")
    assert [frames[name].total("num_points_apart") for name in frames] == [2, 2]


def test_counts_of_runs_that_do_not_add_up_are_counted(tmp_path: Path) -> None:
    """Three records read, one of them in no place; and one row fewer than the run says it wrote."""
    warehouse = make(tmp_path)
    counts = {"offsets_partition": 0, "read": 3, "decoded": 2, "rejected": 0, "already_known": 0, "gaps": 0}
    write_run(warehouse, "run-0001", {"offset_commits": [{}]}, [counts])
    frame = frames_of(warehouse, "runs")["runs"]
    assert {name: frame.total(name) for name in ("num_read", "num_counts_broken", "num_rows_missing")} == {
        "num_read": 3,
        "num_counts_broken": 1,
        "num_rows_missing": 1,
    }


def test_a_frame_has_a_row_for_each_slice(tmp_path: Path) -> None:
    volume = [{"group_id": "g", "num_commits": 4, "num_unchanged": 1}, {"group_id": "a", "num_commits": 2}]
    frame = frames_of(make(tmp_path, {"commit_volume": volume}), "commit_volume")["commit_volume"]
    assert (frame.slices, frame.values["num_commits"]) == (["a", "g"], [2, 4])
    assert frame.values["share_unchanged"] == [0, 0.25]


GOOD = "-- num_rows: Rows.\nSELECT count(*) AS num_rows FROM topics\n"


def test_rules_may_be_counted_on_one_line() -> None:
    comments = "-- num_rows: Rows.\n-- rows_failing_x: X.\n-- rule x: TRUE\n"
    statement = "WITH judged AS (SELECT 1)\nSELECT count(*) AS num_rows, :rules FROM judged"
    assert parse_metrics(RuleFile("x", "x.sql", comments + statement)).rules == {"x": "TRUE"}


OF_OURS = """\
-- Days.
-- rows due if: runs.num_decoded
-- rows_failing_x: X.
-- rule x warning as odd_commits: x < 0
-- share: A share.
-- limit share info: 0 to 0.9, rows by SELECT 1
-- limit num_rows critical: 0
WITH judged AS (SELECT 1)
SELECT {keys}, 1 AS share, :rules
FROM judged
"""


def test_files_of_ours_say_what_is_expected() -> None:
    """Of a table with a key and evidence; and a file without SQL counts rows and keys alone."""
    metrics = parse_metrics(RuleFile("lag_days", "schemas/metrics/lag_days.sql", OF_OURS))
    assert metrics.limits == (
        Limit("num_repeated_keys", Severity.CRITICAL),
        Limit("rows_failing_x", Severity.WARNING, (FindingKind.ODD_COMMITS,)),
        Limit("share", Severity.INFO, (), 0, 0.9, "SELECT 1"),
        Limit("num_rows", Severity.CRITICAL),
        Limit("rows_failing_evidence_order", Severity.CRITICAL),
    )
    assert (metrics.about, metrics.rows_due, [*metrics.rules]) == (
        "Days.",
        ("runs.num_decoded",),
        ["x", "evidence_order"],
    )
    assert [*metrics.metrics] == [
        "num_rows",
        "num_repeated_keys",
        "rows_failing_x",
        "share",
        "rows_failing_evidence_order",
    ]
    plain = parse_metrics(RuleFile("topics", "schemas/metrics/topics.sql", "-- Topics.\n"))
    assert [*plain.metrics] == ["num_rows", "num_repeated_keys"] and [each.metric for each in plain.limits] == [
        "num_repeated_keys"
    ]
    assert plain.statement(PARAMETERS).endswith(
        "count(DISTINCT (cluster, topic, topic_id, from_time)) AS num_repeated_keys\nFROM judged"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("rule x warning", "rule x warnin", "line 4: rule x warnin as odd_commits: x < 0; expected rule NAME SEVERITY"),
        ("odd_commits", "odd_commit", "line 4: as odd_commit: no kind of finding; expected one of"),
        ("0 to 0.9", "none", "line 6: expected `limit METRIC SEVERITY: NUMBER`"),
        ("limit share info", "limit share", "line 6: limit share: 0 to 0.9"),
        (
            "limit share info: 0",
            "limit share info 0",
            "line 6: limit share info 0 to 0.9, rows by SELECT 1; expected rule",
        ),
        ("limit num_rows", "limt num_rows", "line 7: limt num_rows critical: 0; expected what the table measures"),
        ("as odd_commits: x < 0", "as odd_commits", "line 4: rule x warning as odd_commits; expected rule NAME"),
        ("rows due if: ", "rows due: ", "line 2: rows due: runs.num_decoded; expected what the table"),
        ("Days.", "days.", "line 1: days.; expected what the table measures"),
        ("{keys}", "{key}", "line 9: {key}: no such part; expected {keys} or none"),
    ],
)
def test_a_wrong_line_of_ours_says_where_it_is_and_what_was_expected(old: str, new: str, expected: str) -> None:
    text = OF_OURS.replace(old, new)
    with pytest.raises(Failure) as failure:
        parse_metrics(RuleFile("lag_days", "schemas/metrics/lag_days.sql", text))
    assert str(failure.value).startswith(f"schemas/metrics/lag_days.sql, {expected}")


def test_the_keys_of_a_table_are_metrics_only_in_files_of_ours() -> None:
    text = OF_OURS.replace("{keys}", "count(*) AS num_rows")
    users = parse_metrics(RuleFile("lag_days", "conf/metrics/lag_days.sql", text))
    assert [each.metric for each in users.limits] == ["rows_failing_x", "share", "num_rows"]
    assert [*users.metrics] == ["rows_failing_x", "share"] and [*users.rules] == ["x"]
    with pytest.raises(Failure, match=r"^conf/metrics/topics\.sql: no line begins with SELECT"):
        parse_metrics(RuleFile("topics", "conf/metrics/topics.sql", "-- Topics.\n"))
    with pytest.raises(Failure, match=r"^schemas/metrics/x\.sql, line 9: \{keys\}: no table has the name x"):
        parse_metrics(RuleFile("x", "schemas/metrics/x.sql", OF_OURS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-- num_rows: Rows.\n", "no line begins with SELECT"),
        (f"-- limit num_rows info 1\n{GOOD}", "x.sql, line 1: limit num_rows info 1; expected rule NAME SEVERITY"),
        (f"-- X.\n-- rule x warnin: TRUE\n{GOOD}", "x.sql, line 2: rule x warnin: TRUE; expected rule NAME SEVERITY"),
        (f"-- rows due if topics.num_rows\n{GOOD}", "x.sql, line 1: rows due if topics.num_rows; expected rule NAME"),
        (f"-- rows due if: topics.num_rows\n{GOOD}", "rows due if: expects nothing alone; add a limit"),
        ("SELECT 1 AS one\n", "no metric is described"),
        (f"-- rows_failing_x: X.\n{GOOD}", "metric rows_failing_x has no rule; add a line `-- rule x: CONDITION`"),
        (f"-- rule x: TRUE\n{GOOD}", "FROM judged"),
        ("-- a: A.\nSELECT :rules\nFROM judged", ":rules is in the query"),
    ],
)
def test_a_file_that_declares_no_metrics_is_reported(text: str, message: str) -> None:
    with pytest.raises(Failure, match=r"^conf/metrics/x\.sql(, line \d)?: ") as failure:
        parse_metrics(RuleFile("x", "conf/metrics/x.sql", text))
    assert (failure.value.code, message in str(failure.value)) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("count(*) AS", "count(*) AS other_rows, 1 AS"), "column other_rows has no description"),
        (f"-- b: B.\n{GOOD}", "the line `-- b: …` describes a metric"),
        (GOOD.replace("count(*)", "coalesce(max('x'), 'many')"), "metric num_rows = 'many'"),
        (GOOD.replace("count(*)", ":count"), "unknown parameter :count; use one of :as_of_time"),
        (GOOD.replace("count(*)", "nothing"), "Binder Error"),
        (GOOD.replace("count(*)", "*, 1"), "column cluster has no description"),
    ],
)
def test_a_result_that_is_not_as_declared_is_reported(tmp_path: Path, text: str, message: str) -> None:
    warehouse, metrics = make(tmp_path, {}), parse_metrics(RuleFile("x", "conf/metrics/x.sql", text))
    with pytest.raises(Failure, match=r"^conf/metrics/x\.sql: ") as failure, scope_of(warehouse, [text]) as answer:
        list(measure({"x": metrics}, PARAMETERS, answer))
    assert (failure.value.code, message in str(failure.value)) == (2, True)


@pytest.mark.parametrize("name", ["a'b", "a\\b", "${x}", "a\x00b", "a\nb", "ключ 鍵", "", ":cluster", "\x7f\u2028"])
def test_any_name_is_the_same_in_sql(tmp_path: Path, name: str) -> None:
    filled = Parameters({"cluster": portable_text(name)}).fill("SELECT :cluster AS name", "here")
    with scope_of(make(tmp_path, {}), [filled]) as answer:
        assert [row[0] for row in answer(filled).rows] == [name]


def test_times_are_given_by_settings() -> None:
    values = parameters("a", datetime(2026, 1, 2, tzinfo=UTC), NOW, Settings()).values
    assert values["expiring_soon_hours_after"] == "TIMESTAMP '2026-01-03 01:00:00.000000+00:00'"
    assert values["hanging_transaction_ms_before"] == "TIMESTAMP '2026-01-01 23:00:00.000000+00:00'"
