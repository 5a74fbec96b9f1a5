"""The flags of `groupscope ingest`, and those of its input, which `audit` takes too."""

import argparse
import re
from pathlib import Path

from jobs.flags import add_engine_flags, add_format_flag, add_warehouse_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument("--retry-rejected", action="store_true", help="decode again what was rejected before")
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", metavar="FORM:PLACE", help="what to read: segments:DIR, kafka:HOST:PORT, records:PATH"
    )
    parser.add_argument(
        "--command-config", type=Path, metavar="FILE", help="client properties for kafka:, such as SASL and TLS"
    )
    parser.add_argument(
        "--offsets-partition",
        type=partition_number,
        metavar="N",
        help="partition of segments outside folders __consumer_offsets-N",
    )
    parser.add_argument("--snapshots", action="append", default=[], metavar="FILE", help="snapshots of end offsets")
    parser.add_argument("--captured-at", metavar="T", help="when a text of Kafka's tools was taken (file's time)")
    parser.add_argument(
        "--optimize", choices=("auto", "never", "full"), default="auto", help="whether to rewrite small files (auto)"
    )
    parser.add_argument("--result-file", type=Path, metavar="FILE", help="the run's result as JSON, for programs")


def partition_number(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r}, a partition number such as 12 was expected")
    return int(text)
