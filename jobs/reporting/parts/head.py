"""The top of the report: the verdict, and how much of the cluster it rests on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.pages.run_pages import summary_with_new
from jobs.reporting.rows.listings import Row, moment
from jobs.reporting.rows.questions import Answers
from jobs.runs.log_end import is_old, old_log_text
from schemas.words.exit_codes import ExitCode
from udfs.sentences.counts import counted, damage_text
from udfs.sentences.name_lists import list_names
from udfs.sentences.partitions_read import KNOWN, MOST_ENDS, MOST_NAMED, early_texts, never_read

VERDICTS: Mapping[int, tuple[str, str]] = {
    ExitCode.CLEAN: ("clean", "Clean"),
    ExitCode.FINDINGS: ("critical", "Findings"),
    ExitCode.REJECTED_SHARE: ("critical", "Records rejected"),
}
NO_VERDICT = ("unknown", "No verdict")
COVERAGE = "coverage"
GATE, INGEST, REPLAY, LAG = "gate", "ingest", "replay", "lag"
# What makes rows that the report shows, in the order in which they run, and what it lacks without them.
STEPS: Mapping[str, str] = {
    INGEST: "no records have been read",
    REPLAY: "groups, members and rebalances are unknown",
    "assignments": "recorded assignments are not compared with Kafka's own",
    LAG: "lag, verdicts of groups, resets and expiry are unknown",
    GATE: "no checks have run, so there are no findings",
}


@dataclass(frozen=True)
class Fact:
    """A number, and where its rows are: the name of a listing of the page, or of SQL that lists them."""

    title: str
    value: str
    rows: str


@dataclass(frozen=True)
class Head:
    cluster: str
    # A class of the style sheet, and the word.
    look: str
    verdict: str
    exit_code: int | None
    summary: str
    as_of: datetime | None
    run_id: str | None
    finished: datetime | None
    since: datetime | None
    until: datetime | None
    facts: Sequence[Fact]
    notices: Sequence[str]


def head_of(cluster: str, answers: Answers, findings: Sequence[Row], choice: str | None) -> Head:
    newest = newest_runs(answers["runs"])
    gate, coverage = newest.get(GATE), answers["coverage"]
    code = None if gate is None else max(int(gate["exit_code"]), int(newest.get(INGEST, gate)["exit_code"]))
    # Without records there is nothing that could be wrong.
    has_records = any(row["num_records"] for row in coverage)
    is_judged = code is not None and (code != ExitCode.CLEAN or has_records)
    look, verdict = VERDICTS.get(code or 0, ("critical", f"Exit code {code}")) if is_judged else NO_VERDICT
    if is_judged and code == ExitCode.CLEAN and gate is not None and gate["verdict"] != "clean":
        # None of the findings is new.
        look, verdict = VERDICTS[ExitCode.FINDINGS]
    return Head(
        cluster=cluster, look=look, verdict=verdict, exit_code=code,
        summary=summary_of(gate, findings, has_records=has_records),
        as_of=None if gate is None else gate["as_of_time"], run_id=None if gate is None else gate["run_id"],
        finished=None if gate is None else gate["finished_time"],
        since=min((row["from_time"] for row in coverage if row["from_time"]), default=None),
        until=max((row["to_time"] for row in coverage if row["to_time"]), default=None),
        facts=tuple(facts(answers)),
        notices=(*coverage_notices(coverage, findings), *notices(newest, answers, choice)),
    )  # fmt: skip


def summary_of(gate: Row | None, findings: Sequence[Row], *, has_records: bool) -> str:
    if gate is None:
        return "no result: groupscope gate has not run"
    return (
        summary_with_new(findings)
        if findings or has_records
        else "no result: no record of this cluster has been read yet"
    )


def newest_runs(runs: Sequence[Row]) -> dict[str, Row]:
    """The newest run of each job; `runs` begin with the newest."""
    newest: dict[str, Row] = {}
    for row in runs:
        newest.setdefault(row["job"], row)
    return newest


def facts(answers: Answers) -> Iterator[Fact]:
    coverage, snapshots = answers["coverage"], answers["snapshots"][0]
    total = sum(row["num_records"] or 0 for row in coverage)
    yield Fact("Offsets partitions", partitions_read(coverage), COVERAGE)
    yield Fact("Records read", f"{total:,}", COVERAGE)
    rejected = answers["rejected"][0]
    yield Fact("Rejected", f"{rejected['num_rejected']:,}", "rejected")
    yield Fact("Damaged", damage_of(rejected, coverage), "damaged" if rejected["num_damaged_ranges"] else COVERAGE)
    yield Fact("Holes in the log", f"{sum(row['num_spans'] - 1 for row in coverage if row['num_spans']):,}", COVERAGE)
    yield Fact(
        "Compacted away, about", f"{sum(row['compacted_records_estimate'] or 0 for row in coverage):,}", COVERAGE
    )
    yield Fact("Snapshots", f"{snapshots['num_snapshots']:,}", "snapshots")
    if snapshots["last_time"] is not None:
        yield Fact("Newest snapshot", moment(snapshots["last_time"]), "snapshots")


def partitions_read(coverage: Sequence[Row]) -> str:
    """Such as 42 of 50."""
    read = sum(row["reading"] in KNOWN for row in coverage)
    number = next((row["num_partitions"] for row in coverage if row["num_partitions"] is not None), None)
    return f"{read:,}" if number is None else f"{read:,} of {number:,}"


def coverage_notices(coverage: Sequence[Row], findings: Sequence[Row]) -> Iterator[str]:
    if missing := never_read(coverage):
        named = list_names([str(each) for each in missing], MOST_NAMED)
        yield f"Offsets partitions never read: {named}. Nothing is known of the groups in them."
    if texts := [*early_texts(coverage, findings)]:
        yield f"The end of the log is missing: {list_names(texts, MOST_ENDS, '; ')}."


def damage_of(rejected: Row, coverage: Sequence[Row]) -> str:
    """Two copies may be damaged at the same place: the replay counts their records once."""
    num_ranges, num_bytes = rejected["num_damaged_ranges"], rejected["damaged_bytes"] or 0
    num_records = sum([row["damaged_records"] or 0 for row in coverage] or [rejected["damaged_records"] or 0])
    if not num_ranges:
        return counted(num_records, "record") if num_records else "0"
    return damage_text("range", num_ranges, num_bytes, num_records, is_estimated=rejected["is_damage_estimated"])


def notices(newest: Mapping[str, Row], answers: Answers, choice: str | None) -> Iterator[str]:
    """What a reader must know before trusting the page."""
    for job, missing in STEPS.items():
        if job not in newest:
            yield f"groupscope {job} has not run on this cluster: {missing}."
    gate, ingest = newest.get(GATE), newest.get(INGEST)
    if gate is not None and ingest is not None and ingest["run_id"] > gate["run_id"]:
        yield f"Records were read at {moment(ingest['finished_time'])}, after the verdict: run groupscope gate again."
    if REPLAY in newest and not answers["groups"]:
        yield "The history holds no group."
    if not answers["snapshots"][0]["num_snapshots"]:
        yield "There are no snapshots, so lag is unknown. To have it, run groupscope capture."
    for row in answers["log_end"]:
        end, started = row["log_end_time"], row["started_time"]
        if end is not None and is_old(end, row["end_shown_time"], started, row["max_source_age_hours"]):
            yield f"{old_log_text(moment(end), started - end)}."
    for row in answers["narrowed"]:
        if row["is_shown"]:
            yield f"Not all findings are here: the run was narrowed by {row['narrowed_by']}, and there is no whole one."
        else:
            when = moment(row["finished_time"])
            yield f"The newest run, of {when}, was narrowed by {row['narrowed_by']}: its findings are not shown here."
    if choice is not None:
        yield f"This report shows: {choice}. The result and the exit code are those of all groups."
