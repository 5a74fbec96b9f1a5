"""Great Expectations in a process of its own: it finds what the driver would find, and nobody waits for a dead one."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.gating.declarations.metric_files import metric_files
from jobs.gating.declarations.suites import Expectation, Suite, suites
from jobs.gating.judge_process import JudgeProcess
from jobs.gating.judging import judge
from jobs.gating.measuring import Frame
from jobs.output.failure import Failure
from schemas.words.history import Severity

pytestmark = pytest.mark.about("judge_process", "judging")
ROOT = Path(__file__).parents[3]
ABSENT = Path("absent/groupscope.toml")
METRICS = metric_files(ABSENT)
OURS = suites(METRICS, ABSENT)
# Some of our expectations hold for these, some do not.
FRAMES = {
    name: Frame(name, ["a", "b"], {metric: [0.0, float(place % 3)] for place, metric in enumerate(each.metrics)})
    for name, each in METRICS.items()
}
# Needs a library that the process loads only for it.
RARE = Expectation(
    "expect_column_kl_divergence_to_be_less_than",
    {
        "column": "num_rows",
        "partition_object": {"bins": [0.0, 1.0, 3.0], "weights": [0.5, 0.5]},
        "threshold": 9.0,
    },
    Severity.WARNING,
    None,
)


def ask(process: JudgeProcess, asked: Sequence[Suite], frames: Mapping[str, Frame]) -> None:
    process.ask(asked)
    for frame in frames.values():
        process.send(frame)


def test_it_finds_what_the_driver_finds() -> None:
    asked = [*OURS, replace(OURS[0], name="rare", expectations=(RARE,))]
    process = JudgeProcess()
    try:
        ask(process, asked, FRAMES)
        answer = process.answer()
    finally:
        process.close()
    expected = judge(asked, FRAMES, lambda: 0)
    assert answer is not None
    assert [replace(each, started_ms=0, finished_ms=0) for each in answer] == expected
    outcomes = [each.success for result in answer for each in result.outcomes]
    assert {True, False} <= {*outcomes}
    assert outcomes[-1] is not None


def test_a_wrong_suite_is_reported_in_the_words_of_the_driver() -> None:
    wrong = replace(OURS[0], expectations=(replace(RARE, kwargs={"column": "num_rows", "threshold": "much"}),))
    with pytest.raises(Failure) as reported:
        judge([wrong], FRAMES, lambda: 0)
    process = JudgeProcess()
    try:
        ask(process, [wrong], FRAMES)
        with pytest.raises(Failure) as failed:
            process.answer()
    finally:
        process.close()
    assert (failed.value.code, str(failed.value)) == (reported.value.code, str(reported.value))


@contextmanager
def interrupted_again_and_again(process: JudgeProcess) -> Iterator[None]:
    ended = threading.Event()

    def interrupt() -> None:
        while not ended.wait(0.01):
            os.kill(process.process.pid or 0, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    try:
        yield
    finally:
        ended.set()
        interrupting.join()


def test_ctrl_c_is_for_the_driver_from_its_first_instant_on() -> None:
    """A terminal sends it to both."""
    process = JudgeProcess()
    try:
        with interrupted_again_and_again(process):
            ask(process, OURS[:1], FRAMES)
            assert process.answer() is not None
    finally:
        process.close()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


# It has judged when it does nothing any more but wait for the word that no frame follows.
UNANSWERED = """
import time
from pathlib import Path
from jobs.gating.judge_process import JudgeProcess
from tests.jobs.gating.test_judge_process import FRAMES, OURS, ask

process = JudgeProcess()
ask(process, OURS[:1], FRAMES)
taken = [-1, 0]
while taken[-1] > taken[-2] or taken[-1] < 50:
    time.sleep(1)
    taken.append(int(Path(f"/proc/{process.process.pid}/stat").read_text().split()[13]))
process.close()
"""


def test_one_that_is_killed_leaves_nothing_to_warn_of() -> None:
    done = subprocess.run([sys.executable, "-c", UNANSWERED], capture_output=True, text=True, cwd=ROOT, check=True)
    assert "resource_tracker" not in done.stderr


def test_a_dead_one_leaves_it_to_the_driver() -> None:
    process = JudgeProcess()
    process.process.kill()
    process.process.join()
    ask(process, OURS, FRAMES)
    assert process.answer() is None
    process.close()
