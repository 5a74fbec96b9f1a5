"""The flags of `groupscope dump`."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="segment files (….log) of __consumer_offsets"
    )
    parser.add_argument(
        "--type",
        action="append",
        metavar="TYPE",
        dest="types",
        help="only records of this type, by number or name (OffsetCommit); can be repeated",
    )
    parser.add_argument("--group", metavar="REGEX", help="only records of groups in which the pattern is found")
    parser.add_argument("--from-offset", type=int, metavar="N", help="only records at this offset or beyond")
    parser.add_argument("--format", choices=("json", "csv"), default="json", help="json lines (the default) or csv")
