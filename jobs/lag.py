"""Computes the lag of every group at every snapshot and a verdict on each of its partitions, and finds offsets that
were reset or expire soon.

    groupscope lag --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/lag.py --warehouse hdfs://namenode/groupscope

Reads: history tables, `offset_commits`, snapshots. Writes: `lag_points`, `lag_days`, `lag_minutes`,
`consumption_rates`, `group_verdicts`, `offset_resets`, `odd_commits`, `expiry_forecast`, `commit_volume`, and
`runs`. A run continues where the last one ended. --full starts from the beginning and gives the same rows.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from jobs.command_line.values import as_of_micros
from jobs.measuring.run import Measurement
from jobs.output.rows import row_lines
from jobs.output.terminal import terminal_width
from jobs.replaying.command import run_on_log
from jobs.runs.result import now_ms
from udfs.sentences.counts import counted


def run(arguments: argparse.Namespace) -> int:
    job = Measurement(is_full=arguments.full, as_of=as_of_micros(arguments.as_of, now_ms()))
    return run_on_log(arguments, job, summary_lines)


def summary_lines(result: Mapping[str, Any]) -> Iterator[str]:
    whole = f"{result['num_partitions_measured_whole']:,} of them from their first record"
    where = f"{counted(result['num_partitions'], 'offsets partition')} measured, {whole}"
    snapshots = f"{counted(result['num_snapshots'], 'snapshot')} in the warehouse"
    yield f"run {result['run_id']}: {where}; {snapshots}; {result['seconds']:.1f} s"
    if not result["num_snapshots"]:
        yield "no snapshots: lag is UNKNOWN everywhere. `groupscope capture` takes one, `ingest --snapshots` reads it"
    yield ""
    yield from row_lines(("table", "rows added"), sorted(result["rows_added"].items()), "table", width=terminal_width())


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["lag", *sys.argv[1:]]))
