"""The flags of `groupscope audit`."""

import argparse
from pathlib import Path

from jobs.arguments.ingest import add_input_arguments
from jobs.flags import add_as_of_flag, add_engine_flags, add_format_flag, add_report_flag, add_warehouse_flags

FAIL_ON = ("critical", "warning", "never")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default=FAIL_ON[0],
        help="findings of which severity make the exit code 20 (critical)",
    )
    add_judging_flags(parser)
    parser.add_argument(
        "--prometheus", type=Path, metavar="FILE", help="what was found, for a node exporter's textfile collector"
    )
    add_report_flag(parser)
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def add_judging_flags(parser: argparse.ArgumentParser) -> None:
    """What is judged: of `gate` too."""
    add_as_of_flag(parser)
    parser.add_argument(
        "--since", metavar="T", help="only events after this time (default: the as-of time of the last run before)"
    )
    parser.add_argument("--until", metavar="T", help="only events up to this time (default: the as-of time)")
    parser.add_argument("--group", metavar="REGEX", help="only findings about groups in which the pattern is found")
    parser.add_argument(
        "--exclude-group", metavar="REGEX", help="no findings about groups in which the pattern is found"
    )
