"""The flags of `groupscope maintain`."""

import argparse
import re
from datetime import timedelta
from pathlib import Path

from jobs.command_line.flags import (
    TIMES,
    add_cluster_flag,
    add_config_flag,
    add_engine_flags,
    add_format_flag,
    add_lock_flag,
    add_quiet_flag,
    add_tz_flag,
    add_warehouse_flag,
)

UNITS = {"d": "days", "h": "hours"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--keep",
        type=term,
        metavar="TERM",
        help="how long to keep closed history and the state after each run, in days or hours, such as 400d or 36h",
    )
    what.add_argument(
        "--drop-snapshots",
        metavar="FROM..TO",
        help="remove the cluster's snapshots captured at FROM or later and before TO, such as those of another Kafka "
        f"cluster; either time may be missing. A time is {TIMES}",
    )
    of_run = parser.add_mutually_exclusive_group()
    of_run.add_argument(
        "--dry-run", action="store_true", help="change nothing; print what a run would drop, merge and delete"
    )
    of_run.add_argument(
        "--result-file", type=Path, metavar="FILE", help="also write the result of the run to this file, as JSON"
    )
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    add_tz_flag(parser, "times that you type")
    add_config_flag(parser)
    add_lock_flag(parser)
    add_quiet_flag(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def term(text: str) -> timedelta:
    match = re.fullmatch("([1-9][0-9]{0,4})([dh])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r}; give a number of days or hours, such as 400d or 36h")
    return timedelta(**{UNITS[match[2]]: int(match[1])})
