"""Appends snapshots to a file as lines. The file gets each line completely or not at all."""

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.output.failure import Failure, os_error_line, say
from schemas.words.exit_codes import ExitCode

# How snapshots of `capture` begin: it may remove only what it wrote itself.
OURS = b'{"captured_at":'
TAIL_BYTES = 1 << 16


def append_line(path: Path, line: str) -> None:
    with reword_failures(path), open_to_append(path) as file:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            write_all(file, line.encode())
            return
        # Another capture may write to the same file.
        fcntl.flock(file, fcntl.LOCK_EX)
        remove_torn_line(file, path)
        end = os.fstat(file).st_size
        try:
            write_all(file, line.encode())
            os.fsync(file)
        except OSError:
            # The disk became full after a part of it.
            os.ftruncate(file, end)
            raise


def check_appendable(path: Path) -> None:
    """Checks before any request what would otherwise fail only when the first line is ready."""
    with reword_failures(path), open_to_append(path) as file:
        if stat.S_ISREG(os.fstat(file).st_mode):
            first = os.pread(file, 1, 0)
            if first not in (b"", b"{"):
                line = "is not a file of snapshots; give one that groupscope capture wrote, or a new file"
                raise Failure(ExitCode.USAGE, f"--into {path}: {line}")


def remove_torn_line(file: int, path: Path) -> None:
    """Removes the beginning of a line that a killed capture left."""
    size = os.fstat(file).st_size
    begin = size
    tail = b""
    while begin and b"\n" not in tail:
        step = min(TAIL_BYTES, begin)
        begin -= step
        tail = os.pread(file, step, begin) + tail
    torn = tail[tail.rfind(b"\n") + 1 :]
    if not torn:
        return
    if is_whole(torn):
        write_all(file, b"\n")
        return
    if not OURS.startswith(torn[: len(OURS)]):
        line = "its last line is incomplete and is not of a snapshot; give another file"
        raise Failure(ExitCode.USAGE, f"--into {path}: {line}")
    os.ftruncate(file, size - len(torn))
    say(f"{path}: removed {len(torn):,} bytes of an incomplete snapshot; a capture was killed while it wrote")


def is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@contextmanager
def open_to_append(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        yield file
    finally:
        os.close(file)


def write_all(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]


@contextmanager
def reword_failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        line = f"--into {os_error_line(error, path)}; give a file that can be written"
        raise Failure(ExitCode.FAILED, line) from None
