"""Times of tasks, and what is said of them."""

import subprocess
import sys

from benchmarks.skew import spread_of
from benchmarks.skewed_logs import SKEWS
from benchmarks.task_times import TaskTime, slowest_and_median, times_of, waits_and_median


def test_each_task_of_a_command_is_timed(tmp_path):
    log, times = tmp_path / "log", tmp_path / "times"
    log.mkdir()
    # Enough bytes for several tasks.
    SKEWS["hot-partition"].write(log, 0.04)
    command = [sys.executable, "-m", "benchmarks.timed_command", str(times), "ingest", "--workers", "2"]
    subprocess.run([*command, "--source", f"segments:{log}", "--warehouse", str(tmp_path / "w")], check=True)
    (tasks,) = times_of(times).values()
    assert len(tasks) > 1
    assert all(task.processor_seconds > 0 for task in tasks)
    assert (tmp_path / "w" / "offset_commits").exists()


def test_the_slowest_and_the_median_are_of_processor_seconds():
    tasks = [TaskTime(1, clock, processor, 0) for clock, processor in ((9, 1), (1, 4), (5, 2))]
    assert slowest_and_median(tasks) == (4, 2)


def test_a_step_waits_from_the_end_of_the_first_worker_that_has_no_task_left():
    tasks = [TaskTime(1, seconds, 0, ended) for seconds, ended in ((2, 9), (4, 20), (3, 11), (1, 13))]
    assert waits_and_median(tasks, workers=2) == (20 - 13, 2.5)
    assert waits_and_median(tasks, workers=3) == (20 - 11, 2.5)
    # A worker that never had one.
    assert waits_and_median(tasks, workers=5) == (20 - 9, 2.5)


def test_bounds_are_for_steps_that_can_be_split(tmp_path):
    path = tmp_path / "times"
    path.write_text("[1, 9.0, 0.1, 1]\n[2, 4.0, 8.0, 50]\n[2, 2.0, 2.0, 2]\n[2, 2.0, 2.0, 3]\n")
    slowest, waits = spread_of(path, "replay", is_split=True, is_even=True)
    assert (slowest.ours, slowest.theirs, slowest.verdict) == (8.0, 2.0, "missed")
    assert (waits.ours, waits.theirs, waits.verdict) == (48, 2.0, "missed")
    assert [each.verdict for each in spread_of(path, "ingest", is_split=True, is_even=False)] == ["", "missed"]
    assert [each.verdict for each in spread_of(path, "replay", is_split=False, is_even=False)] == ["", ""]
    path.write_text("[1, 9.0, 0.9, 1]\n[1, 9.0, 0.1, 2]\n[1, 9.0, 0.1, 3]\n")
    assert [each.verdict for each in spread_of(path, "replay", is_split=True, is_even=True)] == ["", "reached"]
    path.write_text("[1, 9.0, 0.9, 1]\n")
    assert len(list(spread_of(path, "replay", is_split=True, is_even=True))) == 1
