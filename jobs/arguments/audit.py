"""The flags of `groupscope audit`."""

import argparse
from pathlib import Path

from jobs.arguments.ingest import add_input_arguments
from jobs.command_line.flags import (
    NEWEST,
    add_as_of_flag,
    add_engine_flags,
    add_format_flag,
    add_report_flag,
    add_tz_flag,
    add_warehouse_flags,
)

FAIL_ON = ("critical", "warning", "critical-new", "warning-new", "never")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    add_fail_on_flag(parser)
    add_judging_flags(parser)
    add_as_of_flag(parser, f"{NEWEST}, or the current time if a live cluster is read")
    parser.add_argument(
        "--prometheus",
        type=Path,
        metavar="FILE",
        help="also write metrics to this file, for the textfile collector of the Prometheus node exporter: findings, "
        "lag, lag verdicts (such as OK or STOP)",
    )
    add_report_flag(parser)
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="print a longer page: known findings too, by kind, the rows of each table, and SQL that lists more",
    )
    add_tz_flag(parser, "times that you type, of the run page and of the report")
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def add_fail_on_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default=FAIL_ON[0],
        help="exit with code 20 if a finding (a problem that the run reports) has this severity or a higher one; "
        "with -new: if one of them is new, which no run as of an earlier time reported (default: critical)",
    )


def add_judging_flags(parser: argparse.ArgumentParser, *, until: str = "", group: str = "") -> None:
    """What the gate judges. Each of them narrows the run, so that it never counts for the whole. `gate` has these flags
    too: `until` and `group` say what else it uses them for."""
    parser.add_argument(
        "--since",
        metavar="T",
        help="leave out findings about events up to this time (default: `event_term_days` of the settings before the "
        "--as-of time)",
    )
    parser.add_argument(
        "--until",
        metavar="T",
        help=f"leave out findings about events after this time (default: the --as-of time){until}",
    )
    parser.add_argument(
        "--group",
        metavar="REGEX",
        help=f"report only findings about groups whose id contains a match of this regular expression{group}",
    )
    parser.add_argument(
        "--exclude-group",
        metavar="REGEX",
        help="leave out findings about groups whose id contains a match of this regular expression",
    )
