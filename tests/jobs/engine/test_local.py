"""Worker processes of one machine: results in order, and one line for whatever ends one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobs.engine.local import LocalEngine
from jobs.engine.task import PlanRow, Step, TaskSpec
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from tests.processes.odd_tasks import Done, closed_after_a_later_one, closing, obeyed
from tests.runs.ingested import ROOT

STEP = Step(obeyed, Done)
CLOSING = Step(closing, Done)
DRIVER = """
import sys
from jobs.engine.local import LocalEngine
from jobs.engine.task import PlanRow, Step, TaskSpec
from tests.processes.odd_tasks import Done, wait_for_file
specs = [TaskSpec(sys.argv[1] + str(number), (PlanRow(number),)) for number in range(2)]
LocalEngine("test", 2, is_debug=False).run(Step(wait_for_file, Done), specs)
"""


@pytest.fixture
def engine():
    with LocalEngine("test", 3, is_debug=False) as started:
        yield started


def specs(*what):
    return [TaskSpec(each, (PlanRow(partition),)) for partition, each in enumerate(what)]


def test_results_come_in_the_order_of_the_tasks_from_other_processes(engine):
    sleeps = [("sleep", number) for number in (90, 0, 60, 30, 1, 2, 3)]
    found = engine.run(STEP, specs(*sleeps))
    assert [(each.number, each.files[0][1].size) for each in found] == [(number, number) for _, number in sleeps]
    processes = {each.process for each in found}
    assert os.getpid() not in processes
    assert len(processes) <= 3
    again = engine.run(STEP, specs(*sleeps))
    # Started once: a run has several steps.
    assert {each.process for each in again} <= {each.process for each in found + again}
    assert len({each.process for each in found + again}) <= 3


def test_a_single_task_needs_no_process(engine):
    (found,) = engine.run(STEP, specs(("sleep", 0)))
    assert found.process == os.getpid()
    assert engine.run(STEP, []) == []
    assert engine.workers == []


def test_one_worker_is_the_driver_itself():
    with LocalEngine("test", 1, is_debug=False) as engine:
        assert {each.process for each in engine.run(STEP, specs(("sleep", 0), ("sleep", 1)))} == {os.getpid()}


@pytest.mark.parametrize(
    ("what", "line"),
    [
        (
            ("die", signal.SIGKILL),
            "was ended by SIGKILL: somebody killed it, or memory ran out; fewer --workers need less memory",
        ),
        (("die", signal.SIGSEGV), "was ended by SIGSEGV"),
        (("exit", 3), "ended with exit code 3"),
    ],
)
def test_a_worker_that_dies_ends_the_run_with_a_line_that_names_its_partition(engine, what, line):
    with pytest.raises(Failure) as raised:
        engine.run(STEP, specs(*[("sleep", 1)] * 4, what, *[("sleep", 1)] * 4))
    assert raised.value.code == ExitCode.FAILED
    expected = f"offsets partition 4: the worker process {line}; the run wrote nothing to the tables"
    assert str(raised.value) == expected
    assert engine.workers == []
    # And it can be used again.
    assert [each.number for each in engine.run(STEP, specs(("sleep", 5), ("sleep", 6)))] == [5, 6]


def test_a_worker_that_dies_at_something_else_than_the_log_names_that_and_what_is_left(engine):
    step = Step(STEP.run, STEP.result, unfinished="index.html is still that of the previous report")
    tasks = [TaskSpec(what, about="pages of groups") for what in (("sleep", 1), ("exit", 3), ("sleep", 1))]
    with pytest.raises(Failure) as raised:
        engine.run(step, tasks)
    assert str(raised.value) == (
        "pages of groups: the worker process ended with exit code 3; index.html is still that of the previous report"
    )


def test_a_worker_that_died_between_two_steps_is_noticed_by_the_next(engine):
    engine.run(STEP, specs(*[("sleep", 20)] * 4))
    for worker in engine.workers:
        worker.process.kill()
        worker.process.join()
    with pytest.raises(Failure, match="offsets partition 0: the worker process was ended by SIGKILL") as raised:
        engine.run(STEP, specs(("sleep", 5), ("sleep", 6), ("sleep", 7)))
    assert raised.value.code == ExitCode.FAILED


def test_a_fault_of_a_task_is_told_in_a_line_and_shown_with_its_trace_when_asked(engine):
    with pytest.raises(Failure) as raised:
        engine.run(STEP, specs(("sleep", 1), ("fail", 7)))
    error = "ValueError: number 7 is odd"
    assert str(raised.value) == f"offsets partition 1: a task failed, please report it: {error} (--debug shows where)"
    assert "odd_tasks.py" in str(raised.value.__cause__)


def test_a_worker_does_the_next_task_while_files_are_closed(engine, tmp_path):
    tasks = specs(*[(str(tmp_path), number) for number in range(6)])
    found = engine.run(Step(closed_after_a_later_one, Done), tasks)
    assert [each.number for each in found] == [*range(6)]
    # Nothing of this step is left over for the next one.
    assert [each.number for each in engine.run(STEP, specs(*[("sleep", number) for number in range(9)]))] == [*range(9)]


def test_one_worker_closes_files_too():
    with LocalEngine("test", 1, is_debug=False) as engine:
        found = engine.run(CLOSING, specs(("sleep", 3), ("sleep", 2), ("sleep", 1)))
    assert [(each.number, each.process) for each in found] == [(number, os.getpid()) for number in (3, 2, 1)]


def test_what_fails_while_files_are_closed_is_a_fault_of_that_task(engine):
    with pytest.raises(Failure, match="offsets partition 1: a task failed, please report it: ValueError: number 7"):
        engine.run(CLOSING, specs(("sleep", 100), ("fail", 7), *[("sleep", 100)] * 5))


def test_a_worker_that_dies_while_files_are_closed_names_what_is_not_written(engine):
    with pytest.raises(
        Failure, match=r"offsets partitions? [0-9, -]*1[0-9, -]*: the worker process was ended by SIGKILL"
    ):
        engine.run(CLOSING, specs(("sleep", 200), ("die", signal.SIGKILL), *[("sleep", 200)] * 5))


def test_workers_end_with_a_driver_that_was_killed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path / "worker-")], cwd=ROOT)
    workers = [number_in(tmp_path / f"worker-{number}") for number in range(2)]
    process.kill()
    process.wait()
    for worker in workers:
        wait_until_gone(worker)


def number_in(path):
    deadline = time.monotonic() + 60
    while not path.is_file() or not path.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(path.read_text())


def wait_until_gone(process):
    deadline = time.monotonic() + 30
    while Path(f"/proc/{process}").exists() and "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
