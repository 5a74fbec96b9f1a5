"""The flags of `groupscope describe`."""

import argparse

from jobs.command_line.flags import EVERYTHING, add_at_flag, add_reader_flags, add_wide_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    shown = parser.add_mutually_exclusive_group()
    texts = {
        "offsets": "show committed offsets, lag and owners (the default)",
        "members": "show members and the number of partitions each owns",
        "state": "show state, assignor and coordinator",
    }
    for name, text in texts.items():
        shown.add_argument(f"--{name}", dest="shown", action="store_const", const=name, default="offsets", help=text)
    parser.add_argument("--verbose", action="store_true", help="show more columns: epochs and assignments")
    add_at_flag(parser)
    add_reader_flags(parser)
    add_wide_flag(parser, EVERYTHING)
