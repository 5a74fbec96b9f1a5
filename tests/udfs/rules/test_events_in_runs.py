"""A log that comes in several runs gives the rows of one run: random streams of one group, cut at a snapshot."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.builders.tables.measured import in_ranges, odd_commit_rows, rate_rows, reset_rows, volume_rows
from tests.builders.tables.offset_situations import DAY, SECOND, Row, Situation, at
from udfs.lag.partition_history import PartitionHistory

HOUR = 3600 * SECOND
Step = tuple[str, tuple[Any, ...], Row]


def random_steps(rng: np.random.Generator, size: int) -> list[Step]:
    """Of about five days. Snapshots keep up with a log of three partitions that grows, loses its head, and is cut or
    made anew."""
    second, ends, steps = 0.0, np.array([500, 500, 500]), [("own", (0.0, {0: "a", 1: "b"}), {})]
    starts, epoch, topic = np.array([0, 0, 0]), 1, 1
    for _ in range(size):
        second += float(rng.choice([0.5, 20, 120, 400, 2400]))
        ends = ends + rng.integers(0, 30, 3)
        offsets = {int(each): int(rng.choice([starts[each], ends[each], rng.integers(-1, ends[each] + 20)]))
                   for each in rng.permutation(3)[: rng.integers(1, 4)]}  # fmt: skip
        kind = rng.choice(["commit", "admin", "transaction", "own", "Empty", "remove", "snapshot"], p=P)
        if kind == "own":
            owners = {partition: str(rng.choice(["a", "b", "c"])) for partition in range(int(rng.integers(1, 4)))}
            steps.append(("own", (second, owners), {}))
        elif kind == "Empty":
            steps.append(("state", (second, "Empty", 0), {}))
        elif kind == "remove":
            steps.append(("remove", (second, [*offsets], str(rng.choice(["expired", "deleted"]))), {}))
        elif kind == "snapshot":
            starts, epoch = np.minimum(starts + rng.integers(0, 9, 3), ends), epoch + int(rng.random() < 0.1)
            ends = np.where(rng.random(3) < 0.05, starts + 5, ends)
            if rng.random() < 0.05:
                starts, ends, topic = np.array([0, 0, 0]), ends // 2, topic + 1
            shown = {each: (int(starts[each]), int(ends[each])) for each in range(3)}
            named = {"topic_id": str(topic) if rng.random() < 0.8 else None}
            steps.append(("snapshot", (second, shown, epoch), named))
        else:
            steps.append((str(kind), (second, offsets), {}))
            second += 2
    return steps


P = (0.4, 0.15, 0.05, 0.1, 0.1, 0.03, 0.17)


def played(steps: list[Step]) -> PartitionHistory:
    situation = Situation()
    for name, arguments, fields in steps:
        getattr(situation, name)(*arguments, **fields)
    return situation.rows()


def from_on(history: PartitionHistory, time: int) -> PartitionHistory:
    """What a run is handed that goes on from there: all that overlaps the hour before, or goes on after it."""
    tables = {name: overlapping(rows, time - HOUR) for name, rows in history.tables.items()}
    commits = history.commits
    return replace(history, tables=tables, commits=after(commits, "record_time", time - HOUR))


def overlapping(rows: pa.Table, time: int) -> pa.Table:
    names = [name for name in ("to_time", "end_time") if name in rows.column_names]
    return after(rows, names[0], time) if names else rows


def after(rows: pa.Table, name: str, time: int) -> pa.Table:
    column = rows.column(name)
    return rows.filter(pc.or_kleene(pc.greater_equal(column.cast(pa.int64()), time), column.is_null()))


def split(rows: pa.Table, name: str, time: int) -> tuple[list[Row], list[Row]]:
    is_early = pc.less(rows.column(name).cast(pa.int64()), time)
    return rows.filter(is_early).to_pylist(), rows.filter(pc.invert(is_early)).to_pylist()


@pytest.mark.drawn(5)
@pytest.mark.parametrize("turn", range(12))
def test_runs_give_what_one_run_gives(rng: np.random.Generator, turn: int) -> None:
    steps = random_steps(rng, 500)
    whole = played(steps)
    snapshots = [place for place, step in enumerate(steps) if step[0] == "snapshot"]
    cut = snapshots[int(rng.integers(len(snapshots) // 2, len(snapshots)))]
    time = at(steps[cut][1][0])
    early, late = split(reset_rows(whole, None), "at_time", time)
    assert len(early) > 10
    assert split(reset_rows(played(steps[: cut + 1]), None), "at_time", time)[0] == early
    assert reset_rows(from_on(whole, time), time).to_pylist() == late
    day = time // DAY * DAY
    early, late = split(odd_commit_rows(whole, None), "day_time", day)
    assert len(early) > 5
    assert split(odd_commit_rows(played(steps[: cut + 1]), None), "day_time", day)[0] == early
    assert odd_commit_rows(from_on(whole, day), time).to_pylist() == late


@pytest.mark.drawn(2)
@pytest.mark.parametrize("turn", range(4))
def test_ranges_of_keys_give_what_all_keys_give(rng: np.random.Generator, turn: int) -> None:
    """One write moves several partitions, which are in several ranges."""
    whole = played(random_steps(rng, 500))
    ranges = in_ranges(whole, 1)
    assert len(ranges) == 3
    for make in (reset_rows, odd_commit_rows, rate_rows, volume_rows):
        result = make(whole, None)
        assert result.num_rows > 3 and make(ranges, None).to_pylist() == result.to_pylist(), make.__name__
