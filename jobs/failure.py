"""A failure that a user can act on: one line and an exit code, no stack trace."""

import sys

from schemas.exit_codes import ExitCode


class Failure(Exception):
    def __init__(self, code: ExitCode, message: str) -> None:
        super().__init__(message)
        self.code = code

    def told(self) -> ExitCode:
        """The exit code, after the line is said; a process that failed in another's name has nothing to say."""
        if str(self):
            say(str(self))
        return self.code


def say(line: str) -> None:
    sys.stderr.write(f"groupscope: {line}\n")
