"""The command line of jobs that go through the log."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobs.engine.choice import add_engine_flags
from jobs.engine.engine import Engine
from jobs.failure import say
from jobs.flags import add_format_flag, add_warehouse_flags
from jobs.replaying.log_run import LogRun
from jobs.row_output import print_rows, write_lines
from jobs.run_result import record, recorded_failure
from jobs.settings import load_settings
from jobs.warehouses.any_warehouse import writing


def add_run_arguments(parser: argparse.ArgumentParser, full: str) -> None:
    """`full`: what `--full` does."""
    parser.add_argument("--full", action="store_true", help=f"{full}, as if there had been no run before")
    parser.add_argument("--result-file", type=Path, metavar="FILE", help="the run's result as JSON, for programs")
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def run_result(arguments: argparse.Namespace, of: type[LogRun], engine: Engine) -> dict[str, Any]:
    job = of.written.job
    with recorded_failure(arguments.result_file, job):
        settings = load_settings(arguments.config)
        place, wait = arguments.warehouse, arguments.lock_wait
        # A name mistyped must not be a warehouse from then on.
        with writing(place, job, wait, say, lambda: engine.spark, may_be_new=False) as warehouse:
            found = of(warehouse, arguments.cluster, settings, engine, is_full=arguments.full).run()
            record(warehouse.write_text, arguments.result_file, found)
        return found


def show_result(found: Mapping[str, Any], lines: list[str], format: str) -> None:
    """`lines`: for people."""
    if format == "table":
        write_lines(lines)
    else:
        print_rows(list(found), [list(found.values())], format)
