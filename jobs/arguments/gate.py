"""The flags of `groupscope gate`."""

import argparse
from pathlib import Path

from jobs.arguments.audit import FAIL_ON, add_judging_flags
from jobs.arguments.gate_spans import add_span_arguments
from jobs.flags import add_engine_flags, add_format_flag, add_warehouse_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default=FAIL_ON[0],
        help="exit with code 20 when a finding has this severity or a higher one (critical)",
    )
    # With --span a group is one name, and --until ends the override.
    add_judging_flags(parser)
    add_span_arguments(parser)
    parser.add_argument("--result-file", type=Path, metavar="FILE", help="the run's result as JSON, for programs")
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)
