"""`groupscope dump` against kafka-dump-log, start-up counted, and the memory that dump takes."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.commands import groupscope, seconds_of
from benchmarks.memory import peak_bytes
from benchmarks.rounds import Goal, Limit, Measured, take_turns
from benchmarks.run import Run
from jobs.spark.jars import jar_folder
from tests.kafka.jar_sets import KAFKA_4_3_1
from tests.kafka.java_programs import java_command

RECORDS = 1_600_000
LARGE_FILE_BYTES = 1 << 30
# About what a record of the generated mix takes in a segment.
BYTES_PER_RECORD = 180
MOST_BYTES = 500e6


def measure(run: Run) -> Measured:
    files = run.segments(RECORDS, partitions=4, segment_bytes=100 << 20, compressed_share=0.05)
    theirs = kafka_dump_command(files)
    # Kafka's takes half a minute a round, and nothing of it is warm in the next one.
    ours_seconds, theirs_seconds = take_turns(
        lambda: seconds_of(dump_command(files)), lambda: seconds_of(theirs), run.rounds, warm_up=0
    )
    records = run.records or RECORDS
    return Measured(
        f"groupscope dump of {records:,} records, start-up counted",
        "kafka-dump-log --offsets-decoder --print-data-log",
        "records/s",
        records / ours_seconds,
        records / theirs_seconds,
        Goal(at_least=6.0, aim=10.0),
        run.rounds,
    )


def measure_memory(run: Run) -> Limit:
    """Of files whose sizes are far apart the larger must not take more."""
    small = run.segments(100_000)
    large = run.segments(LARGE_FILE_BYTES // BYTES_PER_RECORD)
    peaks = {file.stat().st_size: peak_bytes(dump_command([file])) for (file,) in (small, large)}
    seen = ", ".join(f"{peak / 1e6:.0f} MB for {size / 1e6:,.0f} MB" for size, peak in peaks.items())
    return Limit("memory of groupscope dump, all its processes", seen, max(peaks.values()), MOST_BYTES)


def dump_command(files: Sequence[Path]) -> list[str]:
    return groupscope("dump", *files)


def kafka_dump_command(files: Sequence[Path]) -> list[str]:
    options = ["--offsets-decoder", "--print-data-log", "--files", ",".join(map(str, files))]
    return java_command("org.apache.kafka.tools.DumpLogSegments", [jar_folder(KAFKA_4_3_1)], options)
