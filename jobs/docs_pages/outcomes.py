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
    return EXIT_CODES_INTRODUCTION + "".join(f"| {code.value} | {code.meaning} |\n" for code in ExitCode)


def findings_page() -> str:
    rows = (f"| `{kind.value}` | {kind.severity.value} | {kind.heading} | {kind.meaning} |\n" for kind in FindingKind)
    return FINDINGS_INTRODUCTION + "".join(rows)


def main(arguments: list[str]) -> int:
    pages = ((EXIT_CODES, exit_codes_page()), (FINDINGS, findings_page()))
    return max(write_or_check(path, text, "jobs.docs_pages.outcomes", arguments) for path, text in pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
