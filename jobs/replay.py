"""The history of groups, members, owners, rebalances and committed offsets, from the decoded tables.

    groupscope replay --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/replay.py --warehouse hdfs://namenode/groupscope

Reads: decoded tables, snapshots, `source_files`. Writes: every history table, what the next run needs to go on from
there, and `runs`. A run goes on where the last one ended; --full begins anew, to the same rows.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobs.failure import say
from jobs.flags import add_format_flag, add_warehouse_flags
from jobs.replaying.known_state import JOB
from jobs.replaying.run import Replay
from jobs.row_output import print_rows, write_lines
from jobs.run_result import record, recorded_failure
from jobs.settings import load_settings
from jobs.spark.tasks import Workers
from jobs.warehouses.any_warehouse import writing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--full", action="store_true", help="replay the whole log, as if there had been no run before")
    parser.add_argument("--result-file", type=Path, metavar="FILE", help="the run's result as JSON, for programs")
    add_warehouse_flags(parser)
    add_format_flag(parser)


def run(arguments: argparse.Namespace) -> int:
    found = replayed(arguments)
    show(found, arguments.format)
    return int(found["exit_code"])


def replayed(arguments: argparse.Namespace) -> dict[str, Any]:
    """The result of a run."""
    with recorded_failure(arguments.result_file, JOB):
        settings = load_settings(arguments.config)
        workers = Workers(f"groupscope {JOB}", is_debug=arguments.debug)
        with writing(arguments.warehouse, JOB, arguments.lock_wait, say, lambda: workers.spark) as warehouse:
            found = Replay(warehouse, arguments.cluster, settings, workers, is_full=arguments.full).run()
            record(warehouse.write_text, arguments.result_file, found)
        return found


def show(found: Mapping[str, Any], format: str) -> None:
    if format == "table":
        write_lines([closing_line(found)])
    else:
        print_rows(list(found), [list(found.values())], format)


def closing_line(found: Mapping[str, Any]) -> str:
    whole = f"{found['num_partitions_replayed_whole']:,} of them from the beginning"
    where = f"{found['num_partitions']:,} offsets partitions replayed, {whole}"
    what = f"{found['num_records']:,} records"
    return f"run {found['run_id']}: {where}; {what}; {found['seconds']:.1f} s"


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["replay", *sys.argv[1:]]))
