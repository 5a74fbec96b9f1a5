"""Suites: ours pass and fail where they should, and whatever cannot be evaluated is never a pass."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jobs.gating.declarations.metric_files import metric_files
from jobs.gating.declarations.suites import Suite, suites
from jobs.gating.judging import SuiteResult, judge
from jobs.gating.measuring import Frame
from jobs.gating.results import result_rows, suite_findings, verdict
from jobs.output.failure import Failure
from schemas.words.history import Severity

ABSENT = Path("absent/groupscope.toml")
METRICS = metric_files(ABSENT)
OURS = {suite.name: suite for suite in suites(METRICS, ABSENT)}
# Of an expectation what keeps it and what breaks it, where that is not: none, and one.
VALUES = {
    ("history_coverage", "share_known"): (0.5, 1.5),
    ("commit_volume", "share_unchanged"): (0.9, 0.91),
    ("v_decode_coverage", "coverage_share"): (1.0, 0.99),
}
CLUSTERS_MAY_DO = {
    ("assignment_audit", "rows_failing_owned_twice"), ("assignment_audit", "rows_failing_nonexistent"),
    ("assignment_audit", "num_drift"), ("commit_volume", "share_unchanged"),
    ("expiry_forecast", "rows_failing_overdue"), ("gate_spans", "rows_failing_empty_span"),
    ("history_coverage", "num_holes"), ("history_coverage", "damaged_records"),
    ("lag_points", "rows_failing_beyond_end"), ("lag_points", "rows_failing_lost_messages"),
    ("offset_commits", "rows_failing_negative_offset"), ("offset_commits", "rows_failing_negative_partition"),
    ("offset_commits", "rows_failing_clock_apart"), ("offset_commits", "num_long_metadata"),
    ("offset_commits", "num_after_as_of"), ("offset_history", "rows_failing_went_back"),
    ("ownership_intervals", "rows_failing_orphan_owner"), ("rejected_records", "rows_failing_malformed"),
    ("replay_anomalies", "num_critical"), ("topic_snapshots", "rows_failing_end_before_start"),
    ("transactions", "rows_failing_ends_before_it_begins"), ("v_decode_coverage", "coverage_share"),
}  # fmt: skip
EXPECTED = [(suite, place) for suite in OURS.values() for place in range(len(suite.expectations))]


def frame_of(suite: Suite, values: Mapping[str, float | None]) -> Frame:
    known = {name: [VALUES.get((suite.table, name), (0.0,))[0]] for name in METRICS[suite.table].metrics}
    if "num_rows" in known:
        known["num_rows"] = [1.0]
    return Frame(suite.table, ["all"], {**known, **{name: [value] for name, value in values.items()}})


def judged(suite: Suite, frame: Frame, **others: Frame) -> SuiteResult:
    (result,) = judge([suite], {suite.table: frame, **others}, lambda: 0)
    return result


def verdict_of(result: SuiteResult) -> str:
    return verdict(result_rows([result])).value


def test_every_suite_of_ours_passes_where_nothing_is_wrong() -> None:
    frames = {suite.table: frame_of(suite, {})
              for suite in OURS.values()}  # fmt: skip
    others = {name: Frame(name, ["all"], {metric: [0.0] for metric in each.metrics}) for name, each in METRICS.items()}
    assert {
        result.suite.name: verdict_of(result) for result in judge([*OURS.values()], others | frames, lambda: 0)
    } == dict.fromkeys(OURS, "passed")


def test_each_expectation_of_ours_is_broken_by_a_value_and_by_that_alone() -> None:
    """The wrong value comes in at one metric: only what is about it fails, with its own severity."""
    for suite, place in EXPECTED:
        wanted = suite.expectations[place]
        (column,) = wanted.columns
        bad = VALUES.get((suite.table, column), (0.0, 1.0))[1]
        result = judged(suite, frame_of(suite, {column: bad}))
        assert [each.success for each in result.outcomes] == [each is not wanted for each in suite.expectations]
        assert verdict_of(result) == ("failed" if wanted.severity == Severity.CRITICAL else "warned")


def test_what_contradicts_itself_in_our_tables_is_critical_and_what_clusters_may_do_is_not() -> None:
    found = {
        (name.partition(".")[0], *expectation.columns)
        for name, suite in OURS.items()
        for expectation in suite.expectations
        if expectation.severity != Severity.CRITICAL
    }
    assert found == CLUSTERS_MAY_DO


def test_a_table_without_rows_is_no_pass_where_the_log_has_some() -> None:
    suite = OURS["offset_history"]
    empty = frame_of(suite, {"num_rows": 0.0})
    commits = Frame("offset_commits", ["all"], {"num_plain": [3.0]})
    result = judged(suite, empty, offset_commits=commits)
    assert verdict_of(result) == "error"
    assert result.error == "offset_history has no rows, although offset_commits.num_plain is 3; then it must have rows"
    rows = [{**row, "query": None} for row in result_rows([result])]
    assert verdict(rows).value == "error"
    assert [finding.kind for finding in suite_findings(rows, [suite], {"cluster": "a"}, [])] == ["suite_error"]
    none = Frame("offset_commits", ["all"], {"num_plain": [0.0]})
    assert verdict_of(judged(suite, empty, offset_commits=none)) == "passed"


def written(folder: Path, text: str) -> Path:
    (folder / "expectations").mkdir()
    (folder / "expectations" / "mine.json").write_text(text)
    return folder / "groupscope.toml"


def suite_text(**changes: Any) -> str:
    expectation = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "num_rows", "min_value": 1}}
    return json.dumps({"name": "mine", "meta": {"table": "topics"}, "expectations": [{**expectation, **changes}]})


def mine(folder: Path, text: str) -> Suite:
    return next(suite for suite in suites(METRICS, written(folder, text)) if suite.name == "mine")


def test_an_expectation_that_cannot_be_evaluated_is_no_pass(tmp_path: Path) -> None:
    """A metric that the frame has not, as a table of another release may lack it."""
    suite = mine(tmp_path, suite_text())
    result = judged(suite, Frame("topics", ["all"], {"num_other": [1.0]}))
    (results,) = result.outcomes
    assert (results.success, verdict_of(result)) == (None, "error")
    assert results.error is not None and 'column "num_rows"' in results.error and "\n" not in results.error


def test_the_slice_that_breaks_an_expectation_is_named(tmp_path: Path) -> None:
    suite = mine(tmp_path, suite_text())
    (result,) = judged(suite, Frame("topics", ["x", "y", "z"], {"num_rows": [1.0, 0.0, 0.0]})).outcomes
    assert (result.success, result.num_unexpected, result.first_evidence) == (False, 2, "y")
    assert json.loads(result.observed) == {"num_rows": {"min": 0.0, "max": 1.0}}
    assert json.loads(result.threshold) == {"min_value": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "; write it as JSON"),
        ("[]", "[]; give an object"),
        ('{"expectations": []}', 'meta.table = "mine": there is no metrics file of this name'),
        (
            '{"meta": {"table": "topics"}, "expectations": []}',
            "expectations: is missing or empty; give a list of one or more",
        ),
        (suite_text().replace('"meta"', '"mata"'), "mata: no such key, the nearest is meta"),
        (
            suite_text().replace('"topics"', '"topic"'),
            'meta.table = "topic": there is no metrics file of this name, the nearest is topics',
        ),
        (
            suite_text().replace('{"table"', '{"rows_due": ["topics.num_row"], "table"'),
            'meta.rows_due: "topics.num_row": no table has this metric, the nearest is topics.num_rows',
        ),
        (suite_text().replace('{"table"', '{"rows_due": [5], "table"'), "meta.rows_due: 5: no table has this metric"),
        (
            suite_text().replace('{"table"', '{"rows_due": "topics.x", "table"'),
            'meta.rows_due = "topics.x": give a list of',
        ),
        (suite_text(type="expect_column_value_to_be_between"), "the nearest is expect_column_values_to_be_between"),
        (suite_text(kwargs={"column": "num_row"}), 'kwargs: topics has no metric "num_row", the nearest is num_rows'),
        (suite_text(kwargs=[]), "kwargs = []; give an object"),
        (suite_text(severity="bad"), 'severity = "bad"; give one of critical, warning, info'),
        (suite_text(severity=["critical"]), 'severity = ["critical"]; give one of critical, warning, info'),
        (suite_text(kwargs={"column": 5}), "kwargs.column = 5; give names of metrics"),
        (
            suite_text(kwargs={"column_list": ["num_rows", 5]}),
            'kwargs.column_list = ["num_rows", 5]; give names of metrics',
        ),
        (suite_text(type=5), "type = 5: no expectation of Great Expectations"),
        (
            suite_text().replace('"topics"', "5"),
            "meta.table = 5: give the name of a metrics file, without .sql",
        ),
        (
            suite_text().replace('"topics"', '["a"]'),
            'meta.table = ["a"]: give the name of a metrics file, without .sql',
        ),
        ('{"meta": [], "expectations": []}', "meta: []; give an object"),
        (suite_text(meta={"query": 1}), "with SQL as a string in query"),
        (suite_text(kwarg={}), "expectations[0]: kwarg: no such key, the nearest is kwargs"),
        (suite_text().replace("}]", "}, " + json.dumps(json.loads(suite_text())["expectations"][0]) + "]"), "twice"),
    ],
)
def test_a_wrong_suite_is_reported_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Failure) as failure:
        mine(tmp_path, text)
    assert failure.value.code == 2
    assert message in str(failure.value) and "mine.json: " in str(failure.value) and "\n" not in str(failure.value)


def test_what_great_expectations_refuses_is_reported_in_one_line(tmp_path: Path) -> None:
    suite = mine(tmp_path, suite_text(kwargs={"column": "num_rows", "min_value": "x", "mostly": 7}))
    with pytest.raises(Failure, match=r"mine[.]json: expectations\[0\]: ") as failure:
        judged(suite, Frame("topics", ["all"], {"num_rows": [1.0]}))
    assert failure.value.code == 2 and "\n" not in str(failure.value)


def test_a_file_of_the_user_takes_the_place_of_ours(tmp_path: Path) -> None:
    config = written(tmp_path, suite_text())
    (tmp_path / "expectations" / "topics.json").write_text(suite_text(severity="info"))
    result = {suite.name: suite for suite in suites(METRICS, config)}
    assert [each.severity.value for each in result["topics"].expectations] == ["info"]
    assert result.keys() == OURS.keys() | {"mine"}


EXPECTING = """\
-- Topics.
-- rows due if: runs.num_decoded
-- num_rows: Rows.
-- limit num_rows warning as odd_commits: 1 to 5, rows by SELECT 1
-- rows_failing_x: X.
-- rule x info: TRUE
WITH judged AS (SELECT * FROM topics)
SELECT count(*) AS num_rows, :rules
FROM judged
"""


def of_metrics(folder: Path, name: str, text: str) -> dict[str, Suite]:
    (folder / "metrics").mkdir(exist_ok=True)
    (folder / "metrics" / f"{name}.sql").write_text(text)
    config = folder / "groupscope.toml"
    return {suite.name: suite for suite in suites(metric_files(config), config)}


@pytest.mark.parametrize("name", ["mine", "topics"])
def test_what_a_users_file_of_metrics_expects_is_a_suite(tmp_path: Path, name: str) -> None:
    """Of a table of its own, or instead of ours."""
    result = of_metrics(tmp_path, name, EXPECTING)
    suite = result[name]
    assert (suite.table, suite.rows_due, suite.place) == (
        name, ("runs.num_decoded",), str(tmp_path / "metrics" / f"{name}.sql")
    )  # fmt: skip
    assert [(*each.columns, each.severity.value, each.query, each.kwargs["max_value"])
            for each in suite.expectations] == [
        ("num_rows", "warning", "SELECT 1", 5), ("rows_failing_x", "info", None, 0),
    ]  # fmt: skip
    assert result.keys() == OURS.keys() | {name}
    # JSON of this name comes first; without expectations, those of ours stay, whose metrics the file then must have.
    written(tmp_path, suite_text())
    (tmp_path / "expectations" / f"{name}.json").write_text(suite_text())
    assert [each.columns for each in of_metrics(tmp_path, name, EXPECTING)[name].expectations] == [["num_rows"]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("limit num_rows", "limit num_row", 'limit: {place} has no metric "num_row", the nearest is num_rows'),
        (
            "-- rule",
            "-- limit num_rows info: 0\n-- rule",
            "expect_column_values_to_be_between of num_rows is in this file",
        ),
        ("num_decoded", "num_decode", 'rows due if: "runs.num_decode": no table has this metric, the nearest is runs.'),
    ],
)
def test_what_a_file_of_metrics_wrongly_expects_is_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    place = str(tmp_path / "metrics" / "mine.sql")
    with pytest.raises(Failure) as failure:
        of_metrics(tmp_path, "mine", EXPECTING.replace(old, new))
    assert failure.value.code == 2 and str(failure.value).startswith(f"{place}: {message.format(place=place)}")


def test_a_users_file_of_metrics_that_expects_nothing_is_measured_by_what_ours_expects(tmp_path: Path) -> None:
    plain = "-- num_rows: Rows.\nSELECT count(*) AS num_rows FROM topics"
    with pytest.raises(Failure, match=r'limit: .*topics\.sql has no metric "num_repeated_keys"'):
        of_metrics(tmp_path, "topics", plain)
    both = plain.replace("SELECT", "-- num_repeated_keys: None.\nSELECT 0 AS num_repeated_keys,")
    assert of_metrics(tmp_path, "topics", both)["topics"].expectations == OURS["topics"].expectations
