"""The committed offsets of a group at an instant, as the CSV that kafka-consumer-groups takes.

    groupscope offsets billing --at 2026-11-21T03:00 > offsets.csv
    kafka-consumer-groups.sh … --group billing --reset-offsets --from-file offsets.csv --execute

Reads `offset_history`. A transaction that was open then counts for nothing, as it did for consumers.
"""

import argparse
import sys
from collections.abc import Sequence

from jobs.failure import say
from jobs.histories.assigned import committed_at
from jobs.histories.history import add_at_flag, add_reader_flags, opened, print_answer, state_at
from jobs.histories.unseen import say_unseen_offsets
from jobs.row_output import Format, csv_cell, time_text, visible, write_lines
from schemas.exit_codes import ExitCode

COLUMNS = ("topic", "partition", "offset")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    add_at_flag(parser)
    add_reader_flags(parser)
    parser.set_defaults(format=Format.CSV.value)


def run(arguments: argparse.Namespace) -> int:
    history = opened(arguments, "offsets")
    at = history.instant(arguments.at)
    state_at(history, arguments.group, at)
    committed = committed_at(history, arguments.group, at)
    rows = [(*place, row["committed_offset"]) for place, row in committed.items()]
    if not rows:
        say(visible(f"group {arguments.group} had no committed offset at {time_text(at)}"))
    say_below_zero(rows)
    say_unseen_offsets(history, arguments.group, at)
    if arguments.format == Format.CSV:
        # Without names of columns: Kafka's tool would take them for a partition.
        write_lines(",".join(map(csv_cell, row)) for row in rows)
    else:
        print_answer(COLUMNS, rows, arguments.format)
    return ExitCode.CLEAN


def say_below_zero(rows: Sequence[tuple[str, int, int]]) -> None:
    """What was committed is data, whatever it is; but a reset to it would not put the group back."""
    odd = [f"{topic}-{partition} at {offset}" for topic, partition, offset in rows if partition < 0 or offset < 0]
    if odd:
        more = f" and {len(odd) - 1} more" if odd[1:] else ""
        told = "below zero, as committed: kafka-consumer-groups sets the earliest offset in place of a negative one"
        say(visible(f"{odd[0]}{more}: {told}"))


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["offsets", *sys.argv[1:]]))
