"""The flags of `groupscope doctor`."""

import argparse

from jobs.command_line.flags import add_format_flag, add_quiet_flag, add_warehouse_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_warehouse_flag(parser)
    add_format_flag(parser)
    add_quiet_flag(parser)
