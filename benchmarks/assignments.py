"""`groupscope assignments` on large groups, against the ingest of the same records, both as a user starts them."""

from deltalake import DeltaTable

from benchmarks.commands import groupscope, ingest_command, new_warehouse, seconds_of
from benchmarks.durations import Bound, Duration
from benchmarks.generations import Shape, write_generations
from benchmarks.run import Run

GENERATIONS, GROUPS = 10_000, 20


def measure(run: Run) -> Duration:
    number = run.records or GENERATIONS
    shape = Shape(GROUPS, number // GROUPS)
    folder, warehouse = run.folder / "generations", new_warehouse(run.folder)
    write_generations(folder, shape, run.seed)
    command = ingest_command(f"segments:{folder}", warehouse)
    ingest = seconds_of([*command, "--snapshots", str(folder / "snapshots.jsonl")])
    audit = seconds_of(groupscope("assignments", "--warehouse", warehouse))
    audited = DeltaTable(warehouse / "assignment_audit").to_pyarrow_table().column("verdict").to_pylist()
    if audited != ["same"] * number:
        raise RuntimeError(f"{number - audited.count('same')} of {number} assignments are not what made them")
    partitions = shape.topics * shape.partitions_per_topic
    name = f"audit of {number:,} generations of {shape.members} members x {partitions} partitions; rival: their ingest"
    return Duration(name, audit, Bound(60 * number / GENERATIONS, 20 * number / GENERATIONS), ingest)
