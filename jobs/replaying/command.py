"""The command line of jobs that read the log in order."""

import argparse
from collections.abc import Mapping
from typing import Any

from jobs.engine.engine import Engine
from jobs.output.rows import print_page, print_rows
from jobs.replaying.log_run import LogRun
from jobs.runs.result import recorded_failure
from jobs.runs.run import run_jobs, run_options


def run_result(arguments: argparse.Namespace, job: LogRun, engine: Engine) -> dict[str, Any]:
    with recorded_failure(arguments.result_file, job.name):
        options = run_options(arguments, may_be_new=False)
        (result,) = run_jobs([job], options, engine)
        return result


def show_result(result: Mapping[str, Any], lines: list[str], format: str) -> None:
    """`lines`: for people."""
    if format == "table":
        print_page(lines)
    else:
        print_rows(list(result), [list(result.values())], format)
