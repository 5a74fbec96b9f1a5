"""Judges suites with Great Expectations, over pandas frames of metrics. Great Expectations is imported only here."""

import importlib.util
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from jobs.gating.declarations.metric_files import SLICE
from jobs.gating.declarations.suites import COLUMN_KEYS, Expectation, Suite, misuse
from jobs.gating.measuring import Frame
from jobs.output.progress import counting
from jobs.processes.no_pandas import kept_out, let_pandas_in, put_off

if TYPE_CHECKING:
    from great_expectations.core.expectation_suite import ExpectationSuite

# How many slices are not as expected. SUMMARY also says which: that takes half as long again, so it is asked only of
# expectations that have such slices.
COUNTS, PLACES = "BASIC", "SUMMARY"


@dataclass(frozen=True)
class Outcome:
    """The result of an expectation. `success` is None if it was not evaluated; then `error` says why."""

    expectation: Expectation
    success: bool | None
    error: str | None
    observed: str
    threshold: str
    num_unexpected: int | None = None
    first_evidence: str | None = None


@dataclass(frozen=True)
class SuiteResult:
    suite: Suite
    started_ms: int
    finished_ms: int
    outcomes: tuple[Outcome, ...]
    # For the suite as a whole; None: no error.
    error: str | None = None


def judge(suites: Sequence[Suite], frames: Mapping[str, Frame], clock: Callable[[], int]) -> list[SuiteResult]:
    with warnings.catch_warnings():
        # Warnings of its libraries, which users cannot act on.
        warnings.simplefilter("ignore")
        return judge_suites(suites, frames, clock)


def judge_suites(suites: Sequence[Suite], frames: Mapping[str, Frame], clock: Callable[[], int]) -> list[SuiteResult]:
    # Errors that only Great Expectations can find are reported for all suites before the first one is judged.
    made = [made_suite(suite) for suite in suites]
    validate = validator()
    results = []
    with counting(len(suites), "suites") as activity:
        for suite, wanted in zip(suites, made, strict=True):
            started_ms = clock()
            error = missing_rows(suite, frames)
            outcomes = outcomes_of(suite, frames[suite.table], error, partial(validate, wanted))
            results.append(SuiteResult(suite, started_ms, max(clock(), started_ms), outcomes, error))
            activity.done += 1
    return results


def missing_rows(suite: Suite, frames: Mapping[str, Frame]) -> str | None:
    """Expectations hold for a table without rows. If the log shows that it must have rows, that is not a pass."""
    if frames[suite.table].has_rows:
        return None
    for due in suite.rows_due:
        table, _, metric = due.partition(".")
        if number := frames[table].total(metric):
            return f"{suite.table} has no rows, although {due} is {number:,.0f}; then it must have rows"
    return None


def outcomes_of(suite: Suite, frame: Frame, error: str | None, validate: Callable[[Frame], Any]) -> tuple[Outcome, ...]:
    if error is None:
        try:
            results = validate(frame)
            return tuple(outcome(each, results[place], frame) for place, each in enumerate(suite.expectations))
        except Exception as problem:  # anything that breaks a suite must be visible, and is not a pass
            error = " ".join(f"{type(problem).__name__}: {problem}".split())
    return tuple(Outcome(each, None, error, observed_text(each, frame), threshold(each)) for each in suite.expectations)


def load() -> Any:
    let_pandas_in()
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    if "great_expectations" not in sys.modules and importlib.util.find_spec("scipy") is not None:
        # This is a quarter of what is loaded, and few expectations need it.
        put_off("scipy.stats")
    # Uses pandas frames: without Spark, Great Expectations loads half a second faster. If Spark is already loaded, a
    # part of it would end a process that was started without a file.
    # And without a grammar of addresses, which jsonschema takes seconds to build if it is there: nothing here needs it.
    with kept_out("pyspark.sql.connect" if "pyspark" in sys.modules else "pyspark", "rfc3987_syntax"):
        import great_expectations

    logging.getLogger("great_expectations").setLevel(logging.CRITICAL)
    return great_expectations


def made_suite(suite: Suite) -> "ExpectationSuite":
    load()
    from great_expectations.core.expectation_suite import ExpectationSuite

    made = ExpectationSuite(name=suite.name)
    for number, each in enumerate(suite.expectations):
        config = {"type": each.type, "kwargs": dict(each.kwargs), "severity": each.severity.value}
        try:
            made.add_expectation_configurations([configuration(config, number)])
        except Exception as error:
            why = " ".join(str(error).split())
            raise misuse(suite.place, f"expectations[{number}]: {each.type}: {why}") from None
    return made


def configuration(config: Mapping[str, Any], number: int) -> Any:
    """Results come in another order: the number identifies them."""
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    return ExpectationConfiguration(**config, meta={"number": number})


def validator() -> Callable[["ExpectationSuite", Frame], dict[int, Mapping[str, Any]]]:
    """One context for all suites, in memory."""
    context = load().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    asset = context.data_sources.add_pandas("metrics").add_dataframe_asset("frame")
    definition = asset.add_batch_definition_whole_dataframe("whole")

    def validate(suite: "ExpectationSuite", frame: Frame) -> dict[int, Mapping[str, Any]]:
        batch = definition.get_batch({"dataframe": pandas_frame(frame)})
        results = by_number(batch.validate(suite, result_format=COUNTS).to_json_dict()["results"])
        unexpected = [each for number, each in enumerate(suite.expectations) if has_unexpected(results[number])]
        return results | by_number(batch.validate(each, result_format=PLACES).to_json_dict() for each in unexpected)

    return validate


def by_number(results: Iterable[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    return {each["expectation_config"]["meta"]["number"]: each for each in results}


def has_unexpected(report: Mapping[str, Any]) -> bool:
    return bool((report.get("result") or {}).get("unexpected_count"))


def pandas_frame(frame: Frame) -> Any:
    import pandas as pd

    columns = {name: pd.Series(list(values), dtype="float64") for name, values in frame.values.items()}
    return pd.DataFrame({SLICE: pd.Series(list(frame.slices), dtype="object"), **columns})


def outcome(expectation: Expectation, report: Mapping[str, Any], frame: Frame) -> Outcome:
    about = observed_text(expectation, frame), threshold(expectation)
    if (error := exception_message(report.get("exception_info") or {})) is not None:
        return Outcome(expectation, None, error, *about)
    result = report.get("result") or {}
    places = result.get("partial_unexpected_index_list") or []
    first = frame.slices[places[0]] if places and isinstance(places[0], int) else None
    return Outcome(expectation, bool(report["success"]), None, *about, result.get("unexpected_count"), first)


def exception_message(info: Mapping[str, Any]) -> str | None:
    """The message of an expectation that could not be evaluated: in one dictionary, or in one for each metric."""
    for each in (info, *info.values()):
        if isinstance(each, Mapping) and each.get("raised_exception"):
            return " ".join(str(each.get("exception_message")).split()) or "its evaluation failed with an exception"
    return None


def observed_text(expectation: Expectation, frame: Frame) -> str:
    """For a frame with one row its values, else the minimum and the maximum."""
    observed: dict[str, Any] = {}
    for column in expectation.columns:
        values = [value for value in frame.values.get(column, ()) if value is not None]
        observed[column] = (
            values[0] if len(values) == 1 else {"min": min(values), "max": max(values)} if values else None
        )
    return json.dumps(observed if observed else {"rows": len(frame.slices)})


def threshold(expectation: Expectation) -> str:
    return json.dumps({key: value for key, value in expectation.kwargs.items() if key not in COLUMN_KEYS})
