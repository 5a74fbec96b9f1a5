"""The flags of `groupscope offsets`."""

import argparse

from jobs.command_line.flags import add_at_flag, add_reader_flags, add_wide_flag
from jobs.output.rows import Format


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    add_at_flag(parser)
    add_reader_flags(
        parser,
        Format.CSV,
        "output as CSV without column names, as kafka-consumer-groups reads it (the default), as an aligned table or "
        "as JSON lines",
    )
    add_wide_flag(parser)
