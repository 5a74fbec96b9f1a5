"""The flags of `groupscope lag`."""

import argparse

from jobs.command_line.flags import add_as_of_flag, add_run_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_flags(parser, "compute everything again")
    add_as_of_flag(parser)
