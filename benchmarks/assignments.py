"""`groupscope assignments` on large groups, in a Spark session that is warm, against the ingest of the same records."""

import subprocess
import sys

from benchmarks.assignor_figures import Bound, Duration
from benchmarks.generations import Shape, write_generations
from benchmarks.replay import new_warehouse
from benchmarks.run import Run

GENERATIONS, GROUPS = 10_000, 20


def measure(run: Run) -> Duration:
    number = run.records or GENERATIONS
    shape = Shape(GROUPS, number // GROUPS)
    folder = run.folder / "generations"
    write_generations(folder, shape, run.seed)
    command = [sys.executable, "-m", "benchmarks.assignments_child", str(folder), str(new_warehouse(run))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    ingest, audit, num_same = map(float, done.stdout.split()[-3:])
    if num_same != number:
        raise RuntimeError(f"{number - num_same:.0f} of {number} assignments are not what made them")
    partitions = shape.topics * shape.partitions_per_topic
    name = f"audit of {number:,} generations of {shape.members} members x {partitions} partitions; rival: their ingest"
    return Duration(name, audit, Bound(60 * number / GENERATIONS, 20 * number / GENERATIONS), ingest)
