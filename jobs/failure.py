"""Failures as users see them: one line on standard error and an exit code, no stack trace."""

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

from schemas.exit_codes import ExitCode


class Failure(Exception):
    """Something that a user can act on. An empty message: another process has told it already."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def say(line: str) -> None:
    # A closed or full standard error must not change the exit code.
    with suppress(OSError, AttributeError):
        sys.stderr.write(f"groupscope: {line}\n")
        sys.stderr.flush()


def guarded(call: Callable[[], int], is_debug: bool) -> int:
    """What the call returns, or the exit code of its failure."""
    try:
        return call()
    except BrokenPipeError:
        # Whoever read our output has gone: nothing went wrong, and Python must not complain while it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ExitCode.CLEAN
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        if is_debug:
            traceback.print_exc()
        return told(error)


def told(error: Exception) -> int:
    match error:
        case Failure():
            if str(error):
                say(str(error))
            return error.code
        case OSError():
            say(f"{error.filename or 'output'}: {error.strerror}")
            return ExitCode.UNREADABLE_INPUT
        case _:
            say(f"internal error, please report it: {type(error).__name__}: {error} (--debug shows where)")
            return ExitCode.FAILED
