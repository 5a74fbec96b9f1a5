"""The flags of `groupscope status`."""

import argparse

from jobs.command_line.flags import add_config_flag, add_reader_flags, add_wide_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP", nargs="?", help="show more about this group (default: all groups)")
    parser.add_argument(
        "--exit-code",
        action="store_true",
        help="end with 20 if a critical finding lasts that no waiver accepts (with GROUP: a finding of the group); "
        "without this flag, end with 0",
    )
    add_config_flag(parser)
    add_reader_flags(parser)
    add_wide_flag(parser)
