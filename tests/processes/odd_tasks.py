"""Tasks that fail, wait or end their process as asked. They are in a module of their own, which workers import by its
name."""

import importlib
import os
import signal
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from jobs.engine.task import Closing
from jobs.storage.closes import begin_close
from jobs.warehouses.delta_tables import DataFile


@dataclass
class Done:
    number: int
    process: int
    files: list[tuple[str, DataFile]] = field(default_factory=list)


def obeyed(what: tuple[str, int]) -> Done:
    verb, number = what
    match verb:
        case "sleep":
            time.sleep(number / 1000)
        case "die":
            os.kill(os.getpid(), number)
        case "exit":
            os._exit(number)
        case "import":
            importlib.import_module("nosuchpackage")
        case "fail":
            raise ValueError(f"number {number} is odd")
    return Done(number, os.getpid(), [("runs", DataFile(f"part-{number}", number, 1, "{}"))])


def closing(what: tuple[str, int]) -> Closing[Done]:
    """Its work takes no time, what it was told is done while its files are closed."""
    return Closing(partial(obeyed, what))


def closed_after_a_later_one(what: tuple[str, int]) -> Closing[Done]:
    """Of six tasks of three workers the first three can be closed only when the others have been done."""
    folder, number = what
    Path(folder, str(number)).touch()

    def result() -> Done:
        deadline = time.monotonic() + 30
        while number < 3 and not Path(folder, str(number + 3)).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"task {number + 3} has not been done")
            time.sleep(0.01)
        return obeyed(("sleep", number))

    return Closing(result)


def closed_later(what: tuple[str, str]) -> Done:
    """Its file is there half a second after another one, which says that it may be closed."""
    place, may_close = what

    def close() -> None:
        deadline = time.monotonic() + 60
        while not Path(may_close).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{may_close} has not come")
            time.sleep(0.01)
        # Whoever does not wait for the close looks before this.
        time.sleep(0.5)
        Path(place).touch()

    begin_close(close).wait_until(lambda: True)
    return obeyed(("sleep", 0))


def wait_for_file(place: str) -> Done:
    Path(place).write_text(str(os.getpid()))
    while True:
        time.sleep(1)


def ignores(number: int) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN
