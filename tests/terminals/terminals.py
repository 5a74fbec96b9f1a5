"""A real terminal for a command: what it writes, and what somebody sees of it in the end."""

import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.runs.typed_here import code_of, into

MOST_SECONDS = 120
# Colours, and the end of a line that is to be empty: the only codes that we write.
CODES = re.compile(r"\x1b\[[0-9;]*m|\x1b\[K|[\r\n]|[^\x1b\r\n]+")
CLEAR = "\x1b[K"


@dataclass(frozen=True)
class Shown:
    text: str
    code: int
    columns: int

    @property
    def screen(self) -> list[str]:
        """The lines that are left, by what a terminal does with the codes."""
        return screen(self.text)


def on_terminal(
    command: Sequence[str], columns: int = 80, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Shown:
    """Standard output and standard error are one terminal, as when somebody types."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    variables |= {"TERM": "xterm", **(environment or {})}
    started, written = time.monotonic(), bytearray()
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=variables, start_new_session=True
    ) as running:
        os.close(theirs)
        while raw := read(ours):
            written += raw
            assert time.monotonic() - started < MOST_SECONDS
    os.close(ours)
    return Shown(written.decode(errors="replace"), running.returncode, columns)


def here_on_terminal(words: Sequence[str], folder: Path, columns: int = 80) -> Shown:
    """The same for a command of ours in this process, which has loaded what it needs."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    written = bytearray()

    def drain() -> None:
        while raw := read(ours):
            written.extend(raw)

    reader = threading.Thread(target=drain)
    reader.start()
    try:
        with open(theirs, "r+b", buffering=0) as terminal:
            variables = {"COLUMNS": "", "LINES": "", "NO_COLOR": "1", "TERM": "xterm"}
            with chdir(folder), patched(variables), into("stdout", terminal), into("stderr", terminal):
                code = code_of(words)
    finally:
        reader.join(MOST_SECONDS)
        os.close(ours)
    return Shown(written.decode(errors="replace"), code, columns)


@contextmanager
def patched(variables: Mapping[str, str]) -> Iterator[None]:
    """Empty: not set."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value) if value else patch.delenv(name, raising=False)
        yield


def read(terminal: int) -> bytes:
    """Nothing when nobody writes any more, which Linux calls an error."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


def screen(text: str) -> list[str]:
    lines, column = [""], 0
    for code in CODES.findall(text):
        if code == "\n":
            lines.append("")
            column = 0
        elif code == "\r":
            column = 0
        elif code == CLEAR:
            lines[-1] = lines[-1][:column]
        elif not code.startswith("\x1b"):
            lines[-1] = lines[-1][:column] + code + lines[-1][column + len(code) :]
            column += len(code)
    return lines[:-1] if lines[-1] == "" else lines
