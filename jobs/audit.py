"""The scheduled job: everything that Groupscope knows of a cluster, brought up to date, and an exit code.

    groupscope audit --source kafka:broker-1:9092 --command-config client.properties --warehouse warehouse
    groupscope audit --source segments:/var/lib/kafka --snapshots snapshots.jsonl --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/audit.py --source segments:/var/lib/kafka

Reads and writes what its steps do, and prints the run page.
"""

import argparse
import sys
from dataclasses import replace
from typing import Any

from jobs import ingest
from jobs.engine.choice import engine_of
from jobs.engine.engine import Engine
from jobs.pages.run_page import page
from jobs.recomputing.run import Recomputation
from jobs.replaying.run import Replay
from jobs.row_output import write_lines
from jobs.runs.result import recorded_failure, result_text, write_result_file
from jobs.runs.run import run_jobs, run_options
from jobs.settings import load_settings, options_of
from jobs.warehouses.any_warehouse import reading
from schemas.exit_codes import ExitCode


def run(arguments: argparse.Namespace) -> int:
    with engine_of(arguments, "audit") as engine:
        result = audited(arguments, engine)
        if arguments.format == "table":
            options = options_of(load_settings(arguments.config), engine.hadoop_settings)
            write_lines(page(reading(arguments.warehouse, options), result))
        else:
            ingest.show(result, arguments.format)
    code = int(result["exit_code"])
    return ExitCode.CLEAN if arguments.fail_on == "never" and code == ExitCode.FINDINGS else code


def audited(arguments: argparse.Namespace, engine: Engine) -> dict[str, Any]:
    """What the ingest told, and in it what the steps after it did."""
    with recorded_failure(arguments.result_file, "audit"):
        asked = argparse.Namespace(**vars(arguments), retry_rejected=False)
        jobs = [*ingest.jobs_of(asked), Replay(is_full=False), Recomputation(is_full=False)]
        # The result is that of all of them.
        found, *after = run_jobs(jobs, replace(run_options(arguments), result_file=None), engine)
        steps = {each["job"]: each for each in after}
        added = {name: number for step in (found, *steps.values()) for name, number in step["rows_added"].items()}
        result = {**found, "rows_added": added, **steps}
        write_result_file(arguments.result_file, result_text(result))
    return result


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["audit", *sys.argv[1:]]))
