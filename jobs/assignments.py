"""Recomputes every recorded assignment with Kafka's assignors and compares the two. Also computes what other assignors
would give, and how far groups are in their migration to another assignor or protocol.

    groupscope assignments --warehouse warehouse
    spark-submit --py-files groupscope.zip jobs/assignments.py --warehouse hdfs://namenode/groupscope

Reads: decoded tables, snapshots, `source_files`. Writes: `assignment_audit`, `assignment_whatif`, `assignor_upgrades`,
the state for the next run, and `runs`. A run continues where the last one ended. --full starts from the beginning and
gives the same rows.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from jobs.output.rows import row_lines
from jobs.output.terminal import terminal_width
from jobs.recomputing.run import Recomputation
from jobs.replaying.command import run_on_log
from schemas.words.assignments import Verdict
from udfs.sentences.counts import counted


def run(arguments: argparse.Namespace) -> int:
    return run_on_log(arguments, Recomputation(is_full=arguments.full), summary_lines)


def summary_lines(result: Mapping[str, Any]) -> Iterator[str]:
    whole = f"{result['num_partitions_recomputed_whole']:,} of them from their first record"
    where = f"{counted(result['num_partitions'], 'offsets partition')} checked, {whole}"
    what = f"{counted(result['num_assignments'], 'assignment')} recomputed"
    yield f"run {result['run_id']}: {where}; {what}; {result['seconds']:.1f} s"
    yield ""
    numbers = [(each.value, result["all_verdicts"][each], result["verdicts"][each], each.meaning) for each in Verdict]
    yield from row_lines(("verdict", "assignments", "of this run", "meaning"), numbers, "table", width=terminal_width())


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["assignments", *sys.argv[1:]]))
