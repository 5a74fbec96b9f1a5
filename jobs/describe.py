"""Shows a group at any past time, with the columns of kafka-consumer-groups --describe.

    groupscope describe billing --at 2026-11-21T03:00
    groupscope describe billing --members --verbose

Reads history tables. LOG-END-OFFSET, LAG and COORDINATOR are not in the log: they come from the newest snapshot at or
before that time, which CSV and JSON show as SNAPSHOT-TIME. Tables leave out GROUP and shorten member ids; --wide shows
all columns of Kafka's tool.
"""

import argparse
import sys

from jobs.answers.history import (
    open_history,
    print_answer,
    say_as_kafka,
    state_at,
)
from jobs.answers.missing_records import say_unseen_offsets
from jobs.answers.narrow_tables import member_ids, print_narrow
from jobs.answers.states import description
from jobs.answers.unnamed_topics import say_listed_twice, say_unnamed
from jobs.output.rows import Format
from schemas.words.exit_codes import ExitCode

# Left out of narrow tables: all rows are of the requested group.
LEFT_OUT = {"offsets": {"GROUP"}, "members": {"GROUP"}, "state": set()}
LEFT_OUT_VERBOSE = {"HOST", "#PARTITIONS"}
ANSWERS = {"offsets": description.offsets, "members": description.members, "state": description.group_state}


def run(arguments: argparse.Namespace) -> int:
    history = open_history(arguments)
    at = history.instant(arguments.at)
    state = state_at(history, arguments.group, at)
    answer = ANSWERS[arguments.shown](history, state, at, arguments.verbose)
    unnamed = say_unnamed(history)
    say_as_kafka(state)
    if arguments.shown == "offsets":
        say_listed_twice([row[answer.names.index("TOPIC")] for row in answer.rows], unnamed)
        say_unseen_offsets(history, arguments.group, at)
    if arguments.format == Format.TABLE and not arguments.wide:
        print_narrow(answer.names, answer.rows, member_ids(history, arguments.group), left_out(arguments, answer))
    elif arguments.format == Format.TABLE:
        print_answer(answer.names, answer.rows, arguments.format, is_wide=True)
    else:
        rows = [[*row, *more] for row, *more in zip(answer.rows, *answer.beside.values(), strict=True)]
        print_answer([*answer.names, *answer.beside], rows, arguments.format)
    return ExitCode.CLEAN


def left_out(arguments: argparse.Namespace, answer: description.DescribedRows) -> set[str]:
    """For members also columns without a value, and columns that the assignments already show."""
    always = LEFT_OUT[arguments.shown]
    if arguments.shown != "members" or not arguments.verbose:
        return always
    return always | LEFT_OUT_VERBOSE | description.empty_columns(answer)


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["describe", *sys.argv[1:]]))
