"""The flags of `groupscope ingest`. `audit` has those of the input too."""

import argparse
import re
from pathlib import Path

from jobs.command_line.flags import TIMES, add_engine_flags, add_format_flag, add_tz_flag, add_warehouse_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument(
        "--retry-rejected",
        action="store_true",
        help="try again to decode records that an earlier run rejected, as after an upgrade of Groupscope",
    )
    add_tz_flag(parser, "times that you type")
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source",
        metavar="FORM:PLACE",
        help="where to read the offsets topic: segments:DIR (segment files), kafka:HOST:PORT (a live cluster) or "
        "records:PATH (an archive in Parquet, Delta or JSON lines)",
    )
    parser.add_argument(
        "--command-config",
        type=Path,
        metavar="FILE",
        help="for a live cluster: file with Kafka client properties, such as those for SASL and TLS",
    )
    parser.add_argument(
        "--offsets-partition",
        type=partition_number,
        metavar="N",
        help="the partition of __consumer_offsets that the segment files belong to, if their folder is not named "
        "__consumer_offsets-N",
    )
    parser.add_argument(
        "--snapshots",
        action="append",
        default=[],
        metavar="FILE",
        help="file of snapshots (end offsets, brokers, settings) from groupscope capture, or the output of "
        "kafka-get-offsets or kafka-topics --describe; can be repeated",
    )
    parser.add_argument(
        "--captured-at",
        metavar="T",
        help=f"when the output of Kafka's tools in --snapshots was captured: {TIMES} (default: when the file was last "
        "changed)",
    )
    parser.add_argument(
        "--optimize",
        choices=("auto", "never", "full"),
        default="auto",
        help="when to merge small files of the tables: auto (when a table has many; the default), never, or full (in "
        "this run)",
    )
    parser.add_argument(
        "--result-file", type=Path, metavar="FILE", help="also write the result of the run to this file, as JSON"
    )


def partition_number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r}; give a partition number such as 12")
    return int(text)
