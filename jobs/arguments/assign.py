"""The flags of `groupscope assign`."""

import argparse

from jobs.command_line.flags import add_format_flag, add_quiet_flag
from jobs.output.rows import Format
from udfs.assignors.names import NAMES
from udfs.assignors.questions.spec_values import SpecError, Value
from udfs.assignors.questions.specs import JDKS, read_release


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="JSON lines, one a line: assignor, topics and members to assign partitions to (default: standard input)",
    )
    for_lines = "for lines without the field"
    parser.add_argument("--assignor", choices=NAMES, help=f"Kafka's name of the assignor, {for_lines} 'assignor'")
    parser.add_argument(
        "--release",
        type=release,
        metavar="N.N",
        help=f"Kafka release, such as 3.9, {for_lines} 'release' (default: newest)",
    )
    parser.add_argument(
        "--jdk",
        type=int,
        choices=JDKS,
        help="Java version that the assignor ran on, which decides the order of its sets: that of the leader of a "
        f"classic group, else that of the broker, {for_lines} 'jdk' (default: 17)",
    )
    add_format_flag(
        parser,
        Format.JSON,
        "output as JSON lines with one line an input line (the default); csv and table: one row a member",
    )
    add_quiet_flag(parser)


def release(text: str) -> str:
    try:
        read_release(Value("", text))
    except SpecError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
