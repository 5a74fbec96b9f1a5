"""Snapshots that contradict themselves or one another: of two clusters, in any order, of logs that end before they
begin, of topics made anew. Nothing is lost, and nobody is accused by them."""

import json
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from tests.builders.generated.topics import written as written_record
from tests.builders.logs.by_hand import Event, commit, write_log
from tests.make.log import T0
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay, result_of

OURS, THEIRS, ORDERS = "AAAAAAAAAAAAAAAAAAAAAQ", "BBBBBBBBBBBBBBBBBBBBBQ", "CCCCCCCCCCCCCCCCCCCCCQ"


def snapshot(
    seconds: float, end: int, start: int = 0, offsets_id: str = OURS, topic_id: str = ORDERS
) -> dict[str, Any]:
    partition = {"partition": 0, "log_start_offset": start, "log_end_offset": end, "leader_epoch": 0, "racks": []}
    ends = [{"partition": each, "log_end_offset": 1} for each in range(50)]
    return {"captured_at": T0 + round(seconds * 1000), "topics": [
        {"topic": "__consumer_offsets", "topic_id": offsets_id, "partitions": ends},
        {"topic": "orders", "topic_id": topic_id, "partitions": [partition]},
    ]}  # fmt: skip


def written(path: Path, *snapshots: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in snapshots))
    return path


def commit_with_id(topic_id: str) -> Event:
    key = {"group": "billing", "topic": "orders", "partition": 0}
    value = {"offset": 7, "leader_epoch": -1, "metadata": "", "commit_timestamp": T0 + 9_000, "topic_id": topic_id}
    return 9, [written_record(1, key, value, 4)]


def measured(folder: Path, *snapshots: dict[str, Any], topic_id: str | None = None) -> list[dict[str, Any]]:
    """Lag at each snapshot of group billing, which commits offset 7 after 9 seconds; it is in offsets partition 9."""
    folder.mkdir()
    event = commit("billing", "orders", 0, 9) if topic_id is None else commit_with_id(topic_id)
    source = write_log(folder / "log", {9: [event]})
    ingest(folder / "w", "--source", source, "--snapshots", written(folder / "s.jsonl", *snapshots))
    replay(folder / "w")
    result_of("lag", folder / "w")
    result = sorted(rows(folder / "w", "lag_points"), key=lambda row: str(row["snapshot_time"]))
    kept = ("snapshot_time", "committed_offset", "log_end_offset", "lag_raw", "lost_messages", "unknown_reason")
    return [{name: row[name] for name in kept} for row in result if row["group_id"] == "billing"]


def test_snapshots_in_any_order_give_the_same_lag(tmp_path: Path) -> None:
    taken = [snapshot(10, 9), snapshot(20, 12), snapshot(30, 20)]
    in_order = measured(tmp_path / "one", *taken)
    assert [row["lag_raw"] for row in in_order] == [2, 5, 13]
    assert measured(tmp_path / "two", taken[1], taken[2], taken[0]) == in_order


def test_a_log_that_ends_before_it_begins_has_no_lag_and_is_a_finding(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = measured(tmp_path / "one", snapshot(10, 9, start=5_000))
    assert [(row["lag_raw"], row["lost_messages"], row["unknown_reason"]) for row in result] == [
        (None, None, "no_snapshot")
    ]
    (held,) = (row for row in rows(tmp_path / "one" / "w", "topic_snapshots") if row["topic"] == "orders")
    assert (held["log_start_offset"], held["log_end_offset"]) == (5_000, 9)
    cli.main(["gate", "--warehouse", str(tmp_path / "one" / "w")])
    page = capfd.readouterr().out
    assert "rows_failing_end_before_start" in page and "messages_lost" not in page and "suite_error" not in page


def test_one_contradiction_leaves_the_other_snapshots_as_they_are(tmp_path: Path) -> None:
    result = measured(tmp_path / "one", snapshot(10, 9), snapshot(20, 4, start=5_000), snapshot(30, 20))
    assert [row["lag_raw"] for row in result] == [2, 2, 13]


def test_a_topic_made_anew_has_no_lag_of_the_commit_before(tmp_path: Path) -> None:
    """The commit names its topic's id; the second snapshot is of another topic of this name."""
    result = measured(tmp_path / "one", snapshot(10, 9), snapshot(20, 30, topic_id=THEIRS), topic_id=ORDERS)
    results = [(row["lag_raw"], row["unknown_reason"]) for row in result if row["committed_offset"] is not None]
    assert results == [(2, None), (None, "topic_recreated")]
