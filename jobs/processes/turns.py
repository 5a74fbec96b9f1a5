"""Lets processes that work in parallel write their output in turn.

The processes form a ring of pipes. The process that has the byte may write to standard output, then passes the byte on.
If a process dies, its pipes close. The others notice at their next turn and end too. There is no lock to clean up.
"""

import mmap
import os
import select
import struct
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

from jobs.output.failure import Failure, run_guarded
from jobs.output.progress import Activity
from schemas.words.exit_codes import ExitCode

TOKEN = b"."
RESULT = struct.Struct("qq")
Result = tuple[int, int]


class Turn:
    def __init__(self, taken_from: int, handed_to: int, results: int) -> None:
        self.taken_from = taken_from
        self.handed_to = handed_to
        self.parent = select.poll()
        self.parent.register(results, 0)  # only reports that nobody reads the results any more

    def wait(self) -> None:
        if not os.read(self.taken_from, 1):
            raise BrokenPipeError  # the previous process has ended
        if self.parent.poll(0):
            raise BrokenPipeError  # the main process has ended too: it was killed

    def hand_on(self) -> None:
        with suppress(BrokenPipeError):  # the next process has nothing left to write
            os.write(self.handed_to, TOKEN)


Work = Callable[[int, Turn], Result]


Waiting = Callable[[], AbstractContextManager[object]]


class SharedCounts:
    """How much each of the processes has done, as all of them see it."""

    def __init__(self, workers: int) -> None:
        self.counts = memoryview(mmap.mmap(-1, 8 * workers)).cast("q")

    def add(self, worker: int, number: int) -> None:
        self.counts[worker] += number

    def count(self, activity: Activity) -> None:
        activity.done = sum(self.counts)


def take_turns(workers: int, work: Work, is_debug: bool, waiting: Waiting = nullcontext) -> Result:
    """Runs `work(number, turn)` in each of the processes and returns the sums of their results. `waiting`: what this
    process does until then. It may use threads, since it begins after the others are forked."""
    ring = [os.pipe() for _ in range(workers)]
    results = os.pipe()
    os.write(ring[0][1], TOKEN)
    children = []
    for number in range(workers):
        child = os.fork()
        if child == 0:
            os._exit(run_child(number, ring, results, work, is_debug))
        children.append(child)
    close_all([end for pipe in ring for end in pipe] + [results[1]])
    with waiting():
        counts = read_results(results[0])
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if killed := [-code for code in codes if code < 0]:
        raise Failure(ExitCode.FAILED, f"a process was ended by signal {killed[0]}, the output is incomplete")
    if any(codes):
        raise Failure(max(codes), "")  # already printed by the process that failed
    if len(counts) < workers:
        raise BrokenPipeError  # one of them stopped early, since nobody reads the output any more
    return sum(first for first, _ in counts), sum(second for _, second in counts)


def run_child(number: int, ring: list[tuple[int, int]], results: tuple[int, int], work: Work, is_debug: bool) -> int:
    turn = Turn(ring[number][0], ring[(number + 1) % len(ring)][1], results[1])
    # Ends that stay open in a process that does not use them would hide the death of another process.
    unused = {end for pipe in ring for end in pipe} - {turn.taken_from, turn.handed_to}
    close_all([*unused, results[0]])

    def share() -> int:
        os.write(results[1], RESULT.pack(*work(number, turn)))
        return ExitCode.CLEAN

    return run_guarded(share, is_debug)


def read_results(end: int) -> list[Result]:
    raw = b""
    while block := os.read(end, 65536):
        raw += block
    return [RESULT.unpack_from(raw, start) for start in range(0, len(raw), RESULT.size)]


def close_all(ends: list[int]) -> None:
    for end in ends:
        os.close(end)
