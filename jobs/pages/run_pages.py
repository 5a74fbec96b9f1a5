"""The pages that an audit and the gate print: what was read, what was found, and how to look further.

Findings are shown by the worst of those that are new, and how many are known; or all of them by kind, each with its
worst findings and where their records are.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs.answers.unnamed_topics import unnamed_ids, unnamed_text
from jobs.ingestion.driver.state import LIVE
from jobs.ingestion.summary import damage_words, without_damage
from jobs.output.failure import visible
from jobs.output.rows import row_lines, time_text
from jobs.output.terminal import terminal_width
from jobs.output.zones import with_zone
from jobs.replaying.tables.lost_rows import has_progress
from jobs.replaying.task.warehouse_state import rows_of
from jobs.runs.log_end import old_log_text
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES, USER_TABLES
from schemas.words.assignments import CONFIRMED, Verdict
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from schemas.words.history import Confidence, Severity
from schemas.words.records import OFFSETS_TOPIC
from udfs.log.release_lines import rules_text
from udfs.sentences.counts import counted
from udfs.sentences.partitions_read import MOST_ENDS, early_texts, partitions_text

COLUMNS = tuple(column.name for column in TABLES["findings"].columns)
# Of exit codes: on the page of an audit, and on that of the gate.
AUDITED = {
    ExitCode.CLEAN: "CLEAN",
    ExitCode.FINDINGS: "FINDINGS",
    ExitCode.REJECTED_SHARE: "REJECTED: more records rejected or damaged than max_rejected_share allows",
}
JUDGED = {
    ExitCode.CLEAN: "clean",
    ExitCode.FINDINGS: "findings at or above --fail-on, or a suite that could not be evaluated",
}
HEADINGS = {kind.value: kind.heading for kind in FindingKind}
SEVERITIES = [severity.value for severity in Severity]
MOST_NEW, MOST_KINDS, MOST_ROWS = 10, 10, 3
DAMAGE_QUERY = (
    "SELECT source_file, byte_position, reason, num_records FROM rejected_records WHERE byte_position IS NOT NULL"
)
SAMPLE_QUERY = "SELECT rank, own_verdict, group_id, topic, partition, reason FROM v_group_verdict"
Row = Mapping[str, Any]


def audit_page(
    warehouse: Warehouse,
    result: Row,
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
        yield from finding_lines(findings) if is_verbose else new_finding_lines(findings)
    if not is_verbose:
        return
    added, num_rows = result["rows_added"], warehouse.num_rows()
    grown = [
        (name, num_rows[name], int(added[name]), USER_TABLES[name].grain) for name in USER_TABLES if added.get(name)
    ]
    if grown:
        yield ""
        yield from row_lines(("table", "rows", "added", "one row for each"), grown, "table", width=terminal_width())
    yield ""
    yield f'Next: groupscope sql --warehouse {warehouse.address} "{SAMPLE_QUERY}"'


def new_to_readers(gate: Row, findings: Sequence[Row]) -> Sequence[Row]:
    """Those of a run that found nothing changed are the previous one's, except what it could not write itself."""
    if not gate["is_unchanged"]:
        return findings
    return [row if row["kind"] == FindingKind.REPORT_FAILED else {**row, "is_new": False} for row in findings]


def verdict_line(warehouse: Warehouse, result: Row, findings: Sequence[Row], ended_with: int) -> str:
    code = ExitCode(int(result["exit_code"]))
    shown = f"exit code {int(code)}" if ended_with == code else f"exit code 0 because of --fail-on never, else {code:d}"
    if code == ExitCode.CLEAN and result["verdict"] != "clean":
        return f"{AUDITED[ExitCode.FINDINGS]}, {shown} because none is new: {summary(findings)}"
    if code == ExitCode.CLEAN and not has_progress(warehouse, "replay", result["cluster"]):
        line = f"no record of cluster {result['cluster']} has been read yet; --source names the log"
        return f"NOTHING JUDGED, {shown}: {line}"
    is_as_before = result["gate"]["is_unchanged"] and not any(row["is_new"] for row in findings)
    counts = summary(findings) if is_as_before else summary_with_new(findings)
    return f"{AUDITED[code]}, {shown}: {counts}"


def coverage_lines(warehouse: Warehouse, result: Row, findings: Sequence[Row], *, is_verbose: bool) -> Iterator[str]:
    if result["source"] == LIVE:
        yield f"Read         {counted(result['num_files_read'], 'range')} of offsets"
    else:
        skipped = f", {result['num_files_skipped']:,} skipped" if result["num_files_skipped"] else ""
        others = f"{result['num_files_unchanged']:,} others unchanged{skipped}"
        yield f"Read         {counted(result['num_files_read'], 'file')} ({others})"
    of_records = without_damage(result)
    rejected = f"{of_records['rejected']:,} rejected, {result['already_known']:,} already known"
    yield f"Records      {of_records['read']:,} read: {result['decoded']:,} decoded, {rejected}"
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
    whole = assignments["all_verdicts"]
    yield f"             {sum(whole.values()):,} so far: {verdicts(whole)}"
    # Where no assignor ran, there is nothing to confirm.
    if computed := sum(number for verdict, number in whole.items() if verdict != Verdict.CARRIED_OVER):
        confirmed = sum(whole[verdict] for verdict in CONFIRMED)
        share = f"{confirmed:,} of {computed:,} confirmed"
        yield f"             {share} by records or snapshots ({confirmed / computed:.0%})"
    known = f"{counted(lag['num_snapshots'], 'snapshot')} in the warehouse"
    yield f"Lag          {known if lag['num_snapshots'] else 'UNKNOWN: there are no snapshots'}"
    yield f"Gate         {expectation_counts(result['gate'])}"
    topics = rows_of(warehouse, "topics", result["cluster"], ["topic_id"])
    if ids := unnamed_ids(progress, topics):
        yield f"Topics       {unnamed_text(ids)}"
    report, narrowed_by = result["report"], result["gate"]["narrowed_by"]
    is_written = report["place"] is not None and not report["is_unchanged"]
    of_report = f", and the report {report['seconds']:.1f} s" if is_written else ""
    yield f"Took         {result['seconds']:.1f} s{of_report}"
    yield f"Warehouse    {warehouse.address}"
    written = f"{report['place'] or 'not written'}{' (unchanged)' if report['is_unchanged'] else ''}"
    narrowed = f"not written, and no Prometheus file: the run is narrowed by {narrowed_by}"
    yield f"Report       {written if narrowed_by is None else narrowed}"


def log_lines(coverage: Row, findings: Sequence[Row]) -> Iterator[str]:
    """How much of the log the run knows."""
    rows = coverage["partitions"]
    if not rows:
        return
    yield f"Log          {partitions_text(rows, coverage['num_partitions'], coverage['partitions_source'])}"
    texts = [*early_texts(rows, findings)]
    yield from (f"             {text}" for text in texts[:MOST_ENDS])
    if len(texts) > MOST_ENDS:
        yield f"             and {counted(len(texts) - MOST_ENDS, 'more partition ends', 'more partitions end')} early"


def damage_lines(result: Row, *, is_verbose: bool) -> Iterator[str]:
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


def gate_page(result: Row, findings: Sequence[Row], ended_with: int) -> Iterator[str]:
    """`ended_with`: the exit code of the command. With --fail-on never it is not the run's."""
    code = ExitCode(int(result["exit_code"]))
    yield f"Gate of cluster {result['cluster']}, run {result['run_id']}, as of {as_of_text(result)}"
    yield from log_end_lines(result)
    yield ""
    yield f"Exit code     {exit_code_text(code, ended_with, result)}"
    yield f"Checks        {expectation_counts(result)}"
    left_out = f"{result['num_left_out']:,} left out by settings (tool_groups, exclude_groups)"
    yield f"Findings      {summary_with_new(findings)}; {result['num_waived']:,} waived, {left_out}"
    if result["narrowed_by"] is not None:
        yield f"              Narrowed by {result['narrowed_by']}."
        yield "              The report and v_findings show the newest whole run, if there is one."
    if result["is_unchanged"]:
        yield "              Nothing has changed since the previous run; these are its findings."
    yield f"Took          {result['seconds']:.1f} s"
    if findings:
        yield ""
        yield from finding_lines(findings)


def as_of_text(result: Row) -> str:
    """Names the zone, unless that is UTC. Messages of findings are stored texts."""
    text = time_text(datetime.fromisoformat(result["as_of_time"]))
    return with_zone(text, "; times inside messages are UTC")


def log_end_lines(result: Row) -> Iterator[str]:
    """Who looks at an old copy of the log must not take it for the present."""
    if result["old_log_end_time"] is not None:
        end, started = (datetime.fromisoformat(result[name]) for name in ("old_log_end_time", "started_time"))
        yield old_log_text(with_zone(time_text(end)), started - end)


def exit_code_text(code: ExitCode, ended_with: int, result: Row) -> str:
    if code == ExitCode.CLEAN and result["verdict"] != "clean":
        return f"{int(code)}: findings of this severity, but none is new"
    if ended_with == code and result.get("report_failed"):
        return f"{int(code)}: {'; '.join(result['report_failed'])}"
    if ended_with == code:
        return f"{int(code)}: {JUDGED[code]}"
    return f"{int(ended_with)}, because of --fail-on never; with --fail-on critical it is {int(code)}"


def expectation_counts(result: Row) -> str:
    failed, errors = result["num_failed"], result["num_errors"]
    return f"{result['num_expectations']:,} expectations: {failed:,} failed, {errors:,} could not be evaluated"


def counting(findings: Sequence[Row]) -> list[Row]:
    """Those that nobody waived."""
    return [row for row in findings if row["waived_until_time"] is None]


def new_finding_lines(findings: Sequence[Row]) -> Iterator[str]:
    """Findings are worst first."""
    new, known = ([row for row in counting(findings) if is_new(row) == wanted] for wanted in (True, False))
    for row in new[:MOST_NEW]:
        heading = HEADINGS.get(row["kind"], row["kind"])
        yield f"{row['severity']:8}  {heading}: {subject(row)}{one_line(row['message'])}"
        if about := evidence(row):
            yield f"            {about}"
    if len(new) > MOST_NEW:
        yield f"          and {len(new) - MOST_NEW:,} more new ones: {summary(new[MOST_NEW:])}; --verbose lists them"
    if known:
        yield f"known     {len(known):,} since before: {summary(known)}; --verbose lists them"
    if waived := len(findings) - len(counting(findings)):
        yield f"waived    {waived:,}"


def finding_lines(findings: Sequence[Row]) -> Iterator[str]:
    """Findings are worst first; those of a kind are shown together, at the place of the worst of them."""
    worst: dict[tuple[str, str], list[Row]] = {}
    for row in counting(findings):
        worst.setdefault((row["severity"], row["kind"]), []).append(row)
    kinds, is_all_new = [(*each, rows) for each, rows in worst.items()], all(map(is_new, counting(findings)))
    for severity, kind, rows in kinds[:MOST_KINDS]:
        num_new = 0 if is_all_new else sum(map(is_new, rows))
        yield f"{severity:8}  {named(kind)}: {len(rows):,}{f', {num_new:,} new' if num_new else ''}"
        # Those that nobody has read yet come first.
        for row in sorted(rows, key=is_new, reverse=True)[:MOST_ROWS]:
            yield f"          {subject(row)}{one_line(row['message'])}"
            if about := evidence(row):
                yield f"            {about}"
        if len(rows) > MOST_ROWS:
            yield f"          and {len(rows) - MOST_ROWS:,} more"
    if len(kinds) > MOST_KINDS:
        left = ", ".join(f"{HEADINGS.get(kind, kind)} ({len(rows):,})" for _, kind, rows in kinds[MOST_KINDS:])
        yield f"          and {left}"
    # They are shown, and do not count.
    waived = [row for row in findings if row["waived_until_time"] is not None]
    if waived:
        yield f"waived    {len(waived):,}"
    for row in waived[:MOST_ROWS]:
        until = f"{row['waived_until_time']:%Y-%m-%d}"
        yield f"          {subject(row)}{one_line(row['message'])}: {named(row['kind'])}, waived until {until}"
    if len(waived) > MOST_ROWS:
        yield f"          and {len(waived) - MOST_ROWS:,} more"
    if findings:
        # Its column `query` is the SQL that lists the rows of each.
        statement = f"SELECT * FROM findings WHERE run_id = '{findings[0]['run_id']}' ORDER BY rank"
        yield f'all       groupscope sql "{statement}"'


def is_new(row: Row) -> bool:
    """Unknown of rows of an older release."""
    return bool(row["is_new"])


def subject(row: Row) -> str:
    """The group; messages name topics themselves."""
    return "" if row["group_id"] is None else f"{visible(row['group_id'])}: "


def named(kind: str) -> str:
    """In words first. A later release may have written others."""
    return f"{HEADINGS[kind]} ({kind})" if kind in HEADINGS else kind


def evidence(row: Row) -> str:
    """Nothing about what is certain and has no records of its own."""
    doubt = "" if row["confidence"] == Confidence.CERTAIN else row["confidence"]
    return "; ".join(filter(None, (doubt, evidence_place(row))))


def evidence_place(row: Row) -> str | None:
    """Some findings are about many records of an offsets partition: they name the partition alone."""
    if row["evidence_partition"] is None:
        return None
    partition = f"{OFFSETS_TOPIC}-{row['evidence_partition']}"
    first, last = row["evidence_first_offset"], row["evidence_last_offset"]
    if first is None or last is None:
        return partition
    records = f"record {first:,}" if first == last else f"records {first:,} to {last:,}"
    return f"{partition}, {records}"


def one_line(text: str) -> str:
    """A line break in a name would draw lines that we did not write."""
    return visible(" ".join(text.split()))


def summary(findings: Sequence[Row]) -> str:
    """Such as `2 critical, 5 warning`."""
    numbers = Counter(row["severity"] for row in counting(findings))
    return ", ".join(f"{numbers[each]:,} {each}" for each in SEVERITIES if numbers[each]) or "no findings"


def summary_with_new(findings: Sequence[Row]) -> str:
    """Such as `2 critical, 5 warning (1 new)`."""
    rows = counting(findings)
    return f"{summary(rows)} ({sum(map(is_new, rows)) or 'none'} new)" if rows else summary(rows)
