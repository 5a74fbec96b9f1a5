"""The flags of `groupscope audit`."""

import argparse
from pathlib import Path

from jobs.arguments.ingest import add_input_arguments
from jobs.command_line.flags import (
    add_as_of_flag,
    add_engine_flags,
    add_format_flag,
    add_report_flag,
    add_warehouse_flags,
)

FAIL_ON = ("critical", "warning", "never")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default=FAIL_ON[0],
        help="exit with code 20 if a finding has this severity or a higher one (default: critical)",
    )
    add_judging_flags(parser)
    parser.add_argument(
        "--prometheus",
        type=Path,
        metavar="FILE",
        help="also write findings, lag and verdicts as metrics to this file, for the textfile collector of the "
        "Prometheus node exporter",
    )
    add_report_flag(parser)
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def add_judging_flags(parser: argparse.ArgumentParser) -> None:
    """What the gate judges. `gate` has these flags too."""
    add_as_of_flag(parser)
    parser.add_argument(
        "--since", metavar="T", help="report only events after this time (default: the as-of time of the previous run)"
    )
    parser.add_argument("--until", metavar="T", help="report only events up to this time (default: the as-of time)")
    parser.add_argument(
        "--group", metavar="REGEX", help="report only findings about groups whose id contains a match of this pattern"
    )
    parser.add_argument(
        "--exclude-group",
        metavar="REGEX",
        help="report no findings about groups whose id contains a match of this pattern",
    )
