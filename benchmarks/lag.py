"""`groupscope lag` against the replay of the same log, both as a user starts them, with many snapshots; then a whole
audit, the part of it that the gate takes, and the views over what was written."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.audit import SEGMENT_BYTES
from benchmarks.audit_memory import MOST_BYTES
from benchmarks.cast import PARTITIONS
from benchmarks.commands import groupscope, new_warehouse, seconds_of
from benchmarks.durations import Bound, Duration, Ratio
from benchmarks.log import FIRST_TIME, MS_PER_BATCH
from benchmarks.memory import WORKER, by_program, peak_by_program
from benchmarks.rounds import Limit
from benchmarks.run import Run
from benchmarks.shaped_log import COMMITS_PER_BATCH
from benchmarks.shapes import FEW_KEYS, SHAPES, Shape, groups_by_home, topics_of
from benchmarks.step_times import step_times
from schemas.views import VIEWS

RECORDS = 10_000_000
NUM_SNAPSHOTS, NUM_PARTITIONS = 1_000, 2_000
AT_MOST, GATE_AT_MOST, VIEW_AT_MOST = Bound(1.0), Bound(0.1), Bound(2)
# Of a view: more nobody reads.
ROWS_SHOWN = 100
# Committed offsets rise by so much with each record, and stand apart by so much from partition to partition.
STEP, APART = 3, 1_000_003
# How far producers are ahead of what is committed.
AHEAD = 5_000


def measure(run: Run) -> list[Ratio | Limit | Duration]:
    records = run.records or RECORDS
    files = run.segments(records, partitions=8, segment_bytes=SEGMENT_BYTES, shape=FEW_KEYS)
    folder, shape = files[0].parent.parent, SHAPES[run.shape or FEW_KEYS]
    snapshots = run.folder / f"ends-{records}.jsonl"
    write_snapshots(snapshots, shape, run.seed, records)
    warehouse = new_warehouse(run.folder)
    inputs = ("--source", f"segments:{folder}", "--snapshots", snapshots)
    seconds_of(groupscope("ingest", *inputs, "--warehouse", warehouse))
    replayed = seconds_of(groupscope("replay", "--warehouse", warehouse))
    kept = run.folder / "replayed"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(warehouse, kept)
    lag = groupscope("lag", "--warehouse", warehouse)
    measured = seconds_of(lag)
    new_warehouse(run.folder)
    kept.rename(warehouse)
    # With one worker the driver would do the work.
    peaks = peak_by_program([*lag, "--workers", "2"])
    warehouse = new_warehouse(run.folder)
    report = ("--report", run.folder / "report", "--fail-on", "never")
    whole = seconds_of(groupscope("audit", *inputs, "--warehouse", warehouse, *report))
    gated = next(step.seconds for step in step_times(warehouse) if step.job == "gate")
    by_view = {view: view_seconds(view, warehouse) for view in VIEWS}
    slowest = max(by_view, key=lambda view: by_view[view])
    log = f"{records:,} records, {NUM_SNAPSHOTS:,} snapshots of {NUM_PARTITIONS:,} partitions"
    return [
        Ratio(f"lag of {log}; rival: their replay", measured, replayed, AT_MOST),
        Ratio("gate of an audit of it; rival: the audit", gated, whole, GATE_AT_MOST),
        Duration(f"the slowest view over it, {slowest}; rival: lag", by_view[slowest], VIEW_AT_MOST, measured),
        Limit(f"memory of a worker, lag of {log}", by_program(peaks), peaks[WORKER], MOST_BYTES),
    ]


def view_seconds(view: str, warehouse: Path) -> float:
    return seconds_of(groupscope("sql", f"SELECT * FROM {view} LIMIT {ROWS_SHOWN}", "--warehouse", warehouse))


def write_snapshots(path: Path, shape: Shape, seed: int, records: int) -> None:
    """Spread over the time of the log, with what producers had written by then."""
    per_group = records / shape.groups
    last = max(len(groups) for groups in groups_by_home(shape).values()) * per_group / COMMITS_PER_BATCH * MS_PER_BATCH
    with path.open("w") as file:
        for elapsed in np.linspace(0, last, NUM_SNAPSHOTS).astype(np.int64).tolist():
            written = elapsed * COMMITS_PER_BATCH // MS_PER_BATCH
            file.write(json.dumps({"captured_at": FIRST_TIME + elapsed, "topics": list(topics(shape, seed, written))}))
            file.write("\n")


def topics(shape: Shape, seed: int, written: int) -> Iterator[dict[str, object]]:
    """With as many more that nobody reads as make the number of partitions."""
    left = NUM_PARTITIONS
    read = topics_of(shape, seed)
    more = topics_of(replace(shape, topics=NUM_PARTITIONS), seed)[len(read) :]
    for number, topic in enumerate((*read, *more)):
        if left <= 0:
            return
        firsts = [(number * PARTITIONS + each) * APART for each in range(min(topic.partitions, left))]
        left -= len(firsts)
        yield {
            "topic": topic.name,
            "topic_id": topic.topic_id,
            "partitions": [
                {"partition": each, "log_start_offset": first, "log_end_offset": first + written * STEP + AHEAD}
                for each, first in enumerate(firsts)
            ],
        }
