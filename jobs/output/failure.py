"""Failures and interrupts as users see them: one line on standard error and an exit code, without a stack trace."""

import logging
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from jobs.output.terminal import LIVE
from schemas.words.exit_codes import ExitCode

# Characters: a statement of SQL may be long, and a path.
MOST_SAID = 4_000
OF_SPARK = frozenset({"pyspark", "delta", "py4j"})
FRAMES = re.compile(r"\n\s+0: ")
COLOUR = re.compile("\x1b\\[[0-9;]*m")
# Signals that ended the run.
ENDED_BY: list[int] = []


class Failure(Exception):
    """A failure that a user can act on. An empty message: another process has already printed it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def misuse(line: str) -> Failure:
    """Of what the user typed, or wrote into a file."""
    return Failure(ExitCode.USAGE, line)


def say(line: str) -> None:
    """On one line. Names, paths and values of flags come from users, so they may contain anything."""
    # A closed or full standard error must not change the exit code.
    with LIVE.lock, suppress(OSError, AttributeError):
        LIVE.clear()
        if len(line) > MOST_SAID:
            # Without the middle of what nobody would read to its end.
            line = f"{line[: MOST_SAID // 2]} … {line[-MOST_SAID // 2 :]}"
        sys.stderr.write(f"groupscope: {visible(line)}\n")
        sys.stderr.flush()


def visible(text: str) -> str:
    """Without anything that moves a terminal's cursor or turns its text around: group and client ids are anybody's."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def run_guarded(call: Callable[[], int], is_debug: bool) -> int:
    """Returns the result of the call, or the exit code of its failure."""
    try:
        return call()
    except BrokenPipeError:
        # The program that read our output has ended. That is no error, and Python must not complain when it closes the
        # output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ExitCode.CLEAN
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        if is_interrupted():
            return ExitCode.INTERRUPTED
        if is_debug:
            print_trace()
        return report_error(error)


def print_trace() -> None:
    """Of the exception that is handled. Its message may hold names."""
    lines = traceback.format_exc().splitlines()
    with LIVE.lock, suppress(OSError, AttributeError):
        LIVE.clear()
        sys.stderr.write("".join(f"{visible(line)}\n" for line in lines))


def report_error(error: Exception) -> int:
    code, line = code_and_line(error)
    if line:
        say(line)
    return code


def code_and_line(error: Exception) -> tuple[int, str]:
    """The exit code and the message."""
    match error:
        case Failure():
            return error.code, str(error)
        case OSError():
            return ExitCode.UNREADABLE_INPUT, os_error_line(error, "output")
        case ModuleNotFoundError(name=str(name)) if name.partition(".")[0] in OF_SPARK:
            # An installation of the local engine alone: the extra `local` of pyproject.toml.
            line = f"this needs Spark, and {name.partition('.')[0]} is not installed with {sys.executable}"
            advice = "use --engine local if the input is no archive, or install Groupscope with Spark"
            return ExitCode.USAGE, f"{line}: {advice}"
        case _:
            first = next(iter(without_frames(str(error)).strip().splitlines()), "")
            what = f"internal error, please report it: {type(error).__name__}: {first} (--debug shows where)"
            return ExitCode.FAILED, what


def without_frames(text: str) -> str:
    """Without the calls inside a library, which libraries in Rust add to their messages."""
    return FRAMES.split(text, 1)[0]


def os_error_line(error: OSError, place: object) -> str:
    """The place and the reason on one line."""
    return f"{error.filename or place}: {os_error_reason(error)}"


def os_error_reason(error: OSError) -> str:
    """On one line. Messages of libraries have no file name, several lines, and colors."""
    why = " ".join(COLOUR.sub("", error.strerror or str(error)).split())
    return why or type(error).__name__


def check_file(flag: str, path: Path | None) -> None:
    """Called before any work is done. Missing rights only show when the file is written."""
    if path is None:
        return
    if path.is_dir():
        raise misuse(f"{flag} {path}: is a folder; give a file that can be written")
    if not path.parent.is_dir():
        # It is not made: a mistyped path would leave folders anywhere.
        raise misuse(f"{flag} {path}: there is no folder {path.parent}; make it, or give another file")


def unwritable(flag: str, path: Path, error: OSError, code: ExitCode = ExitCode.FINDINGS) -> Failure:
    """The error may name a folder above the file. Or the name under which the file is written first, which the user
    does not know."""
    is_above = error.filename is not None and path.is_relative_to(error.filename)
    place = error.filename if is_above else path
    return Failure(code, f"{flag} {place}: {os_error_reason(error)}; give a file that can be written")


@contextmanager
def quiet_interrupts() -> Iterator[None]:
    """Java starts in here; interrupts are quiet from then on: PySpark and py4j would log a stack trace.

    Java ends with the process that started it, and every Spark job with Java. The exception is a Java that is left
    while it starts: it fails, but its threads keep it alive for ever. So a first interrupt waits for its start.
    """
    is_main = threading.current_thread() is threading.main_thread()
    # A process that ignores interrupts, such as one in the background of a shell, continues to ignore them.
    if not is_main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    met: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        met.append(number)
        if len(met) > 1:
            raise_interrupt(number, frame)

    level = logging.root.manager.disable
    # Spark has a handler of its own set before it is ready.
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, raise_interrupt)
        if not met:
            logging.disable(level)
    if met:
        raise_interrupt(signal.SIGINT, None)


def raise_interrupt(number: int, frame: FrameType | None) -> None:
    logging.disable(logging.CRITICAL)
    ENDED_BY.append(number)
    raise KeyboardInterrupt


def go_on() -> None:
    """Where an interrupt ends a part of the work alone, what fails later fails by itself."""
    ENDED_BY.clear()
    logging.disable(logging.NOTSET)


def is_interrupted() -> bool:
    """Whatever fails after an interrupt fails by it: calls that it cut short, workers that it reached too."""
    return bool(ENDED_BY)
