"""The flags of `groupscope rebalances`."""

import argparse

from jobs.command_line.flags import add_reader_flags, add_wide_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument(
        "--from",
        metavar="T",
        dest="first",
        help="only events that end at or after this time: ISO 8601 (UTC if it has no zone), epoch milliseconds or now",
    )
    parser.add_argument("--to", metavar="T", dest="last", help="only events that begin at or before this time")
    add_reader_flags(parser)
    add_wide_flag(parser)
