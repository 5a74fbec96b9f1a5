"""What a finding says of one thing, and of two. That Spark says the same is tested with the other findings."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.configuration.settings import Gate, Settings
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.sql_text import parameters
from jobs.queries.engines.duckdb_engine import scope_of
from tests.make.tables import NOW, make

PARAMETERS = parameters("a", NOW, NOW, Settings(gate=Gate(offsets_partition_limit_bytes=1)))
Rows = Sequence[Mapping[str, Any]]
OLD = NOW - timedelta(days=31)
RESET: dict[str, Any] = {"partitions": [], "from_offsets": [], "to_offsets": [], "topic": "t", "at_time": NOW}
STABLE = {"state": "Stable", "to_offset": None, "num_members": 1}
EMPTY = {"state": "Empty", "to_offset": None, "from_time": OLD}
HISTORY = {"topic": "t", "to_offset": None, "last_commit_time": OLD, "commit_time": OLD}
DAY = {"topic": "t", "day_time": NOW, "num_points": 1, "time_lag_ms_max": 9_000}
MINUTE = {"topic": "t", "minute_time": NOW, "num_points": 1, "time_lag_ms_max": 9_000}
ASKED = {"own_verdict": "OK", "partition": None, "freshness_objective_ms": 5_000}


def tables(kind: str, number: int) -> Mapping[str, Rows]:
    """Those that give the finding, each with so many of what it counts."""
    match kind:
        case "assignment_drift":
            drift = {"verdict": "drift", "num_different": number, "num_partitions": number, "record_time": NOW}
            return {"assignment_audit": [{**drift, "assignor": "range"}]}
        case "damaged_records":
            damage = {"byte_position": 5, "reason": "bad_crc", "num_records": number, "source_file": "f"}
            return {"rejected_records": [damage]}
        case "dead_group":
            history = [{**HISTORY, "partition": place} for place in range(number)]
            return {"group_state_intervals": [EMPTY], "offset_history": history}
        case "freshness_missed":
            minutes = [{**MINUTE, "minute_time": NOW - timedelta(minutes=place)} for place in range(number)]
            days = [{**DAY, "num_minutes": number, "num_minutes_known": number}]
            return {"lag_days": days, "lag_minutes": minutes, "group_verdicts": [ASKED]}
        case "messages_lost":
            return {"lag_points": [{"topic": "t", "lost_messages": number}]}
        case "odd_commits":
            odd = {"kind": "negative", "last_time": NOW, "num_commits": number, "topic": "t", "detail": "committed -1"}
            return {"commit_findings": [odd]}
        case "offsets_expired":
            return {"offset_resets": [{**RESET, "kind": "expired", **of_reset(number)}]}
        case "offsets_expiring":
            forecast = {"topic": "t", "expires_time": NOW, "messages_at_risk": number, "rule": "group_empty"}
            return {"expiry_forecast": [forecast]}
        case "offsets_reset":
            return {"offset_resets": [{**RESET, "kind": "shift", "actor": "member", **of_reset(number)}]}
        case "offsets_topic_unhealthy":
            file = {"kind": "segments", "size_bytes": 6 // number, "offsets_partition": 0}
            return {"source_files": [{**file, "source_file": str(place)} for place in range(number)]}
        case "ungated_commits":
            commit = {"topic": "t", "commit_time": NOW, "committed_offset": 5 + number, "delta": number}
            span = {"topic": "t", "from_offset": 0, "to_offset": 5, "verdict": "passed", "recorded_time": OLD}
            return {"offset_history": [{**commit, "previous_offset": 5}], "gate_spans": [span]}
        case _:
            unowned = {"num_unowned": number, "num_partitions": number, "verdict": "same", "record_time": NOW}
            return {"assignment_audit": [unowned], "group_state_intervals": [STABLE]}


def of_reset(number: int) -> Mapping[str, int]:
    return {"num_partitions": number, "messages_reread": number, "messages_skipped": 0}


MESSAGES = {
    "assignment_drift": (
        "1 of 1 partition has another owner than Kafka's range computes",
        "2 of 2 partitions have another owner than Kafka's range computes",
    ),
    "damaged_records": ("f, byte 5: bad_crc, 1 record", "f, byte 5: bad_crc, 2 records"),
    "dead_group": (
        "no members since 2026-10-21 03:00:00, its only offset is of 2026-10-21 03:00:00",
        "no members since 2026-10-21 03:00:00, the newest of its 2 offsets is of 2026-10-21 03:00:00",
    ),
    "freshness_missed": (
        "t: its oldest unread message was older than 5 s in 1 of 1 known minute of 2026-11-21, up to 9 s; 5 in 100 "
        "minutes are allowed",
        "t: its oldest unread message was older than 5 s in 2 of 2 known minutes of 2026-11-21, up to 9 s; 5 in 100 "
        "minutes are allowed",
    ),
    "messages_lost": (
        "t-0: 1 message was deleted before the group read it",
        "t-0: 2 messages were deleted before the group read them",
    ),
    "odd_commits": ("t-0, negative: 1 commit; committed -1", "t-0, negative: 2 commits; committed -1"),
    "offsets_expired": (
        "the offset of 1 partition of t expired: 1 message may be read again, 0 skipped",
        "the offsets of 2 partitions of t expired: 2 messages may be read again, 0 skipped",
    ),
    "offsets_expiring": (
        "t-0: expires at 2026-11-21 03:00:00 (group_empty), 1 message at risk",
        "t-0: expires at 2026-11-21 03:00:00 (group_empty), 2 messages at risk",
    ),
    "offsets_reset": (
        "offsets of 1 partition of t were all moved by the same number of messages by a member: 1 message is read "
        "again, 0 skipped",
        "offsets of 2 partitions of t were all moved by the same number of messages by a member: 2 messages are read "
        "again, 0 skipped",
    ),
    "offsets_topic_unhealthy": (
        "offsets partition 0: 6 bytes in 1 segment: has its cleaner stopped?",
        "offsets partition 0: 6 bytes in 2 segments: has its cleaner stopped?",
    ),
    "partitions_unowned": (
        "1 of 1 partition of its topics has had no owner since 2026-11-21 03:00:00",
        "2 of 2 partitions of its topics have had no owner since 2026-11-21 03:00:00",
    ),
    "ungated_commits": (
        "t-0: the commit of offset 6 has 1 message, and no passed validation covers it",
        "t-0: the commit of offset 7 has 2 messages, and no passed validation covers 2 of them",
    ),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_message_is_right_for_one_and_for_two(tmp_path: Path, kind: str) -> None:
    (file,) = (each for each in finding_files() if each.kind.value == kind)
    statement = file.rows(PARAMETERS, Events(None, NOW))
    for number, expected in enumerate(MESSAGES[kind], 1):
        warehouse = make(tmp_path / str(number), tables(kind, number))
        with scope_of(warehouse, [statement]) as answer:
            names, rows = answer(statement)
            assert [dict(zip(names, row, strict=True))["message"] for row in rows] == [expected]
