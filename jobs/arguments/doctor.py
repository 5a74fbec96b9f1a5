"""The flags of `groupscope doctor`."""

import argparse

from jobs.command_line.flags import add_format_flag, add_quiet_flag, add_warehouse_flag, add_wide_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_warehouse_flag(parser)
    parser.add_argument(
        "--spark", action="store_true", help="also read every table with Spark, which takes some seconds to start"
    )
    add_format_flag(parser)
    add_wide_flag(parser)
    add_quiet_flag(parser)
