"""`groupscope replay` against the ingest of the same records, in one Spark session, whose start is not counted."""

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.dump import seconds_of
from benchmarks.ingest import COMPRESSED_SHARE, SEGMENT_BYTES, ingest_command
from benchmarks.rounds import Goal, Measured
from benchmarks.run import Run
from jobs.engine.processors import cores

RECORDS = 10_000_000
PARTITIONS = 8
RECORDS_PER_GROUP = 500
# What the first run does not get to see.
HELD_BACK_SHARE = 0.01
MANY_GROUPS = 20_000
MOST_MS_A_GROUP = 0.3


def source(run: Run, records: int) -> tuple[Path, int]:
    records = run.records or records
    files = run.segments(
        records,
        partitions=PARTITIONS,
        segment_bytes=SEGMENT_BYTES,
        compressed_share=COMPRESSED_SHARE,
        lives=records // RECORDS_PER_GROUP,
    )
    return files[0].parent.parent, records


def child_seconds(run: Run, what: str, folder: Path) -> tuple[float, float]:
    warehouse = new_warehouse(run)
    command = [sys.executable, "-m", "benchmarks.replay_child", what, f"segments:{folder}", str(warehouse)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    first, second = map(float, done.stdout.split()[-2:])
    return first, second


def new_warehouse(run: Run) -> Path:
    warehouse = run.folder / "warehouse"
    shutil.rmtree(warehouse, ignore_errors=True)
    return warehouse


def measure(run: Run) -> Measured:
    folder, records = source(run, RECORDS)
    rounds = min(run.rounds, 3)
    pairs = sorted(
        (child_seconds(run, "after-ingest", folder) for _ in range(rounds)), key=lambda pair: pair[0] / pair[1]
    )
    ingest, replay = pairs[len(pairs) // 2]
    name = f"replay of {records:,} records, {records // RECORDS_PER_GROUP:,} groups"
    goal = Goal(at_least=round(1 / 1.2, 2), aim=1.25)
    return Measured(name, "their ingest", "records/s", records / replay, records / ingest, goal, rounds)


def measure_linear(run: Run) -> Measured:
    """Ten times as many records a group: what a record costs must stay."""
    small, few = source(run, RECORDS // 10)
    _, of_few = child_seconds(run, "after-ingest", small)
    plan = Run(run.folder, run.rounds, None, run.seed, run.written)
    large, many = source(plan, 10 * few)
    _, of_many = child_seconds(run, "after-ingest", large)
    name, rival = f"replay of {many:,} records", f"replay of {few:,} records"
    return Measured(name, rival, "records/s", many / of_many, few / of_few, Goal(0.8, 1.0), 1)


def measure_more(run: Run) -> Measured:
    """About a hundredth of the records comes later. Both as a user starts them."""
    folder, records = source(run, RECORDS)
    shorter = run.folder / "shorter"
    shutil.rmtree(shorter, ignore_errors=True)
    shutil.copytree(folder, shorter, copy_function=lambda old, new: Path(new).hardlink_to(old))
    for last in (sorted(each.glob("*.log"))[-1] for each in shorter.iterdir()):
        cut(last, HELD_BACK_SHARE * sum(path.stat().st_size for path in last.parent.glob("*.log")))
    warehouse = new_warehouse(run)
    seconds = []
    for place in (shorter, folder):
        seconds_of(ingest_command(f"segments:{place}", warehouse))
        seconds.append(seconds_of([ingest_command("", warehouse)[0], "replay", "--warehouse", str(warehouse)]))
    name = f"replay of about {HELD_BACK_SHARE:.0%} more, start-up counted"
    return Measured(
        name, f"the first, of {records:,}", "runs/h", 3600 / seconds[1], 3600 / seconds[0], Goal(5.0, 10.0), 1
    )


def measure_groups(run: Run) -> Measured:
    """What Spark itself costs: the time by Spark less the share of each core of the time without it."""
    files = run.segments(2 * MANY_GROUPS, partitions=PARTITIONS, lives=MANY_GROUPS)
    by_spark, alone = child_seconds(run, "both-ways", files[0].parent.parent)
    overhead = max(by_spark - alone / cores(), 0.01)
    name = f"Spark's own part in the replay of {MANY_GROUPS:,} groups"
    return Measured(
        name, "0.3 ms a group", "groups/s", MANY_GROUPS / overhead, 1000 / MOST_MS_A_GROUP, Goal(1.0, 2.0), 1
    )


def cut(segment: Path, num_bytes: float) -> None:
    """Without its last batches, of about so many bytes."""
    data = segment.read_bytes()
    keep, place = len(data) - num_bytes, 0
    while place < keep:
        place += 12 + int.from_bytes(data[place + 8 : place + 12], "big")
    segment.unlink()
    segment.write_bytes(data[:place])
