"""Every figure of the project, each beside its rival in the same run: a table, and the same as JSON.

python -m benchmarks [MEASURE…] [--records N] [--rounds N] [--shape mix|few-keys|many-keys] [--whole]
  [--json FILE] [--keep]

A name that several measures begin with, such as `assignors`, stands for all of them.
"""

import os

# Before NumPy and Arrow are loaded, which is when they make their threads.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from benchmarks import (
    assign,
    assignments,
    assignors,
    audit,
    audit_memory,
    decoding,
    dump,
    framing,
    functions,
    ingest,
    lag,
    live,
    replay,
    report,
    skew,
    slope,
    spark_workers,
    sql,
    start,
    status,
    storages,
)
from benchmarks.durations import Duration, Ratio, Size
from benchmarks.kept_figures import conditions, keep
from benchmarks.rounds import Limit, Measured
from benchmarks.run import Run
from benchmarks.shapes import MIX, SHAPES
from benchmarks.skewed_logs import SKEWS
from benchmarks.slope import StepCost

Figure = Measured | Limit | Ratio | Duration | Size | StepCost
MEASURES: dict[str, Callable[[Run], Figure | Sequence[Figure]]] = {
    "decode": decoding.measure_commits,
    "mix": decoding.measure_mix,
    "framing": framing.measure,
    "dump": dump.measure,
    "memory": dump.measure_memory,
    "functions-spark": functions.measure_spark,
    "functions-duckdb": functions.measure_duckdb,
    "ingest": ingest.measure_spark,
    "ingest-parquet": ingest.measure_parquet,
    "ingest-kafka": ingest.measure_kafka,
    "ingest-again": ingest.measure_again,
    "ingest-more": ingest.measure_more,
    "ingest-memory": ingest.measure_memory,
    "ingest-live": live.measure,
    "ingest-live-again": live.measure_again,
    "replay": replay.measure,
    "replay-linear": replay.measure_linear,
    "replay-more": replay.measure_more,
    "replay-cost": replay.measure_cost,
    "assignments": assignments.measure,
    "lag": lag.measure,
    "audit": audit.measure,
    "audit-workers": audit.measure_workers,
    "audit-again": audit.measure_again,
    "audit-sample": audit.measure_sample,
    "audit-memory": audit_memory.measure,
    "audit-storage": storages.measure,
    "start": start.measure,
    "status": status.measure,
    "assign": assign.measure,
    "assignors-client": assignors.measure_client,
    "assignors-server": assignors.measure_server,
    "assignors-share": assignors.measure_share,
    "sql": sql.measure,
    "report": report.measure,
    "skew": skew.measure,
    "slope": slope.measure,
    "workers-spark": spark_workers.measure,
}
HEAD = ("measure", "ours", "rival", "ratio", "at least", "aim", "verdict")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument(
        "measures", nargs="*", metavar="MEASURE", help=f"of {', '.join(MEASURES)}; all when none is named"
    )
    parser.add_argument("--records", type=int, help="instead of as many as each figure speaks of")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--shape", choices=(MIX, *SHAPES), help="of the log, instead of that which each figure speaks of"
    )
    parser.add_argument("--skew", choices=tuple(SKEWS), help="only this log of the measure `skew`")
    parser.add_argument("--whole", action="store_true", help="every cell of the assignors' grid: more than an hour")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures as JSON too")
    parser.add_argument("--keep", action="store_true", help="in benchmarks/figures.json, for docs/performance.md")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.measures if not named(name)]:
        parser.error(f"unknown measure {unknown[0]}: expected one of {', '.join(MEASURES)}")
    pa.set_cpu_count(1)
    all_figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="groupscope-bench-") as folder:
        run = Run(
            Path(folder), options.rounds, options.records, whole=options.whole, shape=options.shape, skew=options.skew
        )
        for name in [each for word in options.measures or MEASURES for each in named(word)]:
            ran = conditions()
            measured = MEASURES[name](run)
            figures = measured if isinstance(measured, Sequence) else [measured]
            for figure in filter(lambda figure: figure.verdict, figures):
                sys.stderr.write(f"{' · '.join(filter(None, figure.cells()))}\n")
            all_figures += figures
            if options.keep:
                facts = [each.facts() | {"cells": each.cells()} for each in figures]
                keep(name, ran, facts, part=options.skew if name == "skew" else None)
    sys.stdout.write(table([HEAD, *(each.cells() for each in all_figures)]))
    if options.json:
        options.json.write_text(json.dumps([each.facts() for each in all_figures], indent=2) + "\n")
    return int(any(each.verdict == "missed" for each in all_figures))


def named(word: str) -> list[str]:
    return [word] if word in MEASURES else [name for name in MEASURES if name.startswith(f"{word}-")]


def table(rows: list[tuple[str, ...]]) -> str:
    """A Markdown table, ready to be put into a page."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    return "".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |\n" for row in rows
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
