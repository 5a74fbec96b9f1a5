"""The flags of `groupscope assign`."""

import argparse

from jobs.flags import add_format_flag
from jobs.row_output import Format
from udfs.assignors.names import NAMES
from udfs.assignors.spec_values import SpecError, Value
from udfs.assignors.specs import JDKS, read_release


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="of JSON lines; default: standard input")
    for_lines = "for lines without it"
    parser.add_argument("--assignor", choices=NAMES, help=f"Kafka's name of the assignor, {for_lines}")
    parser.add_argument(
        "--release", type=release, metavar="N.N", help=f"release of Kafka, such as 3.9, {for_lines} (default: newest)"
    )
    add_format_flag(parser, Format.JSON, "json lines (the default), or csv or a table with a row for each member")
    parser.add_argument("--jdk", type=int, choices=JDKS, help=f"Java of leader or broker, {for_lines} (default: 17)")


def release(text: str) -> str:
    try:
        read_release(Value("", text))
    except SpecError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
