"""The flags of `groupscope diff`."""

import argparse

from jobs.command_line.flags import EVERYTHING, TIMES, add_reader_flags, add_wide_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument(
        "--from",
        required=True,
        metavar="T1",
        dest="first",
        help=f"the earlier time: {TIMES}",
    )
    parser.add_argument(
        "--to", metavar="T2", dest="last", help="the later time (default: time of the newest record or snapshot)"
    )
    add_reader_flags(parser)
    add_wide_flag(parser, EVERYTHING)
