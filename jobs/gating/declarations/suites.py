"""Suites of expectations over the metrics of one table: made from files of metrics that say what is expected, or Great
Expectations' own suite JSON, which users write.

`meta.table` names the table or view (default: the name of the file). `meta.rows_due` names metrics of other tables,
such as offset_commits.num_plain: if one of them is above 0, the suite's table must have rows. The checks here do not
need Great Expectations, which takes seconds to load.
"""

import importlib.util
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jobs.gating.declarations.metric_files import SLICE, Metrics, our_metrics
from jobs.gating.declarations.rule_files import EXPECTATIONS, RuleFile, user_files
from jobs.gating.declarations.sql_text import check_names
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from schemas.words.history import Severity
from udfs.sentences.suggestions import nearest_to

SUITE_KEYS = ("name", "expectations", "meta", "id", "notes", "suite_parameters")
META_KEYS = ("table", "rows_due", "great_expectations_version")
EXPECTATION_KEYS = ("type", "kwargs", "severity", "meta", "id", "description", "notes", "windows", "rendered_content")
SEVERITIES = {severity.value: severity for severity in Severity}
COLUMN_KEYS = ("column", "column_A", "column_B", "column_list", "column_set")


@dataclass(frozen=True)
class Expectation:
    """`query`: SQL by the suite's author that lists the failing rows, with the parameters of metrics. `findings`: kinds
    that list the same rows; if there is one that is as severe, the expectation makes no second one."""

    type: str
    kwargs: Mapping[str, Any]
    severity: Severity
    query: str | None
    findings: tuple[FindingKind, ...] = ()

    @property
    def column_name(self) -> str:
        """The metrics that it is about; empty: the whole frame."""
        return ", ".join(self.columns)

    @property
    def columns(self) -> list[str]:
        columns: list[str] = []
        for key in COLUMN_KEYS:
            value = self.kwargs.get(key, [])
            columns += [value] if isinstance(value, str) else list(value)
        return columns


@dataclass(frozen=True)
class Suite:
    name: str
    place: str
    table: str
    rows_due: tuple[str, ...]
    expectations: tuple[Expectation, ...]


def suites(metrics: Mapping[str, Metrics], config: Path | None) -> list[Suite]:
    """Ours and the user's, checked against the existing metrics. A user's JSON replaces what files of metrics expect of
    the table of its name; and a user's file of metrics replaces what ours of the same name expects, if it expects
    something itself."""
    users = {name: parse_suite(file, metrics) for name, file in user_files(EXPECTATIONS, ".json", config).items()}
    expecting = {**our_metrics(), **{name: each for name, each in metrics.items() if each.limits}}
    made = {name: made_suite(each, metrics) for name, each in expecting.items() if each.limits and name not in users}
    return [each for _, each in sorted({**made, **users}.items())]


def made_suite(declared: Metrics, metrics: Mapping[str, Metrics]) -> Suite:
    """What a file of metrics expects."""
    table = declared.table
    for each in declared.limits:
        if each.metric not in metrics[table].metrics:
            near = nearest_to(each.metric, metrics[table].metrics)
            raise misuse(declared.place, f"limit: {metrics[table].place} has no metric {json.dumps(each.metric)}{near}")
    expectations = tuple(
        Expectation(
            "expect_column_values_to_be_between",
            {"column": each.metric, "min_value": each.low, "max_value": each.high},
            each.severity,
            each.query,
            each.kinds,
        )
        for each in declared.limits
    )
    check_repeated(declared.place, expectations)
    check_due(f"{declared.place}: rows due if", declared.rows_due, metrics)
    return Suite(table, declared.place, table, declared.rows_due, expectations)


def parse_suite(file: RuleFile, metrics: Mapping[str, Metrics]) -> Suite:
    try:
        content = json.loads(file.text)
    except ValueError as error:
        raise misuse(file.place, f"{error}; write it as JSON") from None
    check_keys(file.place, content, SUITE_KEYS)
    meta = {} if content.get("meta") is None else content["meta"]
    check_keys(f"{file.place}: meta", meta, META_KEYS)
    table = meta.get("table", file.name)
    if not isinstance(table, str):
        raise misuse(file.place, f"meta.table = {json.dumps(table)}: give the name of a metrics file, without .sql")
    if table not in metrics:
        raise misuse(
            file.place,
            f"meta.table = {json.dumps(table)}: there is no metrics file of this name{nearest_to(table, metrics)}",
        )
    due = meta.get("rows_due", [])
    if not isinstance(due, list):
        raise misuse(
            file.place,
            f"meta.rows_due = {json.dumps(due)}: give a list of TABLE.METRIC: if one is above 0, the table must "
            "have rows",
        )
    check_due(f"{file.place}: meta.rows_due", due, metrics)
    listed = content.get("expectations")
    if not isinstance(listed, list) or not listed:
        raise misuse(file.place, "expectations: is missing or empty; give a list of one or more")
    expectations = tuple(
        expectation(f"{file.place}: expectations[{place}]", each, metrics[table]) for place, each in enumerate(listed)
    )
    check_repeated(file.place, expectations)
    return Suite(file.name, file.place, table, tuple(due), expectations)


def check_due(place: str, due: Iterable[object], metrics: Mapping[str, Metrics]) -> None:
    known = {f"{name}.{metric}" for name, each in metrics.items() for metric in each.metrics}
    for name in due:
        if name not in known:
            raise misuse(place, f"{json.dumps(name)}: no table has this metric{nearest_to(str(name), known)}")


def expectation(place: str, content: object, metrics: Metrics) -> Expectation:
    check_keys(place, content, EXPECTATION_KEYS)
    assert isinstance(content, dict)
    kind, kwargs, meta = content.get("type"), content.get("kwargs", {}), content.get("meta") or {}
    if not isinstance(kind, str) or kind not in expectation_types():
        near = nearest_to(str(kind), expectation_types())
        raise misuse(place, f"type = {json.dumps(kind)}: no expectation of Great Expectations{near}")
    if not isinstance(kwargs, dict):
        raise misuse(place, f"kwargs = {json.dumps(kwargs)}; give an object")
    severity = content.get("severity", Severity.CRITICAL.value)
    if not isinstance(severity, str) or severity not in SEVERITIES:
        raise misuse(place, f"severity = {json.dumps(severity)}; give one of {', '.join(Severity)}")
    query = meta.get("query") if isinstance(meta, dict) else None
    if not isinstance(meta, dict) or not (query is None or isinstance(query, str)):
        raise misuse(place, f"meta = {json.dumps(meta)}: give an object, with SQL as a string in query if it has one")
    check_names(place, query or "")
    check_columns(place, kwargs)
    made = Expectation(kind, kwargs, SEVERITIES[severity], query, finding_kinds(place, meta.get("findings", [])))
    for column in made.columns:
        if column not in metrics.metrics and column != SLICE:
            near = nearest_to(str(column), metrics.metrics)
            raise misuse(place, f"kwargs: {metrics.table} has no metric {json.dumps(column)}{near}")
    return made


def finding_kinds(place: str, names: object) -> tuple[FindingKind, ...]:
    kinds = {kind.value: kind for kind in FindingKind}
    for name in names if isinstance(names, list) else [names]:
        if not isinstance(names, list) or not isinstance(name, str) or name not in kinds:
            near = nearest_to(str(name), kinds)
            raise misuse(place, f"meta.findings = {json.dumps(names)}; give a list of kinds of findings{near}")
    return tuple(kinds[name] for name in names) if isinstance(names, list) else ()


def check_columns(place: str, kwargs: Mapping[str, Any]) -> None:
    """One name, or a list of names."""
    for key in COLUMN_KEYS:
        value = kwargs.get(key, "")
        names = value if isinstance(value, list) else [value]
        if not all(isinstance(name, str) for name in names):
            raise misuse(place, f"kwargs.{key} = {json.dumps(value)}; give names of metrics")


def check_repeated(place: str, expectations: Iterable[Expectation]) -> None:
    """Results are identified by type and column."""
    seen: set[tuple[str, str]] = set()
    for each in expectations:
        if (each.type, each.column_name) in seen:
            what = f"{each.type} of {each.column_name or 'all rows'}"
            raise misuse(place, f"{what} is in this file twice; remove one")
        seen.add((each.type, each.column_name))


def check_keys(place: str, content: object, known: tuple[str, ...]) -> None:
    if not isinstance(content, dict):
        raise misuse(place, f"{json.dumps(content)[:60]}; give an object")
    for key in content:
        if key not in known:
            raise misuse(place, f"{key}: no such key{nearest_to(key, known)}")


@cache
def expectation_types() -> frozenset[str]:
    """By the names of their files: importing them takes seconds."""
    spec = importlib.util.find_spec("great_expectations")
    folders = [] if spec is None else spec.submodule_search_locations or []
    files = [path for folder in folders for path in (Path(folder) / "expectations" / "core").glob("expect_*.py")]
    return frozenset(path.stem for path in files)


def misuse(place: str, what: str) -> Failure:
    return Failure(ExitCode.USAGE, f"{place}: {what}")
