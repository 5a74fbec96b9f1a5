"""The flags of `groupscope rebalances`."""

import argparse

from jobs.command_line.flags import EVERYTHING, TIMES, add_reader_flags, add_wide_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument(
        "--from",
        metavar="T",
        dest="first",
        help=f"leave out what ended before this time: {TIMES}",
    )
    parser.add_argument("--to", metavar="T", dest="last", help="leave out what began after this time")
    add_reader_flags(parser)
    add_wide_flag(parser, EVERYTHING)
