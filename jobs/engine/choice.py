"""Chooses the engine of a command: --engine, else the way the command was started."""

import argparse

from jobs.command_line.flags import SPARK, wanted_engine
from jobs.engine.engine import Engine
from jobs.processes.processors import default_workers


def engine_of(arguments: argparse.Namespace, job: str) -> Engine:
    name = f"groupscope {job}"
    if wanted_engine(arguments) == SPARK:
        from jobs.engine.spark import SparkEngine

        return SparkEngine(name, is_debug=arguments.debug)
    from jobs.engine.local import LocalEngine

    return LocalEngine(name, arguments.workers or default_workers(), is_debug=arguments.debug, job=job)
