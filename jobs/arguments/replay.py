"""The flags of `groupscope replay`."""

import argparse

from jobs.command_line.flags import add_run_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_flags(parser, "replay all stored records again, not only new ones")
