"""`groupscope ingest`, as a user starts it, against Spark's own Delta writer, kafka-dump-log and the bare writing of
Parquet. A round takes a new warehouse."""

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.commands import ingest_command, new_warehouse, seconds_of, with_new_warehouse
from benchmarks.dump import BYTES_PER_RECORD, LARGE_FILE_BYTES, kafka_dump_command
from benchmarks.memory import by_program, peak_by_program
from benchmarks.rounds import Goal, Limit, Measured, take_turns
from benchmarks.run import Run
from benchmarks.shapes import FEW_KEYS, MIX

RECORDS = 10_000_000
PARTITIONS = 8
SEGMENT_BYTES = 100 << 20
COMPRESSED_SHARE = 0.05
WRITERS = 2
# Rows of a table that a bare writer holds in memory at a time.
HELD_ROWS = 1_000_000
MOST_WORKER_BYTES = 1 << 30


def source(run: Run, shape: str = MIX) -> tuple[Path, int]:
    files = run.segments(
        RECORDS,
        partitions=PARTITIONS,
        segment_bytes=SEGMENT_BYTES,
        compressed_share=COMPRESSED_SHARE,
        shape=shape,
    )
    return files[0].parent.parent, run.records or RECORDS


def ingest_seconds(run: Run, source: str) -> float:
    return with_new_warehouse(run.folder, lambda warehouse: seconds_of(ingest_command(source, warehouse)))


def measure_kafka(run: Run) -> Measured:
    folder, records = source(run, FEW_KEYS)
    files = sorted(folder.rglob("*.log"))
    rounds = min(run.rounds, 3)
    ours, theirs = take_turns(
        lambda: ingest_seconds(run, f"segments:{folder}"),
        lambda: seconds_of(kafka_dump_command(files)),
        rounds,
        warm_up=0,
    )
    shape = run.shape or FEW_KEYS
    goal = Goal(at_least=2.0, aim=2.6) if shape == MIX else Goal(at_least=5.0, aim=7.0)
    name = f"ingest of {records:,} records, {shape}, into Delta, start-up counted"
    return Measured(name, "kafka-dump-log printing them", "records/s", records / ours, records / theirs, goal, rounds)


def measure_spark(run: Run) -> Measured:
    """Spark's session has started and has written something before: what ours needs to start is counted, its is not."""
    rival = "df.write.format('delta') of the same rows, ready-made, Spark's start not counted"
    return beside(run, rival, delta_seconds, Goal(at_least=3.0, aim=5.0))


def measure_parquet(run: Run) -> Measured:
    rival = "the same rows, ready-made, written as Parquet by as many processes"
    return beside(run, rival, bare_seconds, Goal(at_least=0.35, aim=0.5))


def beside(run: Run, rival: str, theirs: Callable[[Path, Path], float], goal: Goal) -> Measured:
    """Ours against a rival that is given the rows and a folder to write them into."""
    folder, records = source(run)
    ready = ready_made(run, folder)
    rounds = min(run.rounds, 3)
    our_seconds, their_seconds = take_turns(
        lambda: ingest_seconds(run, f"segments:{folder}"),
        lambda: with_new_warehouse(run.folder, partial(theirs, ready)),
        rounds,
        warm_up=0,
    )
    name = f"ingest of {records:,} records into Delta, start-up counted"
    return Measured(name, rival, "records/s", records / our_seconds, records / their_seconds, goal, rounds)


def ready_made(run: Run, folder: Path) -> Path:
    """The rows that an ingest of the folder makes."""
    ready = run.folder / "ready"
    if not ready.exists():
        ingest_seconds(run, f"segments:{folder}")
        (run.folder / "warehouse").rename(ready)
    return ready


def delta_seconds(ready: Path, folder: Path) -> float:
    command = [sys.executable, "-m", "benchmarks.delta_writer", str(ready), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def bare_seconds(ready: Path, folder: Path) -> float:
    """Rows are read before the clock starts; each process writes its share of files."""
    files = sorted(ready.glob("*/part-*.parquet"), key=lambda path: path.stat().st_size, reverse=True)
    with multiprocessing.get_context("fork").Pool(WRITERS) as pool:
        shares = [(files[number::WRITERS], folder / str(number)) for number in range(WRITERS)]
        return max(pool.starmap(write_share, shares, chunksize=1))


def write_share(files: Sequence[Path], folder: Path) -> float:
    pa.set_cpu_count(1)
    folder.mkdir(parents=True)
    seconds = 0.0
    for path in files:
        with pq.ParquetFile(path) as file:
            with pq.ParquetWriter(folder / path.name, file.schema_arrow, compression="zstd") as writer:
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group)
                    start = time.perf_counter()
                    writer.write_table(rows, row_group_size=HELD_ROWS)
                    seconds += time.perf_counter() - start
                start = time.perf_counter()
            seconds += time.perf_counter() - start
    return seconds


def measure_again(run: Run) -> Measured:
    """The second time everything is known."""
    folder, records = source(run)
    first = ingest_seconds(run, f"segments:{folder}")
    again = seconds_of(ingest_command(f"segments:{folder}", run.folder / "warehouse"))
    name = f"a second ingest of {records:,} records, start-up counted"
    return Measured(name, "the first", "runs/h", 3600 / again, 3600 / first, Goal(round(1 / 0.15, 2), 20), 1)


def measure_more(run: Run) -> Measured:
    """One segment in a hundred is new."""
    folder, records = source(run)
    held_back = run.folder / "held_back"
    held_back.mkdir(exist_ok=True)
    (last,) = sorted(folder.rglob("*.log"), key=lambda path: path.stat().st_size)[:1]
    apart = held_back / last.name
    last.rename(apart)
    try:
        first = ingest_seconds(run, f"segments:{folder}")
    finally:
        apart.rename(last)
    size = last.stat().st_size / sum(path.stat().st_size for path in folder.rglob("*.log"))
    more = seconds_of(ingest_command(f"segments:{folder}", run.folder / "warehouse"))
    name = f"an ingest of {size:.1%} more, start-up counted"
    return Measured(
        name, f"the first, of {records:,} records", "runs/h", 3600 / more, 3600 / first, Goal(10.0, 20.0), 1
    )


def measure_memory(run: Run) -> Limit:
    """Of one segment of a gigabyte."""
    (file,) = run.segments(LARGE_FILE_BYTES // BYTES_PER_RECORD)
    command = ingest_command(f"segments:{file.parent.parent}", new_warehouse(run.folder))
    peaks = peak_by_program(command)
    size = f"{file.stat().st_size / 1e6:,.0f} MB"
    return Limit(
        f"memory of an ingest of {size}, largest process", by_program(peaks), max(peaks.values()), MOST_WORKER_BYTES
    )
