"""A group at an instant, in the columns and words of kafka-consumer-groups --describe.

    groupscope describe billing --at 2026-11-21T03:00
    groupscope describe billing --members --verbose

Reads history tables, and snapshots for what the log does not hold: LOG-END-OFFSET, LAG and COORDINATOR come from the
nearest snapshot at or before the instant, whose time CSV and JSON have as SNAPSHOT-TIME.
"""

import argparse
import sys

from jobs.histories import described
from jobs.histories.history import add_at_flag, add_reader_flags, opened, print_answer, say_as_kafka, state_at
from jobs.histories.unseen import say_unseen_offsets
from jobs.row_output import Format
from schemas.exit_codes import ExitCode

ANSWERS = {"offsets": described.offsets, "members": described.members, "state": described.group_state}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    shown = parser.add_mutually_exclusive_group()
    texts = {
        "offsets": "committed offsets, lag and owners (the default)",
        "members": "the members and how much each owns",
        "state": "state, assignor and coordinator",
    }
    for name, text in texts.items():
        shown.add_argument(f"--{name}", dest="shown", action="store_const", const=name, default="offsets", help=text)
    parser.add_argument("--verbose", action="store_true", help="more columns: epochs and assignments")
    add_at_flag(parser)
    add_reader_flags(parser)


def run(arguments: argparse.Namespace) -> int:
    history = opened(arguments, "describe")
    at = history.instant(arguments.at)
    state = state_at(history, arguments.group, at)
    answer = ANSWERS[arguments.shown](history, state, at, arguments.verbose)
    say_as_kafka(state)
    if arguments.shown == "offsets":
        say_unseen_offsets(history, arguments.group, at)
    if arguments.format == Format.TABLE:
        print_answer(answer.names, answer.rows, arguments.format)
    else:
        rows = [[*row, *more] for row, *more in zip(answer.rows, *answer.beside.values(), strict=True)]
        print_answer([*answer.names, *answer.beside], rows, arguments.format)
    return ExitCode.CLEAN


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["describe", *sys.argv[1:]]))
