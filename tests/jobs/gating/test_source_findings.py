"""Sources that brought nothing new: all of them, the log alone, or one offsets partition of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.configuration.settings import Settings
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.sql_text import parameters
from jobs.queries.engines.duckdb_engine import scope_of
from schemas.words.gate import FindingKind
from tests.make.tables import NOW, make

PARAMETERS = parameters("a", NOW, NOW, Settings())
ALL = Events(None, NOW)
KIND = FindingKind.SOURCE_NOT_ADVANCING
Tables = Mapping[str, Sequence[Mapping[str, Any]]]
OLD, FRESH = NOW - timedelta(hours=26), NOW - timedelta(hours=1)
KNOWN = {"last_offset": 9, "to_time": OLD}


def log_end(time: datetime, end: int, partition: int = 0) -> Mapping[str, Any]:
    return {"topic": "__consumer_offsets", "partition": partition, "captured_time": time, "log_start_offset": 0,
            "log_end_offset": end}  # fmt: skip


LIVE_PARTITION = {"offsets_partition": 1, "to_time": NOW}
# What the sources brought, and what is said of them.
SOURCES: dict[str, tuple[Tables, list[tuple[str, str, int | None]]]] = {
    "everything is old": (
        {"history_coverage": [KNOWN], "topic_snapshots": [log_end(OLD, 20)]},
        [("critical", "the newest record or snapshot is of 2026-11-20 01:00:00, more than 25 h before the run: has "
          "the source stopped?", None)],
    ),
    "the log is old, and nothing says that it goes on": (
        {"history_coverage": [KNOWN], "topic_snapshots": [{"topic": "t", "captured_time": FRESH}]},
        [("critical", "the newest record of the log is of 2026-11-20 01:00:00, more than 25 h before the run, "
          "while snapshots go on: has the copy of the log stopped?", None)],
    ),
    "snapshots confirm that nothing was written": (
        {"history_coverage": [KNOWN], "topic_snapshots": [log_end(FRESH, 10)]}, [],
    ),
    "a snapshot of the future says nothing": (
        {"history_coverage": [KNOWN],
         "topic_snapshots": [log_end(OLD, 10), log_end(NOW + timedelta(days=400), 10)]},
        [("critical", "the newest record or snapshot is of 2026-11-20 01:00:00, more than 25 h before the run: has "
          "the source stopped?", None)],
    ),
    "an offsets partition goes on, and its copy does not": (
        {"history_coverage": [KNOWN, LIVE_PARTITION], "topic_snapshots": [log_end(OLD, 12), log_end(FRESH, 15)]},
        [("critical", "offsets partition 0: known up to record 9 of 2026-11-20 01:00:00, but since 2026-11-20 01:00:00 "
          "snapshots show more, 5 by now: has its copy stopped?", 0)],
    ),
    "it goes on since an hour ago": (
        {"history_coverage": [KNOWN, LIVE_PARTITION], "topic_snapshots": [log_end(OLD, 10), log_end(FRESH, 15)]}, [],
    ),
    "an offsets partition never came": (
        {"history_coverage": [LIVE_PARTITION], "topic_snapshots": [log_end(OLD, 3), log_end(FRESH, 3)]},
        [("warning", "offsets partition 0: none of its records is known, but since 2026-11-20 01:00:00 snapshots show "
          "more, 3 by now: has its copy stopped?", 0)],
    ),
    "all records of an offsets partition were deleted": (
        {"history_coverage": [LIVE_PARTITION], "topic_snapshots": [{**log_end(OLD, 3), "log_start_offset": 3},
                                                                   {**log_end(FRESH, 3), "log_start_offset": 3}]}, [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SOURCES)
def test_a_source_that_stopped_is_named_and_a_quiet_one_is_not(tmp_path: Path, case: str) -> None:
    tables, reported = SOURCES[case]
    warehouse, (file,) = make(tmp_path, tables), [each for each in finding_files() if each.kind == KIND]
    with scope_of(warehouse, [statement := file.grouped_sql(PARAMETERS, ALL)]) as answer:
        names, rows = answer(statement)
        result = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(each["severity"], each["message"], each["evidence_partition"]) for each in result] == reported
