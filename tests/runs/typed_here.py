"""A command as somebody types it in a folder, run in this process, which has loaded what most commands need."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import IO

from jobs import cli


def typed_here(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        with chdir(folder), into("stdout", out), into("stderr", errors):
            code = code_of(words)
        return subprocess.CompletedProcess(words, code, text_of(out), text_of(errors))


def code_of(words: Sequence[str]) -> int:
    try:
        return cli.main(words)
    except SystemExit as ended:
        # By `--help`.
        assert isinstance(ended.code, int)
        return ended.code


@contextmanager
def into(name: str, file: IO[bytes]) -> Iterator[None]:
    """What is written to the standard stream of this name, by Python or by its number, which the commands use."""
    stream = getattr(sys, name)
    stream.flush()
    number = {"stdout": 1, "stderr": 2}[name]
    kept = os.dup(number)
    os.dup2(file.fileno(), number)
    try:
        with open(number, "w", encoding="utf-8", closefd=False) as opened:
            setattr(sys, name, opened)
            yield
    finally:
        setattr(sys, name, stream)
        os.dup2(kept, number)
        os.close(kept)


def text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
