"""The story of the sample in offset_resets and odd_commits: each of its events, and nothing else."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from tests.builders.tables.measured import odd_commit_rows, reset_rows
from tests.builders.warehouses.replayed_segments import replay
from tests.sample.story import Event, checked_in
from udfs.lag.partition_history import COMMITS, READ, PartitionHistory
from udfs.lag.watermarks import Watermarks

Row = dict[str, Any]
AT_THE_END = 1 << 60
ORDERS = {"offset_history": ("group_id", "topic", "partition", "from_record_offset")}


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> list[PartitionHistory]:
    warehouse, folder = tmp_path_factory.mktemp("events") / "warehouse", checked_in().folder
    partitions = replay(warehouse, folder, "--snapshots", str(folder / "snapshots.jsonl")).partitions
    watermarks = Watermarks.of(DeltaTable(warehouse / "topic_snapshots").to_pyarrow_table())
    return [history_of(warehouse, partition, watermarks) for partition in sorted(partitions)]


def history_of(warehouse: Path, partition: int, watermarks: Watermarks) -> PartitionHistory:
    tables = {name: rows_of(warehouse, name, partition).select([*columns]) for name, columns in READ.items()}
    for name, order in ORDERS.items():
        tables[name] = tables[name].sort_by([(column, "ascending") for column in order])
    commits = rows_of(warehouse, "offset_commits", partition).sort_by("record_offset").select([*COMMITS])
    return PartitionHistory(partition, tables, commits, watermarks, AT_THE_END)


def rows_of(warehouse: Path, name: str, partition: int) -> pa.Table:
    rows = DeltaTable(warehouse / name).to_pyarrow_table()
    place = "evidence_partition" if "evidence_partition" in rows.column_names else "offsets_partition"
    return rows.filter(pc.equal(rows.column(place), partition))


@pytest.fixture(scope="module")
def resets(histories: list[PartitionHistory]) -> list[Row]:
    return [row for history in histories for row in reset_rows(history, None).to_pylist()]


def ms(row: Row) -> int:
    return round(row["at_time"].timestamp() * 1000)


def offsets(row: Row, name: str) -> dict[str, int]:
    return {str(partition): offset for partition, offset in zip(row["partitions"], row[name], strict=True)}


def one(resets: list[Row], event: Event, topic: str) -> Row:
    (row,) = (row for row in resets if (row["group_id"], row["topic"]) == (event.group, topic))
    return row


@pytest.mark.parametrize("name", ["reset-by-shift", "reset-to-earliest"])
def test_a_reset_of_the_story_moved_what_the_admin_saw(resets: list[Row], name: str) -> None:
    event = checked_in().event(name)
    row = one(resets, event, event["topic"])
    before, after = event["offsets_before"][event["topic"]], event["offsets_after"][event["topic"]]
    assert (offsets(row, "from_offsets"), offsets(row, "to_offsets")) == (before, after)
    assert (row["kind"], row["actor"], row["signature_score"]) == (event["reset"], "admin_likely", 5)
    assert row["messages_reread"] == sum(before[partition] - after[partition] for partition in before)
    assert event.from_ms <= ms(row) <= event.to_ms


@pytest.mark.parametrize(
    ("name", "kind", "actor"),
    [
        ("offset-expired", "expired", "coordinator"),
        ("offsets-deleted", "deleted", "admin_likely"),
        ("group-deleted", "deleted", "admin_likely"),
        ("topic-deleted", "deleted", "coordinator"),
        ("topic-recreated", "deleted", "coordinator"),
    ],
)
def test_offsets_that_the_story_removed_are_reported_with_the_reason(
    resets: list[Row], name: str, kind: str, actor: str
) -> None:
    event = checked_in().event(name)
    ((topic, before),) = event["offsets_before"].items()
    row = one(resets, event, topic)
    after = event.fields.get("offsets_after", {}).get(topic, {})
    if name == "topic-recreated":
        after = {}
    gone = {partition: offset for partition, offset in before.items() if partition not in after}
    assert offsets(row, "from_offsets") == gone
    # That it is gone is certain; why is inferred.
    assert (row["kind"], row["actor"], row["confidence"]) == (kind, actor, "likely")
    assert event.from_ms <= ms(row) <= event.to_ms


def test_nothing_else_is_a_reset(resets: list[Row]) -> None:
    """The group of regular expressions is deleted at the end of its event, with the offsets of three topics."""
    rows = sorted((row["group_id"], row["topic"]) for row in resets)
    assert rows == [
        ("expired", "inventory"),
        ("group-deleted", "inventory"),
        ("modern-regex", "region-north"),
        ("modern-regex", "region-south"),
        ("modern-regex", "region-west"),
        ("offsets-deleted", "inventory"),
        ("reset-by-shift", "inventory"),
        ("reset-to-earliest", "inventory"),
        ("topic-deleted", "legacy-orders"),
        ("topic-recreated", "staging"),
    ]


def test_no_commit_of_the_story_is_odd(histories: list[PartitionHistory]) -> None:
    assert [row for history in histories for row in odd_commit_rows(history, None).to_pylist()] == []
