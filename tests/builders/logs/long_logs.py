"""Logs of weeks, read in several runs, and what a slow model says is beyond a term."""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from jobs import cli
from tests.builders.generated.log import generated, some_topics
from tests.builders.logs.by_hand import write_snapshot
from tests.make.log import T0, LoggedBatch, write
from tests.runs.ingested import ROOT, rows, versions

Row = Mapping[str, Any]
DAY = 86_400
HOUR_MS = 3_600_000
# Between two operations: within seconds, or the next part of the day.
PAUSES = (0, 0, 1, 500, 20_000, 6 * HOUR_MS)
PARTITIONS = 2
STEPS = ("ingest", "replay", "assignments", "lag")


class LongLog:
    """A log of two offsets partitions and a snapshot a day, as they grow from step to step."""

    def __init__(self, seed: int, folder: Path, steps: int, operations: int = 200) -> None:
        topics = some_topics(random.Random(seed))
        logs = [generated(seed + each, each, PARTITIONS, topics, operations, 4, PAUSES) for each in range(PARTITIONS)]
        self.folder, self.steps = folder, steps
        self.batches = [log.batches for log in logs]
        self.end = max(log.time for log in logs)
        self.counts = {name: count for name, (_, count) in topics.items()}
        self.ids = {name: topic_id for name, (topic_id, _) in topics.items()}

    def write(self, step: int) -> list[str]:
        """Flags of an ingest of all there is at this step."""
        until = T0 + (self.end - T0) * (step + 1) // self.steps
        folder = self.folder / f"step-{step}"
        for partition, batches in enumerate(self.batches):
            write(folder, partition, list(until_time(batches, until)))
        for day in range((until - T0) // (DAY * 1000) + 1):
            (folder / "snapshots").mkdir(parents=True, exist_ok=True)
            write_snapshot(folder / "snapshots" / f"{day:04}.jsonl", day * DAY + 1, self.counts, self.ids)
        return ["--source", f"segments:{folder}", "--snapshots", str(folder / "snapshots" / "*.jsonl")]


def until_time(batches: Sequence[LoggedBatch], until: int) -> list[LoggedBatch]:
    """Batches up to the first one that is later."""
    later = [place for place, batch in enumerate(batches) if batch.records[-1].time > until]
    return list(batches[: later[0]] if later else batches)


def run(job: str, warehouse: Path, *flags: str) -> None:
    more = ["--fail-on", "never", "--config", str(ROOT / "conf" / "sample.toml")] if job == "gate" else []
    assert cli.main([job, "--warehouse", str(warehouse), "--quiet", *more, *flags]) == 0, (job, flags)


def run_all(warehouse: Path, source: Sequence[str]) -> None:
    for job in STEPS:
        run(job, warehouse, *(source if job == "ingest" else ()))


def as_rows(warehouse: Path, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    at = versions(warehouse)
    return {name: rows(warehouse, name, at) for name in names}


def ended(column: str, length: timedelta = timedelta()) -> Callable[[Row, datetime], bool]:
    return lambda row, since: row[column] is not None and row[column] + length < since


DAY_LONG = timedelta(days=1)
# When rows of a table are over. Not here: rows of assignments, see `Model`.
OVER: dict[str, Callable[[Row, datetime], bool]] = {
    "membership_intervals": ended("to_time"),
    "ownership_intervals": ended("to_time"),
    "transactions": ended("end_time"),
    "replay_anomalies": ended("record_time"),
    "offset_history": lambda row, since: ended("to_time")(row, since) and row["ended_by"] == "commit",
    "lag_points": ended("snapshot_time"),
    "lag_days": ended("day_time", DAY_LONG),
    "lag_minutes": ended("minute_time", timedelta(minutes=1)),
    "consumption_rates": ended("bucket_time", DAY_LONG),
    "group_verdicts": ended("as_of_time"),
    "offset_resets": ended("at_time"),
    "odd_commits": ended("day_time", DAY_LONG),
    "commit_volume": ended("hour_time", timedelta(hours=1)),
}
OF_ASSIGNMENTS = ("rebalances", "generation_members", "partition_moves", "assignment_audit")
STATES = "group_state_intervals"


class Model:
    """Says of each row of a warehouse that nobody maintained whether a term beginning at this time leaves it out."""

    def __init__(self, whole: Mapping[str, Sequence[Row]], since: datetime) -> None:
        self.since = since
        self.rebalances = sorted(whole["rebalances"], key=lambda row: row["assignment_offset"])
        self.states = whole[STATES]

    def leaves_out(self, table: str, row: Row) -> bool:
        if row.get("is_provisional"):
            return False
        if table in OF_ASSIGNMENTS:
            return self.is_replaced(row)
        if table == STATES:
            later = [
                each
                for each in self.states
                if same_group(each, row) and each["from_record_offset"] > row["from_record_offset"]
            ]
            return ended("to_time")(row, self.since) and bool(later)
        return table in OVER and OVER[table](row, self.since)

    def is_replaced(self, row: Row) -> bool:
        """Whether each assignment of the group up to this one was replaced before the term."""
        ours = [each for each in self.rebalances if same_group(each, row)]
        for one, following in pairwise(ours):
            is_over = following["end_time"] is not None and following["end_time"] < self.since
            if not is_over:
                return bool(row["assignment_offset"] < one["assignment_offset"])
        return bool(ours) and bool(row["assignment_offset"] < ours[-1]["assignment_offset"])


def same_group(one: Row, other: Row) -> bool:
    return (one["evidence_partition"], one["group_id"]) == (other["evidence_partition"], other["group_id"])
