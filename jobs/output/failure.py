"""Failures as users see them: one line on standard error and an exit code, without a stack trace."""

import os
import re
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

from jobs.output.interrupts import is_interrupted
from jobs.output.live_line import LIVE
from schemas.words.exit_codes import ExitCode

# Characters: a statement of SQL may be long, and a path.
MOST_SAID = 4_000
FRAMES = re.compile(r"\n\s+0: ")
COLOUR = re.compile("\x1b\\[[0-9;]*m")


class Failure(Exception):
    """A failure that a user can act on. An empty message: another process has already printed it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def say(line: str) -> None:
    """On one line. Names, paths and values of flags come from users, so they may contain anything."""
    # A closed or full standard error must not change the exit code.
    with LIVE.lock, suppress(OSError, AttributeError):
        LIVE.clear()
        sys.stderr.write(f"groupscope: {in_a_line(line)}\n")
        sys.stderr.flush()


def in_a_line(text: str) -> str:
    """Without what moves a terminal's cursor, and without the middle of what nobody would read to its end."""
    if len(text) > MOST_SAID:
        text = f"{text[: MOST_SAID // 2]} … {text[-MOST_SAID // 2 :]}"
    return visible(text)


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
