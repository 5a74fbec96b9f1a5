"""The flags of `groupscope report`."""

import argparse
from pathlib import Path

from jobs.command_line.flags import (
    add_cluster_flag,
    add_format_flag,
    add_quiet_flag,
    add_report_flag,
    add_tz_flag,
    add_warehouse_flag,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    add_report_flag(parser)
    add_tz_flag(parser, "times in the report")
    parser.add_argument(
        "--group", metavar="REGEX", help="only groups whose id contains a match of this regular expression"
    )
    parser.add_argument(
        "--exclude-group", metavar="REGEX", help="leave out groups whose id contains a match of this regular expression"
    )
    parser.add_argument(
        "--redact",
        action="store_true",
        help="replace names with hashes that use a secret key, so that you can share the report",
    )
    parser.add_argument(
        "--redact-key",
        type=Path,
        metavar="FILE",
        help="file with the key of these hashes: the same key gives the same hashes in every report (default: a new "
        "key each time)",
    )
    parser.add_argument(
        "--copy-to",
        metavar="PLACE",
        help="with --redact: instead of a report, write a copy of the whole warehouse into this new or empty folder or "
        "URI: names are hashes, raw bytes are NULL, and no run may change it",
    )
    add_quiet_flag(parser)
    add_format_flag(
        parser, text="print what was written as a line of text (the default), CSV or JSON; the report is HTML"
    )
