"""Files that a flag asks for, such as --prometheus FILE: their errors name what the user gave."""

from pathlib import Path

from jobs.output.failure import Failure, os_error_reason
from schemas.words.exit_codes import ExitCode


def check_file(flag: str, path: Path | None) -> None:
    """Called before any work is done. Missing rights only show when the file is written."""
    if path is None:
        return
    if path.is_dir():
        raise Failure(ExitCode.USAGE, f"{flag} {path}: is a folder; give a file that can be written")
    if not path.parent.is_dir():
        # It is not made: a mistyped path would leave folders anywhere.
        raise Failure(ExitCode.USAGE, f"{flag} {path}: there is no folder {path.parent}; make it, or give another file")


def unwritable(flag: str, path: Path, error: OSError, code: ExitCode = ExitCode.FINDINGS) -> Failure:
    """The error may name a folder above the file. Or the name under which the file is written first, which the user
    does not know."""
    is_above = error.filename is not None and path.is_relative_to(error.filename)
    place = error.filename if is_above else path
    return Failure(code, f"{flag} {place}: {os_error_reason(error)}; give a file that can be written")
