"""Times of tasks, and what is said of them."""

import subprocess
import sys
from pathlib import Path

from benchmarks.skew import spread_of
from benchmarks.skewed_logs import SKEWS
from benchmarks.task_times import TaskTime, slowest_and_median, times_of


def test_each_task_of_a_command_is_timed(tmp_path: Path) -> None:
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


def test_the_slowest_and_the_median_are_of_processor_seconds() -> None:
    tasks = [TaskTime(1, clock, processor) for clock, processor in ((9, 1), (1, 4), (5, 2))]
    assert slowest_and_median(tasks) == (4, 2)


def test_a_bound_is_for_long_tasks_of_steps_that_can_be_split(tmp_path: Path) -> None:
    path = tmp_path / "times"
    path.write_text("[1, 9.0, 0.1]\n[2, 9.0, 8.0]\n[2, 9.0, 2.0]\n[2, 9.0, 2.0]\n")
    (figure,) = spread_of(path, "replay", is_split=True)
    assert (figure.ours, figure.theirs, figure.verdict) == (8.0, 2.0, "missed")
    (figure,) = spread_of(path, "replay", is_split=False)
    assert figure.verdict == ""
    path.write_text("[1, 9.0, 0.9]\n[1, 9.0, 0.1]\n[1, 9.0, 0.1]\n")
    (figure,) = spread_of(path, "replay", is_split=True)
    assert figure.verdict == ""
