"""`groupscope ingest` of a live log against that of the same broker's segment files, which runs beside both."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.commands import groupscope, ingest_command, seconds_of, with_new_warehouse
from benchmarks.ingest import COMPRESSED_SHARE, PARTITIONS, RECORDS, SEGMENT_BYTES, ingest_seconds
from benchmarks.rounds import Goal, Measured, take_turns
from benchmarks.run import Run
from schemas.words.records import OFFSETS_TOPIC
from tests.kafka.broker import Broker, running
from tests.kafka.live.committing import commit, make_topics
from tests.kafka.releases import NEWEST

SETTINGS = {
    # The log must stay as it is.
    "log.cleaner.enable": "false",
    "offsets.retention.minutes": "100000000",
}
# What a run with nothing new to read may take.
MOST_SECONDS = 3.0


@contextmanager
def serving(run: Run) -> Iterator[Broker]:
    """A broker that has the generated segments for its own."""
    files = run.segments(RECORDS, partitions=PARTITIONS, segment_bytes=SEGMENT_BYTES, compressed_share=COMPRESSED_SHARE)
    # One more than the last that holds anything.
    partitions = 1 + max(int(file.parent.name.rsplit("-", 1)[1]) for file in files)
    settings = SETTINGS | {"offsets.topic.num.partitions": str(partitions)}
    with (
        tempfile.TemporaryDirectory(prefix="groupscope-broker-") as folder,
        running(NEWEST, Path(folder), settings) as broker,
    ):
        make_topics(broker, "orders")
        commit(broker, "group", "orders", 1)
        broker.stop()
        for partition in range(partitions):
            home = broker.log_dir / f"{OFFSETS_TOPIC}-{partition}"
            for old in home.iterdir():
                if old.name != "partition.metadata":
                    old.unlink()
        for file in files:
            shutil.copy(file, broker.log_dir / file.parent.name)
        # It makes indexes for them as after a crash.
        (broker.log_dir / ".kafka_cleanshutdown").unlink()
        broker.start(settings)
        wait_until_loaded(broker, Path(folder) / "snapshots.jsonl")
        yield broker


def wait_until_loaded(broker: Broker, into: Path) -> None:
    """A broker that starts reads its offsets partitions itself, on all cores; who asks for groups waits for that."""
    seconds_of(groupscope("capture", "--source", f"kafka:{broker.bootstrap}", "--into", into))


def measure(run: Run) -> Measured:
    rounds = min(run.rounds, 3)
    with serving(run) as broker:
        ours, theirs = take_turns(
            lambda: ingest_seconds(run, f"kafka:{broker.bootstrap}"),
            lambda: ingest_seconds(run, f"segments:{broker.log_dir}"),
            rounds,
            warm_up=0,
        )
    records = run.records or RECORDS
    name = f"ingest of {records:,} records of a live log, start-up counted"
    rival = "ingest of that broker's segment files"
    return Measured(name, rival, "records/s", records / ours, records / theirs, Goal(1 / 1.6, 1.0), rounds)


def measure_again(run: Run) -> Measured:
    """Nothing is new: the whole command, beside what it may take."""
    with serving(run) as broker:
        command = ingest_command(f"kafka:{broker.bootstrap}", run.folder / "warehouse")
        with_new_warehouse(run.folder, lambda _: seconds_of(command))
        again = seconds_of(command)
    name = "a second ingest of a live log with nothing new, start-up counted"
    return Measured(name, f"one of {MOST_SECONDS:g} s", "runs/s", 1 / again, 1 / MOST_SECONDS, Goal(1.0, 2.0), 1)
