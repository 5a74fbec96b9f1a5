"""Commands as a user starts them, start-up counted."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


def groupscope(job: str, *words: str | Path) -> list[str]:
    return [str(Path(sys.executable).with_name("groupscope")), job, *map(str, words)]


def ingest_command(source: str, warehouse: Path) -> list[str]:
    return groupscope("ingest", "--source", source, "--warehouse", warehouse)


def seconds_of(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    found = {**(os.environ if environment is None else environment)}
    # Users' modules are compiled once, not by each process: that would be 0.3 s of it.
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=found)
    return time.perf_counter() - start


def new_warehouse(folder: Path) -> Path:
    """A place below the folder where there is none, or none any more."""
    warehouse = folder / "warehouse"
    shutil.rmtree(warehouse, ignore_errors=True)
    return warehouse


def with_new_warehouse(folder: Path, call: Callable[[Path], Result]) -> Result:
    return call(new_warehouse(folder))
