"""The page that an audit prints: what it read, what it found, and how to look further."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobs.answers.unnamed_topics import unnamed_ids, unnamed_text
from jobs.ingestion.driver.state import LIVE
from jobs.ingestion.summary import damage_words, without_damage
from jobs.output.rows import row_lines
from jobs.output.terminal import terminal_width
from jobs.pages.finding_lines import finding_lines, new_finding_lines, summary, summary_with_new
from jobs.pages.gate import as_of_text, expectation_counts, log_end_lines
from jobs.replaying.tables.lost_rows import has_progress
from jobs.replaying.task.warehouse_state import rows_of
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import USER_TABLES
from schemas.words.assignments import CONFIRMED, Verdict
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from udfs.log.release_lines import rules_text
from udfs.sentences.counts import counted
from udfs.sentences.partitions_read import MOST_ENDS, early_texts, partitions_text

DAMAGE_QUERY = (
    "SELECT source_file, byte_position, reason, num_records FROM rejected_records WHERE byte_position IS NOT NULL"
)
MEANINGS = {
    ExitCode.CLEAN: "CLEAN",
    ExitCode.FINDINGS: "FINDINGS",
    ExitCode.REJECTED_SHARE: "REJECTED: more records rejected or damaged than max_rejected_share allows",
}
Row = Mapping[str, Any]
SAMPLE_QUERY = "SELECT rank, own_verdict, group_id, topic, partition, reason FROM v_group_verdict"


def page(
    warehouse: Warehouse,
    result: Mapping[str, Any],
    findings: Sequence[Row],
    ended_with: int,
    *,
    is_verbose: bool,
) -> Iterator[str]:
    """`ended_with`: the exit code of the command. With --fail-on never it is not the run's."""
    gate, findings = result["gate"], new_to_readers(result["gate"], findings)
    yield verdict_line(warehouse, result, findings, ended_with)
    yield f"Audit of cluster {result['cluster']} as of {as_of_text(gate)}, run {result['run_id']}"
    yield from log_end_lines(gate)
    yield ""
    yield from coverage_lines(warehouse, result, findings, is_verbose=is_verbose)
    if findings:
        yield ""
        is_known = [not row["is_new"] for row in findings]
        yield from finding_lines(findings) if is_verbose else new_finding_lines(findings, is_known)
    if not is_verbose:
        return
    if added := table_rows(warehouse, result):
        yield ""
        yield from row_lines(("table", "rows", "added", "one row for each"), added, "table", width=terminal_width())
    yield ""
    yield f'Next: groupscope sql --warehouse {warehouse.address} "{SAMPLE_QUERY}"'


def new_to_readers(gate: Mapping[str, Any], findings: Sequence[Row]) -> Sequence[Row]:
    """Those of a run that found nothing changed are the previous one's, except what it could not write itself."""
    if not gate["is_unchanged"]:
        return findings
    return [row if row["kind"] == FindingKind.REPORT_FAILED else {**row, "is_new": False} for row in findings]


def verdict_line(
    warehouse: Warehouse, result: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], ended_with: int
) -> str:
    code = ExitCode(int(result["exit_code"]))
    shown = f"exit code {int(code)}" if ended_with == code else f"exit code 0 because of --fail-on never, else {code:d}"
    if code == ExitCode.CLEAN and result["verdict"] != "clean":
        return f"{MEANINGS[ExitCode.FINDINGS]}, {shown} because none is new: {summary(findings)}"
    if code == ExitCode.CLEAN and not has_progress(warehouse, "replay", result["cluster"]):
        line = f"no record of cluster {result['cluster']} has been read yet; --source names the log"
        return f"NOTHING JUDGED, {shown}: {line}"
    is_as_before = result["gate"]["is_unchanged"] and not any(row["is_new"] for row in findings)
    counts = summary(findings) if is_as_before else summary_with_new(findings)
    return f"{MEANINGS[code]}, {shown}: {counts}"


def coverage_lines(
    warehouse: Warehouse, result: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], *, is_verbose: bool
) -> Iterator[str]:
    yield f"Read         {things_read(result)}"
    of_records = without_damage(result)
    yield f"Records      {of_records['read']:,} read: {counts({**result, **of_records})}"
    for reason, number in of_records["reject_reasons"].items():
        yield f"             {number:,} rejected: {reason}"
    yield from damage_lines(result, is_verbose=is_verbose)
    replay, assignments, lag = result["replay"], result["assignments"], result["lag"]
    replayed = counted(replay["num_records"], "record")
    yield f"Replayed     {replayed} of {counted(replay['num_partitions'], 'offsets partition')}"
    columns = ["unnamed_topic_ids", "release_signs", "line_spans"]
    progress = rows_of(warehouse, "replayed_partitions", result["cluster"], columns)
    yield f"Rules        {rules_text(progress, replay['release'])}"
    yield from log_lines(result["coverage"], findings)
    yield f"Assignments  {assignments['num_assignments']:,} recomputed: {verdicts(assignments['verdicts'])}"
    yield f"             {sum(assignments['all_verdicts'].values()):,} so far: {verdicts(assignments['all_verdicts'])}"
    yield from confirmed_lines(assignments["all_verdicts"])
    known = (
        f"{counted(lag['num_snapshots'], 'snapshot')} in the warehouse"
        if lag["num_snapshots"]
        else "UNKNOWN: there are no snapshots"
    )
    yield f"Lag          {known}"
    yield f"Gate         {expectation_counts(result['gate'])}"
    topics = rows_of(warehouse, "topics", result["cluster"], ["topic_id"])
    if ids := unnamed_ids(progress, topics):
        yield f"Topics       {unnamed_text(ids)}"
    yield f"Took         {result['seconds']:.1f} s"
    yield f"Warehouse    {warehouse.address}"
    yield f"Report       {report_words(result['report'], result['gate']['narrowed_by'])}"


def confirmed_lines(numbers: Mapping[str, int]) -> Iterator[str]:
    """How many verdicts rest on confirmed inputs. Where no assignor ran, there is nothing to confirm."""
    computed = sum(number for verdict, number in numbers.items() if verdict != Verdict.CARRIED_OVER)
    confirmed = sum(numbers[verdict] for verdict in CONFIRMED)
    if computed:
        share = f"{confirmed:,} of {computed:,} confirmed"
        yield f"             {share} by records or snapshots ({confirmed / computed:.0%})"


def log_lines(coverage: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How much of the log the run knows."""
    rows = coverage["partitions"]
    if not rows:
        return
    yield f"Log          {partitions_text(rows, coverage['num_partitions'], coverage['partitions_source'])}"
    texts = [*early_texts(rows, findings)]
    yield from (f"             {text}" for text in texts[:MOST_ENDS])
    if len(texts) > MOST_ENDS:
        yield f"             and {counted(len(texts) - MOST_ENDS, 'more partition ends', 'more partitions end')} early"


def report_words(report: Mapping[str, Any], narrowed_by: str | None) -> str:
    if narrowed_by is not None:
        return f"not written, and no Prometheus file: the run is narrowed by {narrowed_by}"
    if report["place"] is None:
        return "not written"
    return f"{report['place']}{' (unchanged)' if report['is_unchanged'] else ''}"


def damage_lines(result: Mapping[str, Any], *, is_verbose: bool) -> Iterator[str]:
    """What this run met; the query lists what earlier ones met too."""
    number = result["num_damaged_ranges"]
    if not number:
        return
    yield f"Damaged      {damage_words(result, 'range')}"
    for each in result["first_damaged_ranges"]:
        held = "" if number == 1 else f", {counted(each['num_records'], 'record')}"
        yield f"             {each['source_file']}, byte {each['byte_position']:,}: {each['reason']}{held}"
    if number > len(result["first_damaged_ranges"]):
        yield f"             and {number - len(result['first_damaged_ranges']):,} more"
    if is_verbose:
        yield f"             {DAMAGE_QUERY}"


def verdicts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {verdict}" for verdict, number in numbers.items() if number) or "none"


def things_read(result: Mapping[str, Any]) -> str:
    if result["source"] == LIVE:
        return f"{counted(result['num_files_read'], 'range')} of offsets"
    skipped = f", {result['num_files_skipped']:,} skipped" if result["num_files_skipped"] else ""
    files = counted(result["num_files_read"], "file")
    return f"{files} ({result['num_files_unchanged']:,} others unchanged{skipped})"


def counts(result: Mapping[str, Any]) -> str:
    return f"{result['decoded']:,} decoded, {result['rejected']:,} rejected, {result['already_known']:,} already known"


def table_rows(warehouse: Warehouse, result: Mapping[str, Any]) -> list[tuple[str, int, int, str]]:
    """Of tables that have grown."""
    num_rows = warehouse.num_rows()
    added = {name: int(number) for name, number in result["rows_added"].items() if number}
    return [(name, num_rows[name], added[name], USER_TABLES[name].grain) for name in USER_TABLES if name in added]
