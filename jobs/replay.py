"""Rebuilds the history of groups, members, partition owners, rebalances and committed offsets from the decoded tables.

    groupscope replay --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/replay.py --warehouse hdfs://namenode/groupscope

Reads: decoded tables, snapshots, `source_files`. Writes: every history table, the state for the next run, and `runs`.
A run continues where the last one ended. --full starts from the beginning and gives the same rows.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from jobs.replaying.command import run_on_log
from jobs.replaying.run import Replay
from udfs.sentences.counts import counted


def run(arguments: argparse.Namespace) -> int:
    return run_on_log(arguments, Replay(is_full=arguments.full), summary_lines)


def summary_lines(result: Mapping[str, Any]) -> Iterator[str]:
    whole = f"{result['num_partitions_replayed_whole']:,} of them from their first record"
    where = f"{counted(result['num_partitions'], 'offsets partition')} replayed, {whole}"
    what = counted(result["num_records"], "record")
    yield f"run {result['run_id']}: {where}; {what}; {result['seconds']:.1f} s"


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["replay", *sys.argv[1:]]))
