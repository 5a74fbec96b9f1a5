"""The flags of `groupscope assign`."""

import argparse

from jobs.command_line.flags import add_format_flag, add_quiet_flag, add_wide_flag
from jobs.output.rows import Format
from udfs.assignors.questions import JDKS, NAMES, SpecError, Value, read_release


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="questions as JSON lines, each with assignor, topics and members (default: standard input)",
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
        help=f"Java version, {for_lines} 'jdk' (default: 17): some assignments depend on the Java version of the "
        "leader (classic groups) or of the broker (other groups)",
    )
    add_format_flag(
        parser,
        Format.JSON,
        "output as JSON lines, one for each question (the default), or as CSV or a table, one row for each member",
    )
    add_wide_flag(parser)
    add_quiet_flag(parser)


def release(text: str) -> str:
    try:
        read_release(Value("", text))
    except SpecError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
