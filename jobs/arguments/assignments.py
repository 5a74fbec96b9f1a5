"""The flags of `groupscope assignments`."""

import argparse

from jobs.command_line.flags import add_run_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_flags(parser, "recompute all assignments")
