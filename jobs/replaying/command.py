"""The command line of jobs that read the log in order."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jobs.engine.choice import engine_of
from jobs.output.rows import print_result
from jobs.replaying.log_run import LogRun
from jobs.runs.result import recorded_failure
from jobs.runs.run import run_jobs, run_options


def run_on_log(arguments: argparse.Namespace, job: LogRun, lines: Callable[[Mapping[str, Any]], Iterable[str]]) -> int:
    """`lines`: of the result, for people."""
    with engine_of(arguments, job.name) as engine, recorded_failure(arguments.result_file, job.name):
        (result,) = run_jobs([job], run_options(arguments, may_be_new=False), engine)
    print_result(result, lines(result), arguments.format)
    return int(result["exit_code"])
