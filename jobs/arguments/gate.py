"""The flags of `groupscope gate`."""

import argparse
from pathlib import Path

from jobs.arguments.audit import FAIL_ON, add_fail_on_flag, add_judging_flags
from jobs.arguments.gate_spans import add_span_arguments
from jobs.command_line.flags import (
    LOCK_WAIT,
    add_as_of_flag,
    add_engine_flags,
    add_format_flag,
    add_tz_flag,
    add_warehouse_flags,
)

DEFAULTS = {"fail_on": FAIL_ON[0], "lock_wait": LOCK_WAIT}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_fail_on_flag(parser)
    # Two flags mean something else with --span.
    add_judging_flags(
        parser,
        until="; with --override: the time until which the override is valid",
        group="; with --span: the id of the group, not a regular expression",
    )
    add_as_of_flag(parser)
    add_tz_flag(parser, "times that you type, and of times on the page")
    add_span_arguments(parser)
    parser.add_argument(
        "--result-file", type=Path, metavar="FILE", help="also write the result of the run to this file, as JSON"
    )
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)
    # None, so that --span can refuse them where they were typed.
    parser.set_defaults(**dict.fromkeys(DEFAULTS))


def with_defaults(arguments: argparse.Namespace) -> argparse.Namespace:
    missing = {name: value for name, value in DEFAULTS.items() if getattr(arguments, name) is None}
    return argparse.Namespace(**{**vars(arguments), **missing})
