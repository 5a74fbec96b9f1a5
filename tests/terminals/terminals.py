"""A real terminal for a command: what it writes, and what somebody sees of it in the end."""

import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
