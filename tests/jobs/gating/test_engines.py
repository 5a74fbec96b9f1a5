"""The gate's statements are portable: Spark gives the same findings as DuckDB, and takes every statement of metrics."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.configuration.settings import Gate, Settings
from jobs.gating.declarations.finding_files import Events, finding_files
from jobs.gating.declarations.metric_files import metric_files
from jobs.gating.declarations.sql_text import parameters
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.queries.engines.spark_engine import SparkEngine
from tests.make.tables import NOW, make

PARAMETERS = parameters("a", NOW, datetime(2027, 1, 1, tzinfo=UTC), Settings(gate=Gate(max_unread_ms=1)))
COLUMNS = (
    "group_id, topic, partition, message, at_time, evidence_partition, evidence_first_offset, evidence_last_offset, "
    "confidence, severity, harm"
)
HOUR = timedelta(hours=1)
TABLES: dict[str, list[dict[str, Any]]] = {
    "history_coverage": [{"last_offset": 9, "to_time": NOW}, {"first_offset": 12, "last_offset": 20}],
    "rebalances": [
        {"members_joined": [], "members_departed": [], "longest_unread_high_ms": 1999, "start_time": NOW,
         "trigger": "member_left", "group_id": "it's\\"}
    ],
    "expiry_forecast": [{"topic": "t", "expires_time": NOW, "messages_at_risk": 3}],
    "assignor_upgrades": [{"phase": "stuck", "started_time": NOW, "migration": "eager_to_cooperative"}],
    "group_verdicts": [{"own_verdict": "STOP", "partition": 1, "as_of_time": NOW, "reason": "silent for 9 s"}],
    "offset_resets": [
        {"kind": kind, "partitions": [], "from_offsets": [], "to_offsets": [], "topic": "t", "at_time": NOW,
         "num_partitions": number, "messages_reread": number} for kind in ("expired", "shift") for number in (1, 2)
    ],
    "offset_history": [
        {"topic": "t", "partition": 1, "committed_offset": 2, "from_time": NOW},
        *({"topic": "t", "previous_offset": 5 - number, "committed_offset": 5, "delta": number, "from_offset": number,
           "commit_time": NOW} for number in (1, 2)),
    ],
    "gate_spans": [
        {"topic": "t", "from_offset": 4, "to_offset": 5, "verdict": "passed", "recorded_time": NOW + lateness}
        for lateness in (-timedelta(hours=1), timedelta(hours=1))
    ],
    "classic_group_metadata": [{"record_bytes": 900_000, "record_time": NOW}],
    # A topic has got a partition since the assignment.
    "assignment_audit": [{"num_unowned": 0, "verdict": "same", "record_time": NOW - 2 * HOUR, "checks": [
        {"name": "valid", "is_ok": True}, {"name": "rack_local", "is_ok": False, "detail": "no replica: t-0"},
        {"name": "redundant", "is_ok": False, "detail": "t-0: 2 must own it"},
    ]}],
    "generation_members": [{"change": "kept", "subscribed_topics": ["t"], "assigned": []}],
    "group_state_intervals": [{"state": "Stable", "to_offset": None, "num_members": 1}],
    "ownership_intervals": [{"topic": "t", "partition": 0, "to_offset": None, "group_type": "classic"}],
    "topic_snapshots": [{"topic": "t", "partition": place, "captured_time": NOW - HOUR} for place in range(2)],
    "topics": [{"topic": "t", "to_time": None}],
    # Of 70 snapshots, the first five of them twice. Of two partitions that lost messages one lost them for good.
    "lag_points": [
        *({"lag_raw": 1, "snapshot_time": NOW + timedelta(seconds=number % 70)} for number in range(75)),
        *({"lag_raw": 9, "topic": "t", "partition": place, "log_start_offset": 5, "lost_messages": 3 + place}
          for place in (1, 2)),
    ],
}  # fmt: skip


def all_findings() -> str:
    """One statement, since Spark takes seconds for each."""
    listed = (file.rows(PARAMETERS, Events(None, NOW)) for file in finding_files())
    return "\nUNION ALL\n".join(f"SELECT {COLUMNS} FROM (\n{rows}\n) AS listed_{place}"
                                for place, rows in enumerate(listed)) + "\nORDER BY message"  # fmt: skip


@pytest.mark.spark
def test_both_engines_give_the_same_findings_and_take_all_metrics(tmp_path: Path) -> None:
    make(tmp_path, TABLES)
    # The one word that differs.
    metrics = [each.statement(PARAMETERS).replace(" unnest(", " explode(") for each in metric_files(tmp_path).values()]
    statement, points = all_findings(), metric_files(tmp_path)["lag_points"].statement(PARAMETERS)
    with DuckDBEngine(str(tmp_path)).scope([statement, points]) as answer:
        expected = [tuple(map(str, row)) for row in answer(statement).rows]
        counted = list(answer(points).rows)
    assert len(expected) == 17
    assert counted[0][:2] == (77, 5)
    with SparkEngine(str(tmp_path), is_debug=False).scope([statement, *metrics]) as answer:
        result = [tuple(map(str, row)) for row in answer(statement).rows]
        assert list(answer(points).rows) == counted
        plans = [next(iter(answer(f"EXPLAIN {each}").rows))[0] for each in metrics]
    assert [row[:4] for row in result] == [row[:4] for row in expected]
    assert [row[5:] for row in result] == [row[5:] for row in expected]
    assert [plan for plan in plans if "Error occurred" in plan] == []
