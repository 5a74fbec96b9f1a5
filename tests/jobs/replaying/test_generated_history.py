"""Histories of generated logs: whole, as the cleaner leaves them, and in every kind of group that a broker takes.
What a real broker makes of such logs: tests/kafka/histories/test_belief.py."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.builders.generated.log import compacted, generated, some_topics
from tests.builders.warehouses.replayed_segments import replay_with
from tests.make.log import LoggedBatch, write
from tests.oracles.history.agreement import replayed_look, shown_offsets
from tests.oracles.history.at_instant import END, Replayed

PARTITIONS = 4


@pytest.fixture
def histories(tmp_path: Path, seed: int) -> tuple[Replayed, Replayed]:
    """Of the same logs: whole, and cleaned."""
    chance = random.Random(seed)
    topics = some_topics(chance)
    logs = [generated(chance.getrandbits(32), partition, PARTITIONS, topics) for partition in range(PARTITIONS)]

    def history(name: str, batches: list[list[LoggedBatch]]) -> Replayed:
        for partition, some in enumerate(batches):
            write(tmp_path / name, partition, some)
        return replay_with(topics, tmp_path / f"{name}-warehouse", tmp_path / name)

    return history("whole", [log.batches for log in logs]), history("cleaned", [compacted(log) for log in logs])


def test_the_cleaner_takes_nothing_of_the_present(histories: tuple[Replayed, Replayed]) -> None:
    whole, cleaned = histories
    assert present(cleaned) == present(whole)


def present(replayed: Replayed) -> dict[str, Any]:
    """What holds in the end of each group that is still there."""
    there = [group for group in sorted(replayed.groups) if replayed.state(group, END) is not None]
    return {group: (of_group(replayed, group), shown_offsets(replayed, group, END)) for group in there}


def of_group(replayed: Replayed, group: str) -> dict[str, Any]:
    """But for what is told by records that may be gone: that a classic group is about to rebalance after a
    downgrade, and the epoch of a group whose record of it was deleted."""
    seen = replayed_look(replayed, group, END)
    left_out = ("state", "assignor") if seen["type"] == "classic" else ("epoch",)
    return {name: value for name, value in seen.items() if name not in left_out}


def test_every_kind_of_group_has_a_history_without_faults(histories: tuple[Replayed, Replayed]) -> None:
    """No anomaly, no two states at once, no member twice, no partition with two owners but in share groups."""
    whole, _ = histories
    states = whole.tables["group_state_intervals"]
    assert {row["group_type"] for row in states} == {"classic", "consumer", "share", "streams"}
    assert {row["ended_by"] for row in states} == {None, "next_state", "deleted", "converted"}
    for replayed in histories:
        assert [row for row in replayed.tables["replay_anomalies"] if row["severity"] != "info"] == []
        for group in replayed.groups:
            assert_no_overlap(replayed.rows("group_state_intervals", group), ())
            assert_no_overlap(replayed.rows("membership_intervals", group), ("member_id",))
            assert_no_overlap(replayed.rows("offset_history", group), ("topic", "partition"))
            owned = [row for row in replayed.rows("ownership_intervals", group) if row["group_type"] != "share"]
            assert_no_overlap(owned, ("topic", "topic_id", "partition", "role"))


def assert_no_overlap(rows: list[dict[str, Any]], subject: tuple[str, ...]) -> None:
    """By offsets, which have no two records of one place; nothing goes on behind an open row."""
    last: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(
        rows, key=lambda row: (row["from_record_offset"], row["is_provisional"], row["to_record_offset"] or 0)
    ):
        assert row["is_provisional"] or (
            row["from_record_offset"] <= row["to_record_offset"] and row["from_time"] <= row["to_time"]
        ), row
        before = last.get(key := tuple(row[name] for name in subject))
        assert before is None or (
            not before["is_provisional"] and before["to_record_offset"] <= row["from_record_offset"]
        ), (before, row)
        last[key] = row
