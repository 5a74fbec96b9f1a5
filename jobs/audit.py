"""The scheduled job: everything that Groupscope knows of a cluster, brought up to date, and an exit code.

    groupscope audit --source kafka:broker-1:9092 --command-config client.properties --warehouse warehouse
    groupscope audit --source segments:/var/lib/kafka --snapshots snapshots.jsonl --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/audit.py --source segments:/var/lib/kafka

Reads and writes what its steps do, and prints the run page.
"""

import argparse
import sys
from typing import Any

from jobs import assignments, ingest, replay
from jobs.engine.choice import engine_of
from jobs.engine.engine import Engine
from jobs.pages.run_page import page
from jobs.row_output import write_lines
from jobs.runs.result import recorded_failure, result_text, write_result_file
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
    flags = {**vars(arguments), "result_file": None}
    with recorded_failure(arguments.result_file, "audit"):
        (found,) = ingest.ingested(argparse.Namespace(**flags, retry_rejected=False), engine)
        steps = {
            "replay": replay.replayed(argparse.Namespace(**flags, full=False), engine),
            "assignments": assignments.recomputed(argparse.Namespace(**flags, full=False), engine),
        }
        added = {name: number for step in (found, *steps.values()) for name, number in step["rows_added"].items()}
        result = {**found, "rows_added": added, **steps}
        write_result_file(arguments.result_file, result_text(result))
    return result


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["audit", *sys.argv[1:]]))
