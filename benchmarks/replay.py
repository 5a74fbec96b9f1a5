"""`groupscope replay` against the ingest of the same records, both as a user starts them."""

import shutil
from dataclasses import replace
from pathlib import Path

from benchmarks.commands import groupscope, ingest_command, new_warehouse, seconds_of
from benchmarks.durations import Bound, Duration
from benchmarks.ingest import COMPRESSED_SHARE, SEGMENT_BYTES
from benchmarks.processor_time import processor_seconds_of
from benchmarks.rounds import Goal, Measured
from benchmarks.run import Run
from benchmarks.shapes import FEW_KEYS, MANY_KEYS
from schemas.words.records import OFFSETS_TOPIC

RECORDS = 10_000_000
PARTITIONS = 8
# Logs of commits: how many records, and what one may take of a processor.
COMMIT_LOGS = {FEW_KEYS: (10_000_000, Bound(1e-6, 0.7e-6)), MANY_KEYS: (3_000_000, Bound(2e-6, 1.3e-6))}
# What the first run does not get to see.
HELD_BACK_SHARE = 0.01


def source(run: Run, records: int) -> tuple[Path, int]:
    files = run.segments(
        records,
        partitions=PARTITIONS,
        segment_bytes=SEGMENT_BYTES,
        compressed_share=COMPRESSED_SHARE,
        follow_up=True,
    )
    return files[0].parent.parent, run.records or records


def ingest_and_replay(run: Run, folder: Path) -> tuple[float, float]:
    """Seconds of either into a new warehouse."""
    warehouse = new_warehouse(run.folder)
    return seconds_of(ingest_command(f"segments:{folder}", warehouse)), replay_seconds(warehouse)


def replay_seconds(warehouse: Path) -> float:
    return seconds_of(groupscope("replay", "--warehouse", warehouse))


def measure(run: Run) -> Measured:
    folder, records = source(run, RECORDS)
    rounds = min(run.rounds, 3)
    pairs = sorted((ingest_and_replay(run, folder) for _ in range(rounds)), key=lambda pair: pair[0] / pair[1])
    ingest, replay = pairs[len(pairs) // 2]
    name = f"replay of {records:,} records, start-up counted"
    goal = Goal(at_least=round(1 / 1.2, 2), aim=1.25)
    return Measured(name, "their ingest", "records/s", records / replay, records / ingest, goal, rounds)


def measure_linear(run: Run) -> Measured:
    """Ten times as many records: what a record costs must stay."""
    small, few = source(run, RECORDS // 10)
    _, of_few = ingest_and_replay(run, small)
    large, many = source(replace(run, records=None), 10 * few)
    _, of_many = ingest_and_replay(run, large)
    name, rival = f"replay of {many:,} records, start-up counted", f"replay of {few:,} records"
    return Measured(name, rival, "records/s", many / of_many, few / of_few, Goal(0.8, 1.0), 1)


def measure_more(run: Run) -> Measured:
    """About a hundredth of the records comes later."""
    folder, records = source(run, RECORDS)
    shorter = run.folder / "shorter"
    shutil.rmtree(shorter, ignore_errors=True)
    shutil.copytree(folder, shorter, copy_function=lambda old, new: Path(new).hardlink_to(old))
    for last in (sorted(each.glob("*.log"))[-1] for each in shorter.glob(f"{OFFSETS_TOPIC}-*")):
        cut(last, HELD_BACK_SHARE * sum(path.stat().st_size for path in last.parent.glob("*.log")))
    warehouse = new_warehouse(run.folder)
    seconds = []
    for place in (shorter, folder):
        seconds_of(ingest_command(f"segments:{place}", warehouse))
        seconds.append(replay_seconds(warehouse))
    name = f"replay of about {HELD_BACK_SHARE:.0%} more, start-up counted"
    return Measured(
        name, f"the first, of {records:,}", "runs/h", 3600 / seconds[1], 3600 / seconds[0], Goal(5.0, 10.0), 1
    )


def measure_cost(run: Run) -> list[Duration]:
    return [cost_of(run, shape, records, bound) for shape, (records, bound) in COMMIT_LOGS.items()]


def cost_of(run: Run, shape: str, most_records: int, bound: Bound) -> Duration:
    """Processor time of a record, by one worker, the least of all rounds."""
    records = run.records or most_records
    folder = run.segments(records, partitions=PARTITIONS, shape=shape)[0].parent.parent
    rounds = [ingest_and_replay_cost(run, folder) for _ in range(min(run.rounds, 3))]
    ingest, replay = (min(times) / records for times in zip(*rounds, strict=True))
    name = f"processor time of a record in a replay of {records:,}, {shape}; rival: in their ingest"
    return Duration(name, replay, bound if records == most_records else None, ingest)


def ingest_and_replay_cost(run: Run, folder: Path) -> tuple[float, float]:
    warehouse = new_warehouse(run.folder)
    ingest = [*ingest_command(f"segments:{folder}", warehouse), "--workers", "1"]
    return processor_seconds_of(ingest), processor_seconds_of(
        groupscope("replay", "--warehouse", warehouse, "--workers", "1")
    )


def cut(segment: Path, num_bytes: float) -> None:
    """Without its last batches, of about so many bytes."""
    data = segment.read_bytes()
    keep, place = len(data) - num_bytes, 0
    while place < keep:
        place += 12 + int.from_bytes(data[place + 8 : place + 12], "big")
    segment.unlink()
    segment.write_bytes(data[:place])
