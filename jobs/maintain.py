"""Keeps a warehouse small and quick to open: merges small files, drops closed history beyond a term, and deletes files
and Delta logs that only runs before the term used.

    groupscope maintain --keep 400d --dry-run
    groupscope maintain --keep 400d --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/maintain.py --keep 400d --warehouse hdfs://namenode/groupscope

Reads: all tables. Writes: files of tables, Delta logs, and `runs`. Records of the log and snapshots are never dropped,
so `replay --full` brings dropped history back. What runs within the term wrote can still be read at the versions that
`runs` names. With --dry-run it changes nothing, and prints for each table how many rows a run would drop, and how many
files it would merge and delete. A run that fails or is killed loses nothing: run it again.
"""

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from jobs.configuration.read_settings import load_settings
from jobs.engine.choice import engine_of
from jobs.engine.engine import Engine
from jobs.maintaining.preview import COLUMNS, changed_tables
from jobs.maintaining.run import Maintain
from jobs.maintaining.upkeep import upkeep_of
from jobs.output.progress import doing
from jobs.output.rows import print_rows
from jobs.output.text_pages import print_page
from jobs.runs.dropped_history import MAINTAIN
from jobs.runs.result import recorded_failure
from jobs.runs.run import RunOptions, options_at, run_jobs
from jobs.warehouses.any_warehouse import reading
from schemas.words.exit_codes import ExitCode
from udfs.sentences.counts import counted


def run(arguments: argparse.Namespace) -> int:
    with engine_of(arguments, MAINTAIN) as engine:
        if arguments.dry_run:
            return preview(arguments, engine)
        result = maintained(arguments, engine)
    if arguments.format == "table":
        print_page([closing_line(result)])
    else:
        print_rows(list(result), [list(result.values())], arguments.format)
    return int(result["exit_code"])


def preview(arguments: argparse.Namespace, engine: Engine) -> int:
    options = options_of_run(arguments)
    warehouse = reading(options.warehouse, options_at(options.warehouse, options, engine))
    with doing(MAINTAIN):
        upkeep = upkeep_of(warehouse, arguments.keep, options.clock(), options.settings.tables, run_id=None)
    print_rows(COLUMNS, changed_tables(upkeep), arguments.format)
    if arguments.format == "table":
        rows, merged, files = amounts(upkeep.facts())
        print_page([f"a run would drop {rows}, merge {merged} and delete {files}; nothing was changed"])
    return ExitCode.CLEAN


def maintained(arguments: argparse.Namespace, engine: Engine) -> dict[str, Any]:
    with recorded_failure(arguments.result_file, MAINTAIN):
        (result,) = run_jobs([Maintain(arguments.keep)], options_of_run(arguments), engine)
        return result


def options_of_run(arguments: argparse.Namespace) -> RunOptions:
    return RunOptions(
        warehouse=arguments.warehouse,
        cluster=None,
        settings=load_settings(arguments.config),
        lock_wait=arguments.lock_wait,
        result_file=arguments.result_file,
        may_be_new=False,
        is_about_all=True,
    )


def closing_line(result: Mapping[str, Any]) -> str:
    rows, merged, files = amounts(result)
    return f"run {result['run_id']}: {rows} dropped, {merged} merged, {files} deleted; {result['seconds']:.1f} s"


def amounts(facts: Mapping[str, Any]) -> tuple[str, str, str]:
    """Of rows to drop, files to merge and files to delete."""
    deleted = facts["num_files_deleted"] + facts["num_log_files_deleted"] + facts["num_results_deleted"]
    return (
        counted(facts["num_rows_dropped"], "row"),
        counted(facts["num_files_merged"], "small file"),
        counted(deleted, "file"),
    )


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["maintain", *sys.argv[1:]]))
