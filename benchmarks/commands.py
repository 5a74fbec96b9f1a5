"""Commands as a user starts them, start-up counted."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
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
    variables = {**(os.environ if environment is None else environment)}
    # Users' modules are compiled once, not by each process: that would be 0.3 s of it.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        code = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=errors, env=variables).returncode
        seconds = time.perf_counter() - start
        if code:
            errors.seek(0)
            raise RuntimeError(f"{shlex.join(command)} ended with exit code {code}: {errors.read().decode()[-2000:]}")
    return seconds


def new_warehouse(folder: Path) -> Path:
    """A place below the folder where there is none, or none any more."""
    warehouse = folder / "warehouse"
    shutil.rmtree(warehouse, ignore_errors=True)
    return warehouse


def with_new_warehouse(folder: Path, call: Callable[[Path], Result]) -> Result:
    return call(new_warehouse(folder))
