"""The flags of `groupscope partition`."""

import argparse

from jobs.command_line.flags import add_reader_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    add_reader_flags(parser)
