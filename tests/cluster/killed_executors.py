"""Kills executors of Spark that run below this process, at random instants."""

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

EXECUTOR = b"CoarseGrainedExecutorBackend"
LOOK_SECONDS = 0.1
# How long an executor lives at most: of the shorter lives nobody gets to the end of a task.
LIVES = (1.5, 6.0)
# Spark gives up after four of one task.
MOST_KILLS = 10


@contextmanager
def killing_executors(chance: random.Random) -> Iterator[list[int]]:
    """The processes that were killed."""
    killed: list[int] = []
    is_over = threading.Event()
    kills, longest = chance.randint(1, MOST_KILLS), chance.choice(LIVES)
    thread = threading.Thread(target=kill_some, args=(kills, longest, chance, killed, is_over))
    thread.start()
    try:
        yield killed
    finally:
        is_over.set()
        thread.join()


def kill_some(kills: int, longest: float, chance: random.Random, killed: list[int], is_over: threading.Event) -> None:
    while len(killed) < kills and not is_over.wait(LOOK_SECONDS):
        if not executors():
            continue
        if is_over.wait(chance.uniform(0, longest)):
            return
        if living := executors():
            process = chance.choice(living)
            # It may have ended by itself.
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                killed.append(process)


def executors() -> list[int]:
    """Of workers that this process has started, and no others."""
    parents = {int(path.name): parent_of(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
    return sorted(each for each in parents if is_below(each, os.getpid(), parents) and is_executor(each))


def parent_of(process: Path) -> int | None:
    with suppress(OSError):
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    return None


def is_below(process: int, ours: int, parents: dict[int, int | None]) -> bool:
    above = parents.get(process)
    return above is not None and (above == ours or is_below(above, ours, parents))


def is_executor(process: int) -> bool:
    with suppress(OSError):
        return EXECUTOR in Path(f"/proc/{process}/cmdline").read_bytes()
    return False
