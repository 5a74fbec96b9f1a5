"""Why a group rebalanced: the rebalance that holds an instant, or the nearest before it.

    groupscope why billing --at 2026-11-21T03:00

Reads `rebalances`, `membership_intervals` and `partition_moves`. As JSON and CSV: the row of `rebalances`; as JSON with
`members` that came and went and the `moves` of partitions.
"""

import argparse
import sys
from datetime import datetime

from jobs.failure import Failure, say
from jobs.histories.history import History, add_at_flag, add_reader_flags, column_names, opened, state_at
from jobs.histories.rebalance import lines, rebalance_at
from jobs.histories.unseen import Unseen, unseen_of
from jobs.row_output import Format, pad, print_rows, time_text, visible, write_lines
from schemas.exit_codes import ExitCode
from schemas.tables import TABLES

LABEL_WIDTH = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    add_at_flag(parser)
    add_reader_flags(parser)


def run(arguments: argparse.Namespace) -> int:
    history = opened(arguments, "why")
    at = history.instant(arguments.at)
    told = rebalance_at(history, arguments.group, at)
    if told is None:
        # Says so where there was no such group.
        state = state_at(history, arguments.group, at)
        missed = "".join(f"; {each}" for each in unseen_between(history, state["evidence_partition"], -1, at)[-1:])
        message = f"group {arguments.group}: no rebalance is known at or before {time_text(at)}{missed}"
        raise Failure(ExitCode.USAGE, visible(message))
    row = told.rebalance
    for each in unseen_between(history, row["evidence_partition"], row["assignment_offset"], at):
        say(f"{each}: the group may have rebalanced then")
    names = column_names(TABLES["rebalances"])
    if arguments.format == Format.TABLE:
        write_lines(visible(f"{pad(label, LABEL_WIDTH, False)} {text}").rstrip() for label, text in lines(told, at))
    elif arguments.format == Format.CSV:
        print_rows(names, [[told.rebalance[name] for name in names]], arguments.format)
    else:
        whole = [told.rebalance[name] for name in names]
        print_rows([*names, "members", "moves"], [[*whole, told.members, told.moves]], arguments.format)
    return ExitCode.CLEAN


def unseen_between(history: History, partition: int, after_offset: int, at: datetime) -> list[Unseen]:
    """Behind a record, and before the instant."""
    found = unseen_of(history.coverage(partition))
    is_before = (each for each in found if each.from_time is None or each.from_time <= at)
    return [each for each in is_before if each.after_offset >= after_offset]


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["why", *sys.argv[1:]]))
