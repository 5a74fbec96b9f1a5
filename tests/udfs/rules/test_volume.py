"""Hours of commits equal what a slow reading of the same records counts, and traps by hand."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from tests.builders.tables.history import PARTITION, START, at, interval
from tests.builders.tables.measured import volume_rows
from tests.builders.tables.partition_histories import micros, partition_history

Row = dict[str, Any]
HOUR = 3600


def commit(second: float | None, committed: int | None, partition: int = 0, **more: Any) -> Row:
    """None: a tombstone."""
    return {
        "group_id": "g",
        "topic": "orders",
        "partition": partition,
        "record_time": None if second is None else at(second),
        "committed_offset": committed,
        "is_tombstone": committed is None,
        "record_bytes": 100,
        **more,
    }


def held(committed: int, begin: float, end: float | None, partition: int = 0, group: str = "g") -> Row:
    key = {"group_id": group, "topic": "orders", "partition": partition, "committed_offset": committed}
    return {**interval(begin, end, 1), **key, "num_commits": 1, "via": "plain"}


def volumes(commits: list[Row], history: list[Row] = [], settled_from: int | None = None) -> list[Row]:  # noqa: B006
    rows = {"offset_commits": commits, "offset_history": history}
    return [dict(row) for row in volume_rows(partition_history(rows, 0), settled_from).to_pylist()]


def slow(commits: list[Row], history: list[Row]) -> list[Row]:
    result: dict[tuple[datetime, str], Row] = {}
    minutes: dict[tuple[datetime, str], Counter[datetime]] = defaultdict(Counter)
    slots: dict[tuple[datetime, str], set[Any]] = defaultdict(set)
    before: dict[tuple[Any, ...], int | None] = {}
    for row in commits:
        time = row["record_time"]
        if time is None:
            continue
        hour = time.replace(minute=0, second=0, microsecond=0)
        key = (row["group_id"], row["topic"], row["partition"])
        if (hour, key) not in before:
            before[hour, key] = next(
                (
                    each["committed_offset"]
                    for each in history
                    if (each["group_id"], each["topic"], each["partition"]) == key
                    and each["from_time"] < hour
                    and (each["to_time"] is None or each["to_time"] >= hour)
                ),
                None,
            )
        if row["committed_offset"] is not None:
            cell = (hour, row["group_id"])
            counts = result.setdefault(cell, {"num_commits": 0, "num_bytes": 0, "num_unchanged": 0})
            counts["num_commits"] += 1
            counts["num_bytes"] += row["record_bytes"]
            counts["num_unchanged"] += before[hour, key] == row["committed_offset"]
            minutes[cell][time.replace(second=0, microsecond=0)] += 1
            slots[cell].add((key, int((time - START) / timedelta(seconds=5))))
        before[hour, key] = row["committed_offset"]
    return [
        {
            "hour_time": hour,
            "offsets_partition": PARTITION,
            "group_id": group,
            **counts,
            "share_unchanged": counts["num_unchanged"] / counts["num_commits"],
            "peak_per_minute": max(minutes[hour, group].values()),
            "num_at_5_s": len(slots[hour, group]),
        }
        for (hour, group), counts in sorted(result.items())
    ]


def random_log(rng: np.random.Generator, number: int) -> tuple[list[Row], list[Row]]:
    """Few keys and values, over some hours; at times the clock goes back."""
    commits, history, clock = [], [], 0.0
    open_rows: dict[tuple[str, int], Row] = {}
    latest: dict[tuple[str, int], float] = defaultdict(float)
    for _ in range(number):
        clock = max(0.0, clock + float(rng.choice([0, 0.5, 3, 60, 900, -700])))
        group, partition = str(rng.choice(["g", "h"])), int(rng.integers(2))
        committed = None if rng.integers(8) == 0 else int(rng.integers(3))
        size = int(rng.integers(50, 200))
        commits.append(commit(clock, committed, partition, group_id=group, record_bytes=size))
        # Times of the history never go back.
        begin = latest[group, partition] = max(clock, latest[group, partition])
        if ended := open_rows.pop((group, partition), None):
            ended["to_time"], ended["to_record_offset"] = at(begin), 2
        if committed is not None:
            open_rows[group, partition] = held(committed, begin, None, partition, group)
            history.append(open_rows[group, partition])
    return commits, history


@pytest.mark.parametrize("number", [0, 1, 500])
def test_hours_equal_a_slow_count(rng: np.random.Generator, number: int) -> None:
    commits, history = random_log(rng, number)
    assert volumes(commits, history) == slow(commits, history)


def test_an_hours_first_commit_is_compared_with_what_held_as_the_hour_began() -> None:
    commits = [commit(HOUR, 5), commit(HOUR + 1, 5), commit(HOUR + 2, None), commit(HOUR + 3, 5)]
    for history, unchanged in (
        ([], 1),
        ([held(5, 10, None)], 2),
        ([held(4, 10, 20), held(5, 20, HOUR)], 2),
        ([held(5, 10, HOUR - 1)], 1),
        # The commit itself.
        ([held(5, HOUR, None)], 1),
        ([held(5, 10, None, partition=1)], 1),
    ):
        (row,) = volumes(commits, history)
        assert (row["num_commits"], row["num_unchanged"]) == (3, unchanged)


def test_at_one_commit_each_5_seconds_a_key_has_one_in_each_slot() -> None:
    commits = [commit(each, int(each * 10)) for each in (0, 1, 4.999, 5, 9, 59.5, 3599.9, 3600)]
    commits.append(commit(2, 7, partition=1))
    first, second = volumes(commits)
    assert (first["num_commits"], first["num_at_5_s"], first["peak_per_minute"]) == (8, 5, 7)
    assert (second["num_commits"], second["num_at_5_s"], second["hour_time"]) == (1, 1, at(HOUR))


def test_rows_come_out_the_same_whether_the_log_came_in_one_run_or_in_several(rng: np.random.Generator) -> None:
    commits, history = random_log(rng, 400)
    whole = volumes(commits, history)
    for hour in {row["hour_time"] for row in whole}:
        settled = micros((hour - START).total_seconds())
        handed = [row for row in commits if row["record_time"] >= hour - timedelta(hours=1)]
        kept = [row for row in history if row["to_time"] is None or row["to_time"] >= hour - timedelta(hours=1)]
        assert volumes(handed, kept, settled) == [row for row in whole if row["hour_time"] >= hour]
        # The hour that had begun then is not over.
        assert volumes(handed, kept, settled + 1) == [row for row in whole if row["hour_time"] >= hour]


def test_records_without_a_time_and_hours_of_tombstones_alone_have_no_row() -> None:
    assert volumes([commit(None, 5), commit(3, None)]) == []
    assert volumes([commit(None, 5), commit(3, 5)])[0]["num_unchanged"] == 0
    before_1970 = commit(0, 5, record_time=datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC))
    assert volumes([before_1970])[0]["hour_time"] == datetime(1969, 12, 31, 23, tzinfo=UTC)


def test_an_hour_that_is_not_settled_is_counted_as_a_whole() -> None:
    commits = [commit(HOUR - 1, 1), commit(HOUR, 2), commit(HOUR + 10, 3), commit(HOUR + 20, 4)]
    assert [row["num_commits"] for row in volumes(commits, settled_from=micros(HOUR + 15))] == [3]
    assert [row["num_commits"] for row in volumes(commits, settled_from=micros(HOUR))] == [3]
    assert [row["num_commits"] for row in volumes(commits, settled_from=micros(HOUR - 0.5))] == [1, 3]
