"""Lists the groups of any past time, in the format of kafka-consumer-groups --list --type --state, with their last
commit and the verdict on them.

    groupscope groups --at 2026-11-21T03:00 --state Empty

Reads `group_state_intervals`, `offset_history` and `group_verdicts`. Lists groups of every type, also those that
kafka-consumer-groups leaves out, such as share groups and groups of Kafka Connect. VERDICT is that of the newest audit
that is not as of a later time. In tables LAST-COMMIT has no date if it is of the same day.
"""

import argparse
from datetime import datetime
from typing import Any

from jobs.answers.history import History, open_history, print_answer, print_time
from jobs.answers.last_commits import COLUMNS as OF_COMMITS
from jobs.answers.last_commits import last_commits, last_of_groups
from jobs.answers.missing_records import check_seen_at
from jobs.answers.unnamed_topics import say_unnamed
from jobs.answers.verdicts import Verdicts, group_verdicts
from jobs.output.failure import say
from jobs.output.rows import Format, clock_text
from schemas.words.records import GroupType

COLUMNS = ("GROUP", "TYPE", "STATE", "PROTOCOL")
WITH_VERDICTS = (*COLUMNS, "LAST-COMMIT-TIME", "VERDICT", "VERDICT-REASON", "VERDICT-AS-OF-TIME")

Cells = list[Any]


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    at = history.instant(arguments.at)
    check_seen_at(history, at)
    print_time(arguments, at)
    say_unnamed(history)
    lines = group_lines(history, at, arguments)
    rows = history.rows_at("offset_history", at, columns=OF_COMMITS)
    commits = last_of_groups(rows, last_commits(history, rows, at))
    verdicts = group_verdicts(history, None if arguments.at is None else at)
    if arguments.format == Format.TABLE:
        print_table(lines, commits, verdicts, at, is_wide=arguments.wide)
    else:
        rest = ([commits.get(group), *verdict_cells(verdicts, group)] for group, *_ in lines)
        print_answer(WITH_VERDICTS, [[*line, *more] for line, more in zip(lines, rest, strict=True)], arguments.format)


def print_table(
    lines: list[Cells], commits: dict[str, datetime], verdicts: Verdicts, at: datetime, *, is_wide: bool
) -> None:
    """Without VERDICT if there is none of any group."""
    verdicts.say_as_of(at)
    names, rows = [*COLUMNS, "LAST-COMMIT"], [[*line, clock_text(commits.get(line[0]), at)] for line in lines]
    if verdicts.as_of is not None:
        names.append("VERDICT")
        rows = [[*row, verdict_cells(verdicts, row[0])[0]] for row in rows]
    print_answer(names, rows, Format.TABLE, is_wide=is_wide)


def verdict_cells(verdicts: Verdicts, group: str) -> Cells:
    row = verdicts.of_groups.get(group)
    return [None, None, None] if row is None else [row["own_verdict"], row["reason"], verdicts.as_of]


def group_lines(history: History, at: datetime, arguments: argparse.Namespace) -> list[Cells]:
    rows = history.rows_at("group_state_intervals", at)
    if number := sum(row["state"] is None for row in rows):
        is_narrow = arguments.type is not None or arguments.state is not None
        left_out = "; they are left out, since --type and --state cannot be compared" if is_narrow else ""
        say(f"groups with unknown TYPE or STATE, because records are missing: {number}{left_out}")
    wanted = (
        row for row in rows if arguments.type in (None, row["group_type"]) and arguments.state in (None, row["state"])
    )
    # For groups that are not classic, the protocol is their type. A group with only offsets has none.
    return [
        [
            row["group_id"],
            row["group_type"] and row["group_type"].capitalize(),
            row["state"],
            (row["protocol_type"] or "") if row["group_type"] == GroupType.CLASSIC else row["group_type"],
        ]
        for row in sorted(wanted, key=lambda row: str(row["group_id"]))
    ]
