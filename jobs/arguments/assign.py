"""The flags of `groupscope assign`."""

import argparse

from jobs.command_line.flags import add_format_flag, add_quiet_flag
from jobs.output.rows import Format
from udfs.assignors.names import NAMES
from udfs.assignors.questions.spec_values import SpecError, Value
from udfs.assignors.questions.specs import JDKS, read_release


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="file of questions as JSON lines (default: standard input)"
    )
    for_lines = "for lines that do not name one"
    parser.add_argument("--assignor", choices=NAMES, help=f"the assignor, by Kafka's name, {for_lines}")
    parser.add_argument(
        "--release", type=release, metavar="N.N", help=f"Kafka release, such as 3.9, {for_lines} (default: newest)"
    )
    parser.add_argument(
        "--jdk", type=int, choices=JDKS, help=f"Java version of the group leader or broker, {for_lines} (default: 17)"
    )
    add_format_flag(
        parser, Format.JSON, "output as JSON lines (the default), or CSV or a table with a row for each member"
    )
    add_quiet_flag(parser)


def release(text: str) -> str:
    try:
        read_release(Value("", text))
    except SpecError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
