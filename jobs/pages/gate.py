"""What the gate prints: findings, worst first, and how to see their rows. An audit prints the same lines."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs.output.rows import time_text
from jobs.output.zones import with_zone
from jobs.pages.finding_lines import finding_lines, summary_with_new
from jobs.runs.log_end import old_log_text
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode

COLUMNS = tuple(column.name for column in TABLES["findings"].columns)
MEANINGS = {
    ExitCode.CLEAN: "clean",
    ExitCode.FINDINGS: "findings at or above --fail-on, or a suite that could not be evaluated",
}


def page(result: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], ended_with: int) -> Iterator[str]:
    """`ended_with`: the exit code of the command. With --fail-on never it is not the run's."""
    code = ExitCode(int(result["exit_code"]))
    yield f"Gate of cluster {result['cluster']}, run {result['run_id']}, as of {as_of_text(result)}"
    yield from log_end_lines(result)
    yield ""
    yield f"Exit code     {exit_code_text(code, ended_with, result)}"
    yield f"Checks        {expectation_counts(result)}"
    yield f"Findings      {finding_counts(result, findings)}"
    if result["narrowed_by"] is not None:
        yield f"              Narrowed by {result['narrowed_by']}."
        yield "              The report and v_findings show the newest whole run, if there is one."
    if result["is_unchanged"]:
        yield "              Nothing has changed since the previous run; these are its findings."
    yield f"Took          {result['seconds']:.1f} s"
    if findings:
        yield ""
        yield from finding_lines(findings)


def as_of_text(result: Mapping[str, Any]) -> str:
    """Names the zone, unless that is UTC. Messages of findings are stored texts."""
    text = time_text(datetime.fromisoformat(result["as_of_time"]))
    return with_zone(text, "; times inside messages are UTC")


def log_end_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Who looks at an old copy of the log must not take it for the present."""
    if result["old_log_end_time"] is not None:
        end, started = (datetime.fromisoformat(result[name]) for name in ("old_log_end_time", "started_time"))
        yield old_log_text(with_zone(time_text(end)), started - end)


def exit_code_text(code: ExitCode, ended_with: int, result: Mapping[str, Any]) -> str:
    if code == ExitCode.CLEAN and result["verdict"] != "clean":
        return f"{int(code)}: findings of this severity, but none is new"
    if ended_with == code and result.get("report_failed"):
        return f"{int(code)}: {'; '.join(result['report_failed'])}"
    if ended_with == code:
        return f"{int(code)}: {MEANINGS[code]}"
    return f"{int(ended_with)}, because of --fail-on never; with --fail-on critical it is {int(code)}"


def expectation_counts(result: Mapping[str, Any]) -> str:
    failed, errors = result["num_failed"], result["num_errors"]
    return f"{result['num_expectations']:,} expectations: {failed:,} failed, {errors:,} could not be evaluated"


def finding_counts(result: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> str:
    left_out = f"{result['num_left_out']:,} left out by settings (tool_groups, exclude_groups)"
    beside = f"{result['num_waived']:,} waived, {left_out}"
    return f"{summary_with_new(findings)}; {beside}"


def finding_cells(row: Mapping[str, Any]) -> list[Any]:
    return [row[name] for name in COLUMNS]
