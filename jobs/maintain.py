"""Keeps a warehouse small and quick to open: merges small files, drops closed history beyond a term, and deletes files
and Delta logs that only runs before the term used; or removes snapshots that should never have been there.

    groupscope maintain --keep 400d --dry-run
    groupscope maintain --keep 400d --warehouse warehouse
    groupscope maintain --drop-snapshots 2026-11-21T05:00..2026-11-21T06:00 --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/maintain.py --keep 400d --warehouse hdfs://namenode/groupscope

Reads: all tables. Writes: files of tables, Delta logs, and `runs`. With --keep, records of the log and snapshots are
never dropped, so `replay --full` brings dropped history back. What runs within the term wrote can still be read at the
versions that `runs` names. With --dry-run it changes nothing, and prints for each table how many rows a run would drop,
and how many files it would merge and delete. With --drop-snapshots, the next audit computes anew what rested on the
snapshots. A run that fails or is killed loses nothing: run it again.
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jobs.engine.choice import engine_of
from jobs.engine.engine import Engine
from jobs.maintaining.dropped_snapshots import DropSnapshots, Interval, dropped_of, interval_of, sentence
from jobs.maintaining.preview import COLUMNS, changed_tables, tables_without
from jobs.maintaining.run import Maintain
from jobs.maintaining.upkeep import upkeep_of
from jobs.output.failure import misuse
from jobs.output.progress import doing
from jobs.output.rows import print_page, print_result, print_rows
from jobs.runs.dropped_history import MAINTAIN
from jobs.runs.result import now_ms, recorded_failure
from jobs.runs.run import RunOptions, options_at, run_jobs, run_options
from jobs.warehouses.any_warehouse import one_cluster, reading
from schemas.words.exit_codes import ExitCode
from udfs.sentences.counts import counted


def run(arguments: argparse.Namespace) -> int:
    interval = interval_asked(arguments)
    with engine_of(arguments, MAINTAIN) as engine:
        if arguments.dry_run:
            return preview(arguments, engine, interval)
        job = Maintain(arguments.keep) if interval is None else DropSnapshots(interval)
        with recorded_failure(arguments.result_file, MAINTAIN):
            (result,) = run_jobs([job], options_of_run(arguments), engine)
    print_result(result, [closing_line(result)], arguments.format)
    return int(result["exit_code"])


def interval_asked(arguments: argparse.Namespace) -> Interval | None:
    """None: snapshots stay."""
    if arguments.drop_snapshots is not None:
        return interval_of(arguments.drop_snapshots, now_ms())
    if arguments.cluster is not None:
        line = "only --drop-snapshots is about one cluster; leave the flag out, --keep is about the whole warehouse"
        raise misuse(f"--cluster {arguments.cluster}: {line}")
    return None


def preview(arguments: argparse.Namespace, engine: Engine, interval: Interval | None) -> int:
    options = options_of_run(arguments)
    warehouse = reading(options.warehouse, options_at(options.warehouse, options, engine))
    with doing(MAINTAIN):
        if interval is None:
            upkeep = upkeep_of(warehouse, arguments.keep, options.clock(), options.settings.tables, run_id=None)
            rows, merged, files = amounts(upkeep.facts())
            tables = changed_tables(upkeep)
            line = f"a run would drop {rows}, merge {merged} and delete {files}; nothing was changed"
        else:
            cluster = one_cluster(warehouse, options.cluster)
            dropped = dropped_of(warehouse, cluster, interval, run_id=None)
            tables, line = tables_without(dropped.rows), sentence(dropped.facts(), cluster, is_done=False)
    print_rows(COLUMNS, tables, arguments.format)
    if arguments.format == "table":
        print_page([line])
    return ExitCode.CLEAN


def options_of_run(arguments: argparse.Namespace) -> RunOptions:
    return replace(run_options(arguments, may_be_new=False), is_about_all=arguments.drop_snapshots is None)


def closing_line(result: Mapping[str, Any]) -> str:
    if "num_snapshots_dropped" in result:
        return f"run {result['run_id']}: {sentence(result, result['cluster'], is_done=True)}; {result['seconds']:.1f} s"
    rows, merged, files = amounts(result)
    return f"run {result['run_id']}: {rows} dropped, {merged} merged, {files} deleted; {result['seconds']:.1f} s"


def amounts(facts: Mapping[str, Any]) -> tuple[str, str, str]:
    """Of rows to drop, files to merge and files to delete."""
    deleted = facts["num_files_deleted"] + facts["num_log_files_deleted"] + facts["num_results_deleted"]
    dropped, merged = counted(facts["num_rows_dropped"], "row"), counted(facts["num_files_merged"], "small file")
    return dropped, merged, counted(deleted, "file")


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["maintain", *sys.argv[1:]]))
