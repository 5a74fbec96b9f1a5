"""The flags of `groupscope owner`."""

import argparse

from jobs.command_line.flags import EVERYTHING, add_at_flag, add_reader_flags, add_wide_flag


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument("partition", metavar="PARTITION", type=partition_number)
    parser.add_argument("--group", metavar="GROUP", help="only the owner in this group (default: in each group)")
    add_at_flag(parser)
    add_reader_flags(parser)
    add_wide_flag(parser, EVERYTHING)


def partition_number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 2**31):
        raise argparse.ArgumentTypeError(f"{text!r}; give a partition's number")
    return int(text)
