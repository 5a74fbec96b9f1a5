"""Tasks that do as they are told, in a module of their own: workers find it by its name."""

import importlib
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from jobs.warehouses.delta_tables import DataFile


@dataclass
class Done:
    number: int
    process: int
    files: list[tuple[str, DataFile]] = field(default_factory=list)


def told(what: tuple[str, int]) -> Done:
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


def wait_for_file(place: str) -> Done:
    Path(place).write_text(str(os.getpid()))
    while True:
        time.sleep(1)


def ignores(number: int) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN
