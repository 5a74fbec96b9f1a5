"""Topics without new messages: which snapshots change for how long partitions were unread, and which cost no replay.

A member of partitions 0 and 1 of a classic group is removed at second 60, its session timeout is 10 s, its last commit
at second 47.5; the other one has them at second 60.4."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.jobs.replaying.test_departures import CASES, batches, events
from tests.make.log import T0, write
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import HISTORY, assert_same, replay, row_texts

END: Final = T0 + 47_500
# From 3 s, a heartbeat interval, after second 50 at the latest; since the last commit at the earliest, and until half a
# second after the other one was given them.
UNREAD: Final = (7_400, 13_400)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    write(tmp_path / "log", 3, batches(events("g", CASES["killed"])))
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}")
    return tmp_path / "w"


def look(warehouse: Path, *seen: tuple[float, int]) -> int:
    """Takes snapshots in, by second and end, and replays; answers how many partitions were replayed from their
    beginning."""
    path = warehouse.with_suffix(f".{seen[0][0]}.jsonl")
    lines = (
        {
            "captured_at": T0 + round(second * 1000),
            "topics": [{"topic": "t", "partitions": [{"partition": n, "log_end_offset": end} for n in range(2)]}],
        }
        for second, end in seen
    )
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    ingest(warehouse, "--snapshots", path)
    result: int = replay(warehouse)["num_partitions_replayed_whole"]
    return result


def unread(warehouse: Path) -> set[tuple[int, int]]:
    moved = [row for row in rows(warehouse, "partition_moves") if row["from_member_id"] == "gone"]
    assert len(moved) == 2
    return {(row["unread_low_ms"], row["unread_high_ms"]) for row in moved}


def test_the_next_snapshot_with_the_same_end_shows_that_nothing_was_to_be_read(warehouse: Path) -> None:
    assert (look(warehouse, (50, END)), unread(warehouse)) == (1, {UNREAD})
    assert (look(warehouse, (65, END)), unread(warehouse)) == (1, {(0, 2_500)})
    # From then on nothing about the move can change.
    assert (look(warehouse, (70, END)), unread(warehouse)) == (0, {(0, 2_500)})
    assert (look(warehouse, (75, END + 9)), unread(warehouse)) == (0, {(0, 2_500)})
    before = row_texts(warehouse, HISTORY)
    replay(warehouse, "--full")
    assert_same(row_texts(warehouse, HISTORY), before, "full")


def test_a_next_snapshot_with_another_end_changes_nothing(warehouse: Path) -> None:
    look(warehouse, (50, END))
    for second in (65, 70):
        assert (look(warehouse, (second, END + 1)), unread(warehouse)) == (0, {UNREAD})


def test_a_snapshot_of_before_that_comes_later_counts_too(warehouse: Path) -> None:
    look(warehouse, (50, END), (65, END))
    assert (look(warehouse, (46, END)), unread(warehouse)) == (1, {(0, 0)})


def test_what_was_not_read_to_the_end_was_unread(warehouse: Path) -> None:
    assert (look(warehouse, (46, END + 1), (65, END + 1)), unread(warehouse)) == (1, {UNREAD})


def test_snapshots_of_after_the_log_alone_say_nothing(warehouse: Path) -> None:
    replay(warehouse)
    for second in (65, 70, 75):
        assert (look(warehouse, (second, END)), unread(warehouse)) == (0, {UNREAD})
