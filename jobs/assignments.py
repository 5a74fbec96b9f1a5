"""Every recorded assignment beside the one that Kafka's own assignor gives, what other assignors would give, and how
far groups have come on their way to another assignor or protocol.

    groupscope assignments --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/assignments.py --warehouse hdfs://namenode/groupscope

Reads: decoded tables, snapshots, `source_files`. Writes: `assignment_audit`, `assignment_whatif`, `assignor_upgrades`,
what the next run needs to go on from there, and `runs`. A run goes on where the last one ended; --full begins anew, to
the same rows.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jobs.failure import say
from jobs.flags import add_format_flag, add_warehouse_flags
from jobs.recomputing.run import Recomputation
from jobs.row_output import print_rows, row_lines, write_lines
from jobs.run_result import record, recorded_failure
from jobs.settings import load_settings
from jobs.spark.tasks import Workers
from jobs.warehouses.any_warehouse import writing
from schemas.assignment_tables import JOB
from schemas.assignment_words import Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--full", action="store_true", help="recompute all assignments, as if there had been no run")
    parser.add_argument("--result-file", type=Path, metavar="FILE", help="the run's result as JSON, for programs")
    add_warehouse_flags(parser)
    add_format_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    found = recomputed(arguments)
    show(found, arguments.format)
    return int(found["exit_code"])


def recomputed(arguments: argparse.Namespace) -> dict[str, Any]:
    """The result of a run."""
    with recorded_failure(arguments.result_file, JOB):
        settings = load_settings(arguments.config)
        workers = Workers(f"groupscope {JOB}", is_debug=arguments.debug)
        with writing(arguments.warehouse, JOB, arguments.lock_wait, say, lambda: workers.spark) as warehouse:
            found = Recomputation(warehouse, arguments.cluster, settings, workers, is_full=arguments.full).run()
            record(warehouse.write_text, arguments.result_file, found)
        return found


def show(found: Mapping[str, Any], format: str) -> None:
    if format == "table":
        write_lines(summary_lines(found))
    else:
        print_rows(list(found), [list(found.values())], format)


def summary_lines(found: Mapping[str, Any]) -> Iterator[str]:
    whole = f"{found['num_partitions_recomputed_whole']:,} of them from the beginning"
    where = f"{found['num_partitions']:,} offsets partitions gone through, {whole}"
    what = f"{found['num_assignments']:,} assignments recomputed"
    yield f"run {found['run_id']}: {where}; {what}; {found['seconds']:.1f} s"
    yield ""
    numbers = [(each.value, found["all_verdicts"][each], found["verdicts"][each], each.meaning) for each in Verdict]
    yield from row_lines(("verdict", "assignments", "of this run", "meaning"), numbers, "table")


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["assignments", *sys.argv[1:]]))
