"""The flags of `groupscope report`."""

import argparse
from pathlib import Path

from jobs.flags import add_cluster_flag, add_format_flag, add_quiet_flag, add_report_flag, add_warehouse_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    add_report_flag(parser)
    parser.add_argument("--group", metavar="REGEX", help="only groups in which the pattern is found")
    parser.add_argument("--exclude-group", metavar="REGEX", help="no groups in which the pattern is found")
    parser.add_argument(
        "--redact", action="store_true", help="hashes with a key in place of names, to give the report to others"
    )
    parser.add_argument(
        "--redact-key",
        type=Path,
        metavar="FILE",
        help="the key of these hashes, so that reports can be compared (default: another one each time)",
    )
    add_quiet_flag(parser)
    add_format_flag(parser)
