"""The flags of `groupscope dump`."""

import argparse
from pathlib import Path

from jobs.command_line.flags import add_format_flag, add_quiet_flag, add_wide_flag
from jobs.output.rows import Format


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="segment files (.log) of __consumer_offsets"
    )
    parser.add_argument(
        "--type",
        action="append",
        metavar="TYPE",
        dest="types",
        help="only records of this type, by number or by name such as OffsetCommit; can be repeated",
    )
    parser.add_argument(
        "--group", metavar="REGEX", help="only records of groups whose id contains a match of this regular expression"
    )
    parser.add_argument("--from-offset", type=int, metavar="N", help="only records at this offset or later")
    add_format_flag(
        parser,
        Format.JSON,
        "json (JSON lines, the default) and csv show all fields, table shows the most important ones",
    )
    add_wide_flag(parser)
    add_quiet_flag(parser)
