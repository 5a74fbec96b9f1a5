"""Shows a group at any past time, in the columns of kafka-consumer-groups --describe, with its last commit and verdict.

    groupscope describe billing --at 2026-11-21T03:00
    groupscope describe billing --members --verbose

Reads history tables and `group_verdicts`. LOG-END-OFFSET, LAG and COORDINATOR are not in the log: they come from the
newest snapshot at or before that time, which CSV and JSON show as SNAPSHOT-TIME. BEYOND-END is how far a committed
offset is beyond the end of the log: its LAG is 0. The verdict is that of the newest audit that is not as of a later
time. Tables leave out GROUP and shorten member ids, and have the column VERDICT only if a partition is not OK; --wide
shows all columns of Kafka's tool.
"""

import argparse
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from jobs.answers.history import History, open_history, print_answer, print_time, say_as_kafka, state_at
from jobs.answers.missing_records import say_unseen_offsets
from jobs.answers.narrow_tables import member_ids, print_narrow
from jobs.answers.states import description
from jobs.answers.states.members import committed_at
from jobs.answers.table_reader import Row
from jobs.answers.unnamed_topics import say_listed_twice, say_unnamed
from jobs.answers.verdicts import Verdicts, partition_verdicts
from jobs.output.rows import Format, print_facts, time_text, write_lines

# Left out of narrow tables: all rows are of the requested group.
LEFT_OUT = {"offsets": {"GROUP"}, "members": {"GROUP"}, "state": set()}
LEFT_OUT_VERBOSE = {"HOST", "#PARTITIONS"}
ANSWERS = {"offsets": description.offsets, "members": description.members, "state": description.group_state}


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    at, group = history.instant(arguments.at), arguments.group
    state = state_at(history, group, at)
    answer = ANSWERS[arguments.shown](history, state, at, arguments.verbose)
    print_time(arguments, at)
    unnamed = say_unnamed(history)
    say_as_kafka(state)
    if arguments.shown == "offsets":
        say_listed_twice([row[answer.names.index("TOPIC")] for row in answer.rows], unnamed)
        say_unseen_offsets(history, group, at)
    verdicts = partition_verdicts(history, group, None if arguments.at is None else at)
    last_commit = newest_commit(history, group, answer, at)
    if arguments.shown == "offsets":
        places = (answer.names.index("TOPIC"), answer.names.index("PARTITION"))
        of_rows = [verdicts.of_partitions.get(tuple(row[place] for place in places)) for row in answer.rows]
        answer = answer.with_columns(verdict_columns(verdicts, of_rows))
    elif arguments.shown == "state":
        columns = verdict_columns(verdicts, [verdicts.of_groups.get(group)])
        answer = answer.with_columns({"LAST-COMMIT-TIME": [last_commit], **columns})
    if arguments.format == Format.TABLE:
        shown = answer.of_table
        if arguments.wide:
            print_answer(shown.names, shown.rows, arguments.format, is_wide=True)
        else:
            print_narrow(shown.names, shown.rows, member_ids(history, group), left_out(arguments, shown))
        # What holds of the whole group. A warehouse without audits has no verdict on any group.
        facts = [] if last_commit is None else [("Last commit", time_text(last_commit))]
        facts += [] if verdicts.is_empty else [("Verdict", verdicts.group_text(group, at))]
        write_lines([""] if facts else [])
        print_facts(facts)
    else:
        rows = [[*row, *more] for row, *more in zip(answer.rows, *answer.beside.values(), strict=True)]
        print_answer([*answer.names, *answer.beside], rows, arguments.format)


def newest_commit(history: History, group: str, answer: description.DescribedRows, at: datetime) -> datetime | None:
    """Of the offsets that are in effect."""
    times = answer.beside.get("LAST-COMMIT-TIME")
    if times is None:
        times = [*description.commit_times(history, committed_at(history, group, at), at).values()]
    return max((time for time in times if time is not None), default=None)


def verdict_columns(verdicts: Verdicts, rows: Sequence[Row | None]) -> dict[str, list[Any]]:
    """`rows`: of group_verdicts; None: there is none."""
    return {
        "VERDICT": [row and row["own_verdict"] for row in rows],
        "VERDICT-REASON": [row and row["reason"] for row in rows],
        "VERDICT-AS-OF-TIME": [row and verdicts.as_of for row in rows],
    }


def left_out(arguments: argparse.Namespace, answer: description.DescribedRows) -> set[str]:
    """For members also columns without a value, and columns that the assignments already show."""
    always = LEFT_OUT[arguments.shown]
    if arguments.shown != "members" or not arguments.verbose:
        return always
    return always | LEFT_OUT_VERBOSE | description.empty_columns(answer)
