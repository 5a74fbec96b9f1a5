"""The flags of `groupscope audit`."""

import argparse

from jobs.arguments.ingest import add_input_arguments
from jobs.flags import add_engine_flags, add_format_flag, add_warehouse_flags

FAIL_ON = ("critical", "warning", "never")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default=FAIL_ON[0],
        help="findings of which severity make the exit code 20 (critical)",
    )
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)
