"""Makes the rows of `gate_metrics`, `gate_results` and `gate_runs`, and the findings that follow from them."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobs.gating.declarations.metric_files import Metrics
from jobs.gating.declarations.sql_text import Parameters
from jobs.gating.declarations.suites import Expectation, Suite
from jobs.gating.findings import Finding
from jobs.gating.measuring import Frame
from jobs.queries.definitions.dialects import portable_text
from schemas.words.gate import FindingKind, SuiteVerdict
from schemas.words.history import Severity
from udfs.sentences.counts import counted

if TYPE_CHECKING:
    from jobs.gating.judging import SuiteResult

Row = dict[str, Any]
Kinds = Sequence[FindingKind]
BOUNDS = "expect_column_values_to_be_between"


def metric_rows(frames: Mapping[str, Frame], about: Mapping[str, Any]) -> list[Row]:
    return [
        {**about, "table_name": frame.table, "slice": part, "metric": metric, "value": value}
        for frame in frames.values()
        for metric, values in frame.values.items()
        for part, value in zip(frame.slices, values, strict=True)
    ]


def suites_basis(frames: Mapping[str, Frame], suites: Sequence[Suite]) -> str:
    """Equal for equal metrics, suites and Great Expectations version: then the results are equal too."""
    from importlib.metadata import version

    values = [(name, list(frame.slices), dict(frame.values)) for name, frame in frames.items()]
    return hash_of([version("great_expectations"), values, [repr(suite) for suite in suites]])


def hash_of(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def result_rows(results: Iterable["SuiteResult"]) -> list[Row]:
    """Without cluster, run and query, which differ from run to run."""
    return [
        {
            "suite": result.suite.name,
            "expectation": each.expectation.type,
            "column_name": each.expectation.column_name,
            "severity": each.expectation.severity.value,
            "success": each.success,
            "error": each.error,
            "observed": each.observed,
            "threshold": each.threshold,
            "num_unexpected": each.num_unexpected,
            "first_evidence": each.first_evidence,
        }
        for result in results
        for each in result.outcomes
    ]


def with_queries(
    rows: Iterable[Row],
    suites: Sequence[Suite],
    metrics: Mapping[str, Metrics],
    parameters: Parameters,
    about: Mapping[str, Any],
) -> list[Row]:
    known = {
        (suite.name, each.type, each.column_name): (suite, each) for suite in suites for each in suite.expectations
    }
    return [
        {
            **row,
            **about,
            "query": query_of(*known[row["suite"], row["expectation"], row["column_name"]], metrics, parameters),
        }
        for row in rows
    ]


def query_of(
    suite: Suite, expectation: Expectation, metrics: Mapping[str, Metrics], parameters: Parameters
) -> str | None:
    """The SQL that lists the rows of an expectation: its author's, or that of its rule."""
    if expectation.query is not None:
        return parameters.fill(expectation.query, suite.place)
    queries = [metrics[suite.table].failing_rows(column, parameters) for column in expectation.columns]
    return next((query for query in queries if query is not None), None)


def gate_run_rows(
    rows: Sequence[Row],
    suites: Sequence[Suite],
    times: Mapping[str, tuple[datetime, datetime]],
    about: Mapping[str, Any],
) -> list[Row]:
    return [gate_run_row([row for row in rows if row["suite"] == suite.name], suite, times, about) for suite in suites]


def gate_run_row(
    rows: Sequence[Row], suite: Suite, times: Mapping[str, tuple[datetime, datetime]], about: Mapping[str, Any]
) -> Row:
    started, finished = times[suite.name]
    return {
        **about,
        "suite": suite.name,
        "started_time": started,
        "finished_time": finished,
        "verdict": verdict(rows).value,
        "num_expectations": len(rows),
        "num_failed": sum(row["success"] is False for row in rows),
        "num_errors": sum(row["success"] is None for row in rows),
    }


def verdict(rows: Iterable[Row]) -> SuiteVerdict:
    """An expectation that was not evaluated is never a pass."""
    outcomes = {(row["success"], row["severity"]) for row in rows if row["success"] is not True}
    if any(success is None for success, _ in outcomes):
        return SuiteVerdict.ERROR
    if (False, Severity.CRITICAL.value) in outcomes:
        return SuiteVerdict.FAILED
    return SuiteVerdict.WARNED if outcomes else SuiteVerdict.PASSED


def suite_findings(
    rows: Sequence[Row], suites: Sequence[Suite], about: Mapping[str, Any], has_findings: Callable[[Row, Kinds], bool]
) -> list[Finding]:
    """One for each suite that could not be evaluated, and one for each failed expectation, except those whose rows all
    have findings of their own: `has_findings` of some of these kinds."""
    findings = []
    for suite in suites:
        of_suite = [row for row in rows if row["suite"] == suite.name]
        errors = [row for row in of_suite if row["success"] is None]
        if errors:
            number = f"{len(errors):,} of {counted(len(of_suite), 'expectation')}"
            line = f"checks of {suite.name}: {number} could not be evaluated: {errors[0]['error']}"
            kind = FindingKind.SUITE_ERROR
            query = results_query(about, suite.name)
            findings.append(Finding(kind.value, kind.severity.value, line, query, subject=suite.name))
        for row, kinds in failed_rows(of_suite, suite):
            if not (kinds and has_findings(row, kinds)):
                findings.append(failed_finding(row, about))
    return findings


def failed_rows(rows: Iterable[Row], suite: Suite) -> list[tuple[Row, Kinds]]:
    """Of the suite, each with the kinds of findings that are about the same."""
    same = {(each.type, each.column_name): each.findings for each in suite.expectations}
    return [
        (row, same[row["expectation"], row["column_name"]])
        for row in rows
        if row["suite"] == suite.name and row["success"] is False
    ]


def at_least(severity: str) -> list[str]:
    """A finding that is less bad would hide that a suite calls it worse."""
    order = [each.value for each in Severity]
    return order[: order.index(severity) + 1]


def failed_finding(row: Row, about: Mapping[str, Any]) -> Finding:
    where = "" if row["first_evidence"] in (None, "all") else f", first in {row['first_evidence']}"
    return Finding(
        kind=FindingKind.EXPECTATION_FAILED.value,
        severity=row["severity"],
        message=f"suite {row['suite']}: {observed_text(row)}{where}",
        query=row["query"] or results_query(about, row["suite"]),
        subject=f"{row['suite']}: {row['column_name'] or row['expectation']}",
        harm=float(row["num_unexpected"] or 1),
    )


def observed_text(row: Row) -> str:
    """For the usual expectation, the bounds of one metric, in words; for others, what Great Expectations reports."""
    observed, threshold = json.loads(row["observed"]), json.loads(row["threshold"])
    value = observed.get(row["column_name"])
    least, most = threshold.get("min_value"), threshold.get("max_value")
    is_plain = threshold.keys() <= {"min_value", "max_value"} and (least, most) != (None, None)
    if row["expectation"] != BOUNDS or value is None or not is_plain:
        about = f"{row['expectation']} of {row['column_name'] or 'all rows'} does not hold"
        return f"{about}: {row['observed']}, expected {row['threshold']}"
    shown = f"{value['min']:g} to {value['max']:g}" if isinstance(value, dict) else f"{value:g}"
    if least is None or most is None:
        wanted = f"{most:g} or less" if least is None else f"{least:g} or more"
    else:
        wanted = f"{least:g}" if least == most else f"{least:g} to {most:g}"
    return f"{row['column_name']} is {shown}, expected {wanted}"


def results_query(about: Mapping[str, Any], suite: str) -> str:
    conditions = {**about, "suite": suite}
    where = " AND ".join(f"{name} = {portable_text(value)}" for name, value in conditions.items())
    return f"SELECT * FROM gate_results\nWHERE {where} AND success IS NOT TRUE"
