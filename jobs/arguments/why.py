"""The flags of `groupscope why`."""

import argparse

from jobs.command_line.flags import add_at_flag, add_reader_flags, add_wide_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    add_at_flag(parser, "explain the event at this time, or the nearest one before or after it")
    add_reader_flags(parser)
    add_wide_flag(parser, "member ids")
