"""The flags of `groupscope mark`."""

import argparse

from jobs.command_line.flags import (
    TIMES,
    add_cluster_flag,
    add_config_flag,
    add_format_flag,
    add_tz_flag,
    add_warehouse_flag,
    add_wide_flag,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what was deployed or changed, in quotes")
    parser.add_argument(
        "--at",
        metavar="T",
        help=f"when it was deployed or changed: {TIMES} (default: now)",
    )
    parser.add_argument(
        "--group",
        metavar="REGEX",
        help="the mark is only about groups whose id contains a match of this regular expression (default: all groups)",
    )
    parser.add_argument("--list", action="store_true", help="list the marks, with their numbers")
    parser.add_argument("--remove", metavar="N", type=mark_number, help="remove the mark with this number")
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    add_config_flag(parser)
    add_format_flag(parser)
    add_wide_flag(parser)
    add_tz_flag(parser)


def mark_number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 2**31):
        raise argparse.ArgumentTypeError(f"{text!r}; give a number that groupscope mark --list shows")
    return int(text)
