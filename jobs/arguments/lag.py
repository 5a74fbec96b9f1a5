"""The flags of `groupscope lag`."""

import argparse

from jobs.command_line.flags import add_as_of_flag, add_run_flags, add_tz_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_flags(parser, "compute everything again")
    add_as_of_flag(parser)
    add_tz_flag(parser, "times that you type")
