"""The gate job: computes metrics, judges suites, lists findings, and decides whether the run passes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from jobs.command_line.values import EPOCH, GroupChoice, instant
from jobs.configuration.settings import number_settings, settings_hash
from jobs.gating.declarations.finding_files import PLACE, Events, finding_files
from jobs.gating.declarations.metric_files import Metrics, metric_files
from jobs.gating.declarations.sql_text import Parameters, parameters
from jobs.gating.declarations.suites import Suite, suites
from jobs.gating.declarations.waivers import Waiver, waivers
from jobs.gating.earlier_runs import (
    failures_before,
    known_groups,
    known_of,
    newest_time,
    reported_before,
    reported_in,
)
from jobs.gating.findings import (
    Choice,
    Finding,
    Findings,
    find,
    finding_rows,
    finding_statements,
    num_at_or_above,
    shared_rows,
)
from jobs.gating.judge_process import JudgeProcess
from jobs.gating.measuring import Frame, measure
from jobs.gating.options import GateOptions, check_matches, event_bounds, iso_text, limit_of
from jobs.gating.results import (
    Kinds,
    at_least,
    failed_rows,
    gate_run_rows,
    hash_of,
    metric_rows,
    result_rows,
    suite_findings,
    suites_basis,
    verdict,
    with_queries,
)
from jobs.output.failure import Failure
from jobs.output.progress import counting
from jobs.output.zones import moved
from jobs.processes.processors import cores
from jobs.queries.results import QueryResult
from jobs.runs.as_of import check_as_of
from jobs.runs.log_end import old_log_end
from jobs.runs.run import Run, RunOutcome
from jobs.warehouses.delta_tables import Change, DataFile, RemovedFile, files_of
from jobs.warehouses.small_files import Rewriting, with_small_files_rewritten
from jobs.warehouses.table_files import TableFile, closing
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind, SuiteVerdict
from schemas.words.history import Severity
from udfs.arrays.arrow_schema import table_schema

WRITTEN = (TABLES["gate_metrics"], TABLES["gate_runs"], TABLES["gate_results"], TABLES["findings"])
VERDICTS = {ExitCode.CLEAN: "clean", ExitCode.FINDINGS: "findings"}
Row = dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """The contents of the files, checked: errors in them are reported before a run changes anything."""

    metrics: Mapping[str, Metrics]
    suites: list[Suite]
    waivers: list[Waiver]


def rules(config: Path | None) -> Rules:
    metrics = metric_files(config)
    return Rules(metrics, suites(metrics, config), waivers(config))


class Gate:
    name = "gate"

    def __init__(self, options: GateOptions, *, is_own_process: bool = False) -> None:
        """`is_own_process`: it may start another one. In a user's process that would run the user's script again."""
        self.options, self.is_own_process = options, is_own_process
        # Findings of the newest run, worst first, for the command and the run page.
        self.findings: list[Row] = []
        self.narrowed_by: str | None = None
        self.judges: JudgeProcess | None = None

    def load_ahead(self) -> None:
        """Call this while earlier steps run, if there will be something to judge."""
        if self.judges is None and self.is_own_process and cores() > 1:
            self.judges = JudgeProcess()

    def close(self) -> None:
        if self.judges is not None:
            self.judges.close()

    @cached_property
    def rules(self) -> Rules:
        return rules(self.options.config)

    def make(self, run: Run) -> RunOutcome:
        self.run = run
        if run.cluster not in run.warehouse.clusters():
            line = f"{run.warehouse.address}: has no records of cluster {run.cluster}; run `groupscope ingest` first"
            raise Failure(ExitCode.USAGE, line)
        self.about = {"cluster": run.cluster, "run_id": run.run_id}
        self.started = time_of(run.started_ms)
        asked = self.options.as_of
        given = None if asked is None else time_of(instant(asked, run.started_ms, "--as-of"))
        self.as_of = given or newest_time(run) or self.started
        self.check_options()
        self.known, self.failures = known_of(run), failures_before(run)
        bounds = event_bounds(self.options.since, self.options.until, self.as_of_ms)
        since, until = (None if each is None else time_of(each) for each in bounds)
        self.narrowed_by = self.options.narrowed_by(since, until)
        term = timedelta(days=run.settings.gate.event_term_days)
        self.events = Events(since or moved(self.as_of, -term), until or self.as_of)
        self.waivers = [each for each in self.rules.waivers if each.until > self.started]
        basis = self.basis()
        if basis == self.known.basis:
            self.findings = self.known.findings
            changes = {table.name: Change() for table in (*WRITTEN, TABLES["gated_inputs"])}
            return self.outcome({**changes, "gate_limits": self.limits_change()}, self.known.num_left_out)
        return self.judge(basis)

    def check_options(self) -> None:
        """A request for something that cannot exist would find nothing, and look like a clean run."""
        if self.options.as_of is not None:
            check_as_of(self.run.warehouse, self.run.cluster, self.as_of_ms, self.run.started_ms)
        choice = GroupChoice(self.options.group, self.options.exclude_group)
        if choice.group is not None:
            check_matches(choice, known_groups(self.run), self.run.cluster)

    @property
    def newest_ms(self) -> int | None:
        """Time of the newest record or snapshot."""
        newest = newest_time(self.run)
        return None if newest is None else int(newest.timestamp() * 1000)

    def old_log_end_time(self) -> str | None:
        """For pages and programs: None unless the log ended long before the run."""
        hours = self.run.settings.gate.max_source_age_hours
        end = old_log_end(self.run.warehouse, self.run.cluster, self.started, hours)
        return None if end is None else iso_text(end)

    @property
    def as_of_ms(self) -> int:
        return (self.as_of - EPOCH) // timedelta(milliseconds=1)

    def basis(self) -> str:
        """Everything that the rows depend on. Every run adds a row to `runs`; what it says about tables is in their
        versions. The clock matters only for a source that has not advanced for too long, and earlier runs only for what
        they could not write."""
        versions = self.run.warehouse.versions()
        written = {table.name for table in WRITTEN} | {"gate_limits", "gated_inputs", "runs"}
        seen = {name: version for name, version in versions.items() if name not in written}
        files = [repr(each) for each in (*self.rules.metrics.values(), *self.rules.suites, *self.waivers)]
        return hash_of(
            [seen, settings_hash(self.run.settings), self.as_of, repr(self.events), self.narrowed_by, files,
             self.late_sources(), [row["run_id"] for row in self.failures]]
        )  # fmt: skip

    def late_sources(self) -> list[str]:
        """Findings that depend only on the clock, for unchanged tables."""
        if not self.run.settings.gate.max_source_age_hours:
            return []
        # Here, since a run without anything new may ask nothing.
        from jobs.queries.engines.duckdb_engine import scope_of

        (file,) = (each for each in finding_files() if each.kind == FindingKind.SOURCE_NOT_ADVANCING)
        statement = file.rows(self.parameters, self.events)
        with scope_of(self.run.warehouse, [statement]) as answer:
            names, rows = answer(statement)
            return sorted(str(row[list(names).index("message")]) for row in rows)

    @cached_property
    def parameters(self) -> Parameters:
        run = self.run
        return parameters(run.cluster, self.as_of, self.started, run.settings)

    def judge(self, basis: str) -> RunOutcome:
        self.load_ahead()
        frames, measured = self.measure()
        judged_basis = suites_basis(frames, self.rules.suites)
        results, times = self.results(frames, judged_basis)
        rows = with_queries(results, self.rules.suites, self.rules.metrics, self.parameters, self.about)
        with self.has_findings(measured.findings, rows) as has_findings:
            failed = suite_findings(rows, self.rules.suites, self.about, has_findings)
        findings = [*failed, *measured.findings]
        reported = reported_before(self.run, self.as_of) | reported_in(self.failures)
        self.findings = finding_rows(findings, self.about, self.as_of, reported, self.waivers)
        state = {
            **self.about,
            "basis": basis,
            "suites_basis": judged_basis,
            "num_of_tools": measured.num_left_out,
        }
        changes = {
            "gate_metrics": self.added_rows("gate_metrics", metric_rows(frames, self.about)),
            "gate_runs": self.added_rows(
                "gate_runs",
                gate_run_rows(rows, self.rules.suites, times, {**self.about, "narrowed_by": self.narrowed_by}),
            ),
            "gate_results": self.added_rows("gate_results", rows),
            "findings": self.added_rows("findings", self.findings),
            "gate_limits": self.limits_change(),
            "gated_inputs": self.of_cluster_anew("gated_inputs", [state]),
        }  # fmt: skip
        return self.outcome(changes, measured.num_left_out, rows)

    @contextmanager
    def has_findings(self, found: Sequence[Finding], rows: Sequence[Row]) -> Iterator[Callable[[Row, Kinds], bool]]:
        """Whether all rows that fail an expectation have a finding of some kinds, of now or of before. Where no
        statement lists the rows, a finding of now is enough. `rows`: all results."""
        from jobs.queries.engines.duckdb_engine import scope_of

        asked = [
            (row["query"], kinds)
            for suite in self.rules.suites
            for row, kinds in failed_rows(rows, suite)
            if kinds and row["query"] is not None
        ]
        if not asked:
            yield partial(has_some_now, found)
            return
        files = {file.kind: file for file in finding_files() if any(file.kind in kinds for _, kinds in asked)}
        listing = [file.rows(self.parameters, self.events) for file in files.values()]
        with scope_of(self.run.warehouse, [*(query for query, _ in asked), *listing]) as answer:

            @cache
            def places(kind: FindingKind, severity: str) -> set[tuple[Any, ...]]:
                statement = files[kind].reported(self.parameters, self.events, at_least(severity))
                return {tuple(row) for row in answer(statement).rows}

            def has_findings(failed: Row, kinds: Kinds) -> bool:
                if failed["query"] is None:
                    return has_some_now(found, failed, kinds)
                names, _ = answer(f"SELECT * FROM (\n{failed['query']}\n) AS failed LIMIT 0")
                columns = ", ".join(name if name in names else f"NULL AS {name}" for name in PLACE)
                failing = [*answer(f"SELECT DISTINCT {columns} FROM (\n{failed['query']}\n) AS failed").rows]
                known = set().union(*(places(kind, failed["severity"]) for kind in kinds))
                return bool(failing) and all(
                    not known.isdisjoint([(group, topic, partition), (group, topic, None), (group, None, None)])
                    for group, topic, partition in failing
                )

            yield has_findings

    def measure(self) -> tuple[dict[str, Frame], Findings]:
        """By DuckDB inside the driver, on either engine: over tables that are opened once all statements take less than
        a second, where Spark takes seconds to plan each of them."""
        from jobs.queries.engines.duckdb_engine import scope_of

        gate = self.run.settings.gate
        choice = Choice(self.options.group, self.options.exclude_group, gate.tool_groups, gate.exclude_groups)
        statements = [each.statement(self.parameters) for each in self.rules.metrics.values()]
        statements += finding_statements(self.parameters, self.events)
        shared = shared_rows(self.parameters)
        with (
            scope_of(self.run.warehouse, statements, {"gate_limits": self.limits()}, shared) as answer,
            counting(len(statements), "statements") as activity,
        ):

            def answered(statement: str) -> QueryResult:
                names, rows = answer(statement)
                result = QueryResult(names, list(rows))
                activity.done += 1
                return result

            if self.judges is not None:
                self.judges.ask(self.rules.suites)
            frames: dict[str, Frame] = {}
            for frame in measure(self.rules.metrics, self.parameters, answered):
                frames[frame.table] = frame
                if self.judges is not None:
                    self.judges.send(frame)
            return frames, find(self.parameters, self.events, choice, answered)

    def results(
        self, frames: Mapping[str, Frame], basis: str
    ) -> tuple[list[Row], dict[str, tuple[datetime, datetime]]]:
        """Those of the newest run, if nothing they depend on has changed: Great Expectations takes seconds to load."""
        if basis == self.known.suites_basis and self.known.results:
            return self.known.results, {suite.name: (self.started, self.started) for suite in self.rules.suites}
        results = None if self.judges is None else self.judges.answer()
        if results is None:
            from jobs.gating.judging import judge

            results = judge(self.rules.suites, frames, self.run.clock)
        times = {each.suite.name: (time_of(each.started_ms), time_of(each.finished_ms)) for each in results}
        return result_rows(results), times

    def added_rows(self, name: str, rows: list[Row]) -> Change:
        file = self.write_rows(name, rows)
        return Change() if file is None else Change((file,))

    def with_few_files(self, name: str, change: Change) -> Change:
        """Each run adds a small file, and every ten minutes there may be a run."""
        delta = self.run.warehouse.open(name)
        if delta is None or not change.added:
            return change
        warehouse, held = self.run.warehouse, files_of(delta).column("path").to_pylist()
        limits, wait = self.run.settings.tables, warehouse.wait_for_files
        of = Rewriting(warehouse.root, name, self.run.run_id, limits, wait_for_files=wait)
        return with_small_files_rewritten(of, change, map(unquote, held))

    def write_rows(self, name: str, rows: list[Row]) -> DataFile | None:
        warehouse = self.run.warehouse
        file = TableFile(warehouse.path(name), TABLES[name], self.run.run_id)
        if rows:
            file.write(pa.Table.from_pylist(rows, table_schema(TABLES[name])))
        (done,), wait = closing(warehouse.root, [file])
        warehouse.closings.append(wait)
        return done

    def limits(self) -> pa.Table:
        """What views compare with: in this run what its settings say, whatever the run before had."""
        values = [
            {**self.about, "setting": name, "value": value} for name, value in number_settings(self.run.settings.gate)
        ]
        return pa.Table.from_pylist(values, table_schema(TABLES["gate_limits"]))

    def limits_change(self) -> Change:
        """None, if the newest run had the same."""
        columns = ["setting", "value"]
        known = self.run.warehouse.rows("gate_limits", columns, self.run.cluster)
        now = self.limits()
        if known is not None and known.sort_by("setting").equals(now.select(columns).sort_by("setting")):
            return Change()
        return self.of_cluster_anew("gate_limits", now.to_pylist())

    def of_cluster_anew(self, name: str, rows: list[Row]) -> Change:
        """These rows instead of those that the cluster has."""
        delta = self.run.warehouse.open(name)
        known = self.run.warehouse.rows(name)
        others = [] if known is None else [row for row in known.to_pylist() if row["cluster"] != self.run.cluster]
        held = [] if delta is None else files_of(delta).column("path").to_pylist()
        file = self.write_rows(name, sorted([*others, *rows], key=lambda row: str(row["cluster"])))
        assert file is not None
        return Change((file,), tuple(RemovedFile(path, is_data_change=True) for path in held))

    def outcome(self, changes: Mapping[str, Change], num_left_out: int, results: list[Row] | None = None) -> RunOutcome:
        rows = self.known.results if results is None else results
        severity, is_of_new = limit_of(self.options.fail_on)
        is_broken = any(verdict([row]) == SuiteVerdict.ERROR for row in rows)
        num_standing = num_at_or_above(self.findings, severity)
        num_counting = num_at_or_above(new_of(self.findings), severity) if is_of_new else num_standing
        code = ExitCode.FINDINGS if is_broken or num_counting else ExitCode.CLEAN
        # That nothing is new does not make it clean.
        worst = ExitCode.FINDINGS if is_broken or num_standing else ExitCode.CLEAN
        facts = {
            "as_of_time": iso_text(self.as_of),
            "is_unchanged": results is None,
            "num_expectations": len(rows),
            "num_failed": sum(row["success"] is False for row in rows),
            "num_errors": sum(row["success"] is None for row in rows),
            "num_findings": len(self.findings),
            "num_new": num_at_or_above(new_of(self.findings), Severity.INFO),
            "num_waived": sum(row["waived_until_time"] is not None for row in self.findings),
            "num_counting": num_counting,
            "num_left_out": num_left_out,
            "narrowed_by": self.narrowed_by,
            "old_log_end_time": self.old_log_end_time(),
            "rows_added": {name: sum(file.num_rows for file in change.added) for name, change in changes.items()
                           if not TABLES[name].is_state},
        }  # fmt: skip
        counts = {"as_of_time": int(self.as_of.timestamp() * 1000)}
        changes = {
            name: self.with_few_files(name, change) if TABLES[name] in WRITTEN else change
            for name, change in changes.items()
        }
        return RunOutcome(changes, lambda _: facts, counts, code, VERDICTS[worst])


def has_some_now(found: Sequence[Finding], failed: Row, kinds: Kinds) -> bool:
    severities = at_least(failed["severity"])
    return any(each.kind in kinds and each.severity in severities for each in found)


def new_of(findings: Sequence[Row]) -> list[Row]:
    return [row for row in findings if row["is_new"]]


def time_of(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC)
