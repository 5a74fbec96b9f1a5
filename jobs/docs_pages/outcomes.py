"""Writes docs/exit_codes.md and docs/findings.md. With --check it only says whether the pages are current.

python -m jobs.docs_pages.outcomes [--check]
"""

import sys
from pathlib import Path

from jobs.docs_pages.page_file import write_or_check
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind

EXIT_CODES = Path("docs/exit_codes.md")
FINDINGS = Path("docs/findings.md")

EXIT_CODES_INTRODUCTION = """# Exit codes

Generated from `schemas/words/exit_codes.py`: the same for every command. If several apply, the code is 21 rather than
22, and 22 rather than 20. Some cluster managers hide the exit code of a Spark application. You also find it in the
column `exit_code` of the table `runs`, in the file `_runs/RUN.json` of the warehouse (`RUN` is the run id), and in the
file of `--result-file`. There it is the code of `--fail-on critical` where the command had `--fail-on never`, so that
schedulers can ask for it. With `--fail-on critical-new` the code may be 0 although there are findings, if none is new:
then the `verdict` is `findings` all the same. [What to do](operations.md#the-schedule) after each.

| code | meaning |
|---|---|
"""
CASES_INTRODUCTION = """
## Cases

Each of these commands is run by a test, which expects this code and this line. On the run page and on that of `gate`
the code is the one that the command ends with. Where a command ends with 2, 21 or 23 the line is all that it prints.

| case | command | code | line |
|---|---|---|---|
"""
# `log`: that of a cluster; `w`: its warehouse; `sample`: one with critical findings. `full`, `locked`: a disk that is
# full, and one that may only be read, with a warehouse on each.
CASES: tuple[tuple[str, str, ExitCode, str], ...] = (
    (
        "Nothing critical is wrong.",
        "audit --source segments:log --warehouse w",
        ExitCode.CLEAN,
        "CLEAN, exit code 0: …",
    ),
    (
        "The first audit of a copy of a log that was made long ago: the page says when it ends.",
        "audit --source segments:log --warehouse new",
        ExitCode.CLEAN,
        "The log ends …, … before this run",
    ),
    (
        "There are critical findings.",
        "gate --warehouse sample --config sample.toml",
        ExitCode.FINDINGS,
        "Exit code 20: findings at …",
    ),
    (
        "There are critical findings, and the command must not fail for them.",
        "gate --warehouse sample --config sample.toml --fail-on never",
        ExitCode.CLEAN,
        "Exit code 0, because of --fail-on never; with --fail-on critical it is 20",
    ),
    (
        "Something critical lasts, and a script asks for it.",
        "status --warehouse sample --exit-code",
        ExitCode.FINDINGS,
        "… of 26 groups are not well; …",
    ),
    (
        "A suite of expectations cannot be evaluated.",
        "gate --warehouse w --config broken/groupscope.toml",
        ExitCode.FINDINGS,
        "checks of mine: 1 of 1 expectation could not be evaluated: …",
    ),
    (
        "The report cannot be written.",
        "audit --source segments:log --warehouse w --report full/r",
        ExitCode.FINDINGS,
        "critical report not written: --report …full/r: No space left on device; …",
    ),
    (
        "The same, in the next audit: known, so that who is alerted once for each is not alerted again.",
        "audit --source segments:log --warehouse w --report full/r --fail-on critical-new",
        ExitCode.CLEAN,
        "FINDINGS, exit code 0 because none is new: 1 critical, …",
    ),
    (
        "The audit after that writes its report, and reports that the one before did not.",
        "audit --source segments:log --warehouse w --verbose",
        ExitCode.FINDINGS,
        "the audit of … could not write it: --report …full/r: No space left on device; …",
    ),
    (
        "The file for Prometheus cannot be written.",
        "audit --source segments:log --warehouse w --prometheus full/groupscope.prom",
        ExitCode.FINDINGS,
        "critical report not written: --prometheus full/groupscope.prom: No space left on device; …",
    ),
    (
        "The file for the result cannot be written.",
        "lag --warehouse w --result-file full/result.json",
        ExitCode.FINDINGS,
        "groupscope: --result-file full/result.json: No space left on device; …",
    ),
    (
        "A flag is mistyped.",
        "audit --source segments:log --warehous w",
        ExitCode.USAGE,
        "groupscope: no flag --warehous (did you mean --warehouse?); …",
    ),
    (
        "The file for the result would be in a folder that is not there.",
        "audit --source segments:log --warehouse w --result-file none/result.json",
        ExitCode.USAGE,
        "groupscope: --result-file none/result.json: there is no folder none; …",
    ),
    (
        "The warehouse has no such group.",
        "why modern-statik --warehouse sample",
        ExitCode.USAGE,
        'groupscope: no group "modern-statik"; did you mean "modern-static"? …',
    ),
    (
        "A setting is mistyped.",
        "gate --warehouse w --config wrong/groupscope.toml",
        ExitCode.USAGE,
        "groupscope: wrong/groupscope.toml: …max_source_age_hours…",
    ),
    (
        "The log is not where it should be.",
        "audit --source segments:none --warehouse w",
        ExitCode.UNREADABLE_INPUT,
        "groupscope: segments:none: no such folder; …",
    ),
    (
        "The log is of another cluster than the warehouse.",
        "audit --source segments:other --warehouse w",
        ExitCode.UNREADABLE_INPUT,
        "groupscope: …/00000000000000000000.log: conflicts with the warehouse …; …--cluster NAME",
    ),
    (
        "The source has no record, and nothing is known of the cluster.",
        "audit --source segments:empty --warehouse unused",
        ExitCode.UNREADABLE_INPUT,
        "groupscope: segments:empty: there is no record of __consumer_offsets in 1 file, and nothing is known of …",
    ),
    (
        "A copy of the log is packed.",
        "ingest --source segments:packed --warehouse unused",
        ExitCode.UNREADABLE_INPUT,
        "groupscope: …/00000000000000000000.log.gz: is packed; unpack it first…",
    ),
    (
        "Snapshots are of another Kafka cluster than the log.",
        "ingest --source segments:named --snapshots foreign/snapshots.jsonl --warehouse unused",
        ExitCode.UNREADABLE_INPUT,
        "groupscope: …foreign/snapshots.jsonl…",
    ),
    (
        "A hundredth of the records is in damaged bytes.",
        "ingest --source segments:damaged --warehouse new",
        ExitCode.REJECTED_SHARE,
        "run …; … records read: …",
    ),
    (
        "Another run works on the warehouse for longer than this one waits.",
        "audit --source segments:log --warehouse busy --lock-wait 0",
        ExitCode.UNUSABLE_WAREHOUSE,
        "groupscope: …busy: busy with audit (…), not free within 0 s (--lock-wait)",
    ),
    (
        "Ctrl-C, while it waits.",
        "audit --source segments:log --warehouse busy",
        ExitCode.INTERRUPTED,
        "groupscope: interrupted",
    ),
    (
        "The warehouse is on a disk that may only be read.",
        "audit --source segments:log --warehouse locked/w",
        ExitCode.UNUSABLE_WAREHOUSE,
        "groupscope: …locked/w: is read-only; …",
    ),
    (
        "The disk of the warehouse is full.",
        "ingest --source segments:more --warehouse full/w",
        ExitCode.UNUSABLE_WAREHOUSE,
        "groupscope: …full/w: …No space left on device",
    ),
    (
        "A newer release has written the warehouse.",
        "groups --warehouse newer",
        ExitCode.UNUSABLE_WAREHOUSE,
        "groupscope: newer: has table format 99, …: use a newer groupscope",
    ),
    (
        "A file of a table is cut.",
        "sql --warehouse cut 'SELECT * FROM runs'",
        ExitCode.UNUSABLE_WAREHOUSE,
        "groupscope: cut/runs/_delta_log/….json: is damaged: …, which says how to repair it",
    ),
    (
        "The folder is no warehouse.",
        "groups --warehouse log",
        ExitCode.UNUSABLE_WAREHOUSE,
        "groupscope: log: …",
    ),
)
FINDINGS_INTRODUCTION = """# Findings

Generated from `schemas/words/gate.py`: the kinds of findings that `groupscope audit` and `groupscope gate` report, with
their usual severity. A single finding may have another one: the table `findings` says which. That table has all
findings of a run, worst first, each with its records and a `query` that lists the rows about it. Thresholds are
[settings](settings.md#gate). If you accept a finding, write a [waiver](operations.md#waivers): then it does not count
until a date. [Words](words.md) explains the words used here.

**One cause is one finding**, for all topics and partitions of a group. If a whole group is silent, its partitions are
not listed one by one. What began while a group is silent, or a partition stopped, and follows from it is no finding of
its own: the finding says so, and its `query` lists those rows too. Messages lost, offsets reset and offsets expired
always stay findings.

**The same finding in two runs** has the same `kind`, `subject` (such as the group) and `at_time`. Conditions that last
have no `at_time`: they have `since_time`. An event has the time at which it began, also when it goes on. If a silence
spreads from a partition to the member and the whole group, its kind changes, and `first_seen_time` stays.

**An event stays a finding** of every run whose as-of time is within `event_term_days` of it. A condition is a finding
as long as it lasts. `is_new` is true if no run as of an earlier time reported the finding, or if the last one that did
called it less severe. A condition that returns after a run without it is new. Runs that flags such as `--group`
narrowed do not count. `v_findings` shows the newest whole run, with the age of each finding.

| kind | severity | in few words | meaning |
|---|---|---|---|
"""


def exit_codes_page() -> str:
    codes = (f"| {code.value} | {code.meaning} |\n" for code in ExitCode)
    cases = (f"| {case} | `groupscope {command}` | {code.value} | `{line}` |\n" for case, command, code, line in CASES)
    return "".join((EXIT_CODES_INTRODUCTION, *codes, CASES_INTRODUCTION, *cases))


def findings_page() -> str:
    rows = (f"| `{kind.value}` | {kind.severity.value} | {kind.heading} | {kind.meaning} |\n" for kind in FindingKind)
    return FINDINGS_INTRODUCTION + "".join(rows)


def main(arguments: list[str]) -> int:
    pages = ((EXIT_CODES, exit_codes_page()), (FINDINGS, findings_page()))
    return max(write_or_check(path, text, "jobs.docs_pages.outcomes", arguments) for path, text in pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
