"""Which engine a command runs on: how it was started decides, or --engine."""

import argparse
import os

from jobs.engine.engine import Engine
from jobs.engine.processors import default_workers
from jobs.flags import LOCAL, SPARK

# Set by spark-submit for the program that it starts.
SUBMITTED = "PYSPARK_GATEWAY_PORT"


def is_submitted() -> bool:
    return SUBMITTED in os.environ


def engine_of(arguments: argparse.Namespace, job: str) -> Engine:
    name = f"groupscope {job}"
    if (arguments.engine or (SPARK if is_submitted() else LOCAL)) == SPARK:
        from jobs.engine.spark import SparkEngine

        return SparkEngine(name, is_debug=arguments.debug)
    from jobs.engine.local import LocalEngine

    return LocalEngine(name, arguments.workers or default_workers(), is_debug=arguments.debug)
