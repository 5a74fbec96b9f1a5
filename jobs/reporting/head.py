"""The top of the first screen: the verdict and what it rests on, what is wrong in a sentence, and what is not known."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobs.output.failure import visible
from jobs.reporting.columns import Json, ms
from jobs.reporting.commands import command
from jobs.runs.log_end import is_old, old_log_text
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from schemas.words.history import Severity
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names
from udfs.sentences.partitions_read import MOST_ENDS, MOST_NAMED, early_texts, never_read

Row = Mapping[str, Any]
Answers = Mapping[str, Sequence[Row]]
Sentence = list[Json]
VERDICTS: Mapping[int, tuple[str, str]] = {
    ExitCode.CLEAN: ("clean", "Clean"),
    ExitCode.FINDINGS: ("critical", "Findings"),
    ExitCode.REJECTED_SHARE: ("critical", "Records rejected"),
}
NO_VERDICT = ("unknown", "No verdict")
GATE, INGEST, REPLAY, LAG = "gate", "ingest", "replay", "lag"
# What makes rows that the report shows, in the order in which they run, and what it lacks without them.
STEPS: Mapping[str, str] = {
    INGEST: "no records have been read",
    REPLAY: "groups, members and rebalances are unknown",
    "assignments": "recorded assignments are not compared with Kafka's own",
    LAG: "lag, verdicts of groups, resets and expiry are unknown",
    GATE: "no checks have run, so there are no findings",
}
MEANINGS = {kind.value: (kind.heading, kind.meaning) for kind in FindingKind}
# In place of a time within a text.
KEPT = "\0"
# What a group no longer does. Its name is said before it.
OF_GROUP = "group "
SEVERITIES = [severity.value for severity in Severity]
# Of groups in the sentence, each with its worst finding.
MOST_SAID = 2


def newest_runs(runs: Sequence[Row]) -> dict[str, Row]:
    """The newest run of each job; `runs` begin with the newest."""
    newest: dict[str, Row] = {}
    for row in runs:
        newest.setdefault(row["job"], row)
    return newest


def head_of(answers: Answers) -> dict[str, Json]:
    """What the newest whole run says, and what it rests on."""
    newest, coverage = newest_runs(answers["runs"]), answers["coverage"]
    gate = newest.get(GATE)
    code = None if gate is None else max(int(gate["exit_code"]), int(newest.get(INGEST, gate)["exit_code"]))
    # Without records there is nothing that could be wrong.
    is_judged = code is not None and (code != ExitCode.CLEAN or has_records(coverage))
    look, verdict = VERDICTS.get(code or 0, ("critical", f"Exit code {code}")) if is_judged else NO_VERDICT
    if is_judged and code == ExitCode.CLEAN and gate is not None and gate["verdict"] != "clean":
        # None of the findings is new.
        look, verdict = VERDICTS[ExitCode.FINDINGS]
    return {
        "verdict": verdict, "look": look, "exit_code": code,
        "run_id": None if gate is None else gate["run_id"],
        "as_of": None if gate is None else ms(gate["as_of_time"]),
        "finished": None if gate is None else ms(gate["finished_time"]),
        "since": ms(min((row["from_time"] for row in coverage if row["from_time"]), default=None)),
        "until": ms(max((row["to_time"] for row in coverage if row["to_time"]), default=None)),
    }  # fmt: skip


def has_records(coverage: Sequence[Row]) -> bool:
    return any(row["num_records"] for row in coverage)


def sentence(answers: Answers, findings: Sequence[Row], num_groups: int) -> Sentence:
    """Such as `3 critical: py-sticky silent since 17:36, 1,318 messages wait; …`. `findings`: without waived ones."""
    if GATE not in newest_runs(answers["runs"]):
        return ["no result: groupscope gate has not run"]
    if not findings and not has_records(answers["coverage"]):
        return ["no result: no record of this cluster has been read yet"]
    worst = next((each for each in SEVERITIES if any(row["severity"] == each for row in findings)), None)
    if worst is None:
        return [f"nothing is wrong in {counted(num_groups, 'group')}"]
    some = [row for row in findings if row["severity"] == worst]
    is_info = worst == Severity.INFO
    parts: Sentence = [*(["nothing critical, no warning; "] if is_info else []), {"n": len(some)}]
    parts.append(f" {worst}{'s' if worst != Severity.CRITICAL and len(some) != 1 else ''}: ")
    # Without a group a finding is about something of its own.
    first = {row["group_id"] or place: row for place, row in reversed([*enumerate(some)])}
    shown = [row for row in some if any(row is each for each in first.values())][:MOST_SAID]
    for place, row in enumerate(shown):
        parts += [*(["; "] if place else []), *said(row)]
    if len(some) > len(shown):
        parts.append(f"; {len(some) - len(shown):,} more")
    others = Counter(row["severity"] for row in findings)
    later = [f"{others[each]:,} {each}" for each in SEVERITIES if each != worst and others[each]]
    return [*parts, *([f"; {', '.join(later)}"] if later else [])]


def said(row: Row) -> Sentence:
    """Who, what, since when, how much waits."""
    heading, group = MEANINGS.get(row["kind"], (row["kind"],))[0], row["group_id"]
    since = ms(row["since_time"] or row["at_time"])
    parts: Sentence = [heading]
    if group is not None:
        parts = [{"g": visible(group), "t": since}, f" {heading.removeprefix(OF_GROUP)}"]
    if since is not None:
        parts += [" since " if row["at_time"] is None else " at ", {"t": since}]
    if row["messages_waiting"]:
        number = int(row["messages_waiting"])
        parts += [", ", {"n": number}, " message waits" if number == 1 else " messages wait"]
    return parts


def notices(answers: Answers, findings: Sequence[Row], choice: str | None, warehouse: str) -> Iterator[Sentence]:
    """What a reader must know before trusting the page; each with what brings what is missing."""
    newest, coverage = newest_runs(answers["runs"]), answers["coverage"]
    if missing := never_read(coverage):
        named = list_names([str(each) for each in missing], MOST_NAMED)
        yield [f"Offsets partitions never read: {named}. Nothing is known of the groups in them."]
    if texts := [*early_texts(coverage, findings)]:
        yield [f"The end of the log is missing: {list_names(texts, MOST_ENDS, '; ')}."]
    for job, missing_there in STEPS.items():
        if job not in newest:
            yield [f"groupscope {job} has not run on this cluster: {missing_there}. Run: {command(job, warehouse)}"]
    gate, ingest = newest.get(GATE), newest.get(INGEST)
    if gate is not None and ingest is not None and ingest["run_id"] > gate["run_id"]:
        again = command(GATE, warehouse)
        yield ["Records were read at ", {"t": ms(ingest["finished_time"])}, f", after the verdict. Run again: {again}"]
    if REPLAY in newest and not answers["groups"]:
        yield ["The history holds no group."]
    if not answers["snapshots"][0]["num_snapshots"]:
        capture = command("capture", warehouse, "--source", "kafka:HOST:9092", "--every", "60", "--for", "3600")
        unknown = "There are no snapshots, so lag is unknown: it needs the ends of the topics' logs."
        yield [f"{unknown} One line brings them: {capture}"]
    for row in answers["log_end"]:
        end, started = row["log_end_time"], row["started_time"]
        if end is not None and is_old(end, row["end_shown_time"], started, row["max_source_age_hours"]):
            before, _, after = old_log_text(KEPT, started - end).partition(KEPT)
            yield [before, {"t": ms(end)}, f"{after}."]
    for row in answers["narrowed"]:
        by = f"narrowed by {row['narrowed_by']}"
        later = [
            "The newest run, of ",
            {"t": ms(row["finished_time"])},
            f", was {by}: its findings are not shown here.",
        ]
        only = [f"Not all findings are here: the run was {by}, and there is no whole one."]
        yield only if row["is_shown"] else later
    if choice is not None:
        yield [f"This report shows: {choice}. The result and the exit code are those of all groups."]
