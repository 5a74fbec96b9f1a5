"""The flags of `groupscope whatif`."""

import argparse

from jobs.command_line.flags import EVERYTHING, add_reader_flags, add_wide_flag
from udfs.assignors.questions import OF_RELEASES

# Far more than any group has: a larger number is a typing error.
MOST_ADDED = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument("--assignor", choices=OF_RELEASES, help="only this assignor (default: compare all)")
    parser.add_argument(
        *("--remove-member",),
        action="append",
        default=[],
        metavar="M",
        help="suppose this member leaves; can be repeated",
    )
    parser.add_argument(
        "--add-members", type=number_of_members, default=0, metavar="N", help="suppose N more members join"
    )
    parser.add_argument(
        *("--partitions",), action="append", default=[], type=topic_number, metavar="TOPIC=N",
        help="suppose the topic has N partitions; can be repeated",
    )  # fmt: skip
    parser.add_argument("--verbose", action="store_true", help="also show the owner of each partition before and after")
    parser.add_argument(
        "--print-spec",
        action="store_true",
        help="compare nothing; print the group's topics and members as input for groupscope assign",
    )
    add_reader_flags(parser)
    add_wide_flag(parser, EVERYTHING)


def number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text}; give a number from 1 on")
    return int(text)


def number_of_members(text: str) -> int:
    if (count := number(text)) > MOST_ADDED:
        raise argparse.ArgumentTypeError(f"{text}; give up to {MOST_ADDED}")
    return count


def topic_number(text: str) -> tuple[str, int]:
    topic, equals, count = text.rpartition("=")
    if not equals or not topic:
        raise argparse.ArgumentTypeError(f"{text}; give TOPIC=N, such as orders=24")
    return topic, number(count)
