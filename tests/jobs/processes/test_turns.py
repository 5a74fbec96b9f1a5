"""Processes that write in turn: each only in its turn, and none outlives another that died."""

import os
import signal

import pytest

from jobs.output.failure import Failure
from jobs.processes.turns import SharedCounts, take_turns
from schemas.words.exit_codes import ExitCode


def test_processes_write_one_after_the_other_and_their_results_add_up(tmp_path):
    out = tmp_path / "out"

    def work(number, turn):
        for place in range(5):
            turn.wait()
            with out.open("a") as file:
                # In two writes: others must not come between them.
                file.write(f"{place} ")
                file.flush()
                file.write(f"{number}\n")
            turn.hand_on()
        return number, 10 * number

    assert take_turns(3, work, is_debug=False) == (0 + 1 + 2, 0 + 10 + 20)
    assert out.read_text().splitlines() == [f"{place} {number}" for place in range(5) for number in range(3)]


def test_a_process_that_dies_ends_the_others_and_is_named(tmp_path):
    def work(number, turn):
        turn.wait()
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        turn.hand_on()
        turn.wait()
        (tmp_path / str(number)).touch()
        return 0, 0

    with pytest.raises(Failure, match="a process was ended by signal 9, the output is incomplete") as raised:
        take_turns(3, work, is_debug=False)
    assert raised.value.code == ExitCode.FAILED
    # Nobody had a second turn.
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_fails_has_said_why_and_its_exit_code_is_that_of_all(capfd):
    def work(number, turn):
        if number:
            raise Failure(ExitCode.UNREADABLE_INPUT, "a.log: gone")
        return 0, 0

    with pytest.raises(Failure) as raised:
        take_turns(2, work, is_debug=False)
    assert (raised.value.code, str(raised.value)) == (ExitCode.UNREADABLE_INPUT, "")
    assert capfd.readouterr().err == "groupscope: a.log: gone\n"


def test_what_processes_count_is_seen_by_the_one_that_started_them():
    counts = SharedCounts(3)

    def work(number, _):
        counts.add(number, 10**number)
        return 0, 0

    take_turns(3, work, is_debug=False)
    assert counts.counts.tolist() == [1, 10, 100]
