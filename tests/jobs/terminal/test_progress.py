"""What progress says, by hand-made numbers, and that engines count what is done."""

import pytest

from jobs.engine.engine import Done, sizes_of
from jobs.engine.task import PlanRow, TaskSpec
from jobs.progress import Activity


@pytest.mark.parametrize(
    ("total", "done", "seconds", "line"),
    [
        (0, 0, 12, "replay: 12 s so far"),
        # 25 of 100 in 10 s: 75 more take 30 s.
        (100, 25, 10, "replay: 25% of 100 records, 10 s so far, about 30 s left"),
        # Too little is done to say how long the rest takes.
        (1_000, 1, 10, "replay: 0% of 1,000 records, 10 s so far"),
        (1_000, 500, 1_200, "replay: 50% of 1,000 records, 20 min so far, about 20 min left"),
        (100, 100, 10, "replay: 100% of 100 records, 10 s so far"),
    ],
)
def test_the_time_left_is_that_of_what_is_not_done(total: int, done: int, seconds: float, line: str) -> None:
    activity = Activity("replay", started=100.0, total=total, unit="records", done=done)
    assert activity.line(100.0 + seconds) == line


def test_tasks_count_by_their_records_else_their_bytes_else_one_by_one() -> None:
    records = [TaskSpec(None, (PlanRow(1, num_records=n, num_bytes=9), PlanRow(2, num_records=1))) for n in (4, 6)]
    assert sizes_of(records) == ([5, 7], "records")
    assert sizes_of([TaskSpec(None, (PlanRow(1, num_bytes=9),))]) == ([9], "bytes")
    assert sizes_of([TaskSpec(None, (PlanRow(1),))] * 2) == ([1, 1], "tasks")


def test_what_is_done_is_the_sum_of_its_tasks() -> None:
    activity = Activity("replay", started=0.0)
    done = Done(activity, [5, 7, 11])
    done.add(0)
    done.add(2)
    assert activity.done == 16
    done.are([1, 2])
    assert activity.done == 18
