"""Which engine a command runs on: how it was started decides, or --engine."""

import argparse
import os
import re

from jobs.engine.engine import Engine
from jobs.engine.processors import default_workers

LOCAL, SPARK = "local", "spark"
# Set by spark-submit for the program that it starts.
SUBMITTED = "PYSPARK_GATEWAY_PORT"


def add_engine_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=(LOCAL, SPARK),
        help="who does the work: processes of this machine (default), or Spark (default under spark-submit)",
    )
    parser.add_argument(
        "--workers",
        type=number_of_workers,
        metavar="N",
        help="how many processes the local engine has (default: one a core, fewer where memory is short)",
    )


def number_of_workers(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r}, a number of processes such as 4 was expected")
    return int(text)


def is_submitted() -> bool:
    return SUBMITTED in os.environ


def engine_of(arguments: argparse.Namespace, job: str) -> Engine:
    name = f"groupscope {job}"
    if (arguments.engine or (SPARK if is_submitted() else LOCAL)) == SPARK:
        from jobs.engine.spark import SparkEngine

        return SparkEngine(name, is_debug=arguments.debug)
    from jobs.engine.local import LocalEngine

    return LocalEngine(name, arguments.workers or default_workers(), is_debug=arguments.debug)
