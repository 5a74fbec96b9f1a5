"""The flags of `groupscope report`."""

import argparse

from jobs.flags import add_cluster_flag, add_warehouse_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    parser.add_argument(
        "--report",
        metavar="DIR",
        help="folder or URI to write index.html to (default: report/; _report/ in a warehouse that is not local)",
    )
    parser.add_argument("--group", metavar="REGEX", help="only groups in which the pattern is found")
    parser.add_argument("--exclude-group", metavar="REGEX", help="no groups in which the pattern is found")
