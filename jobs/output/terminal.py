"""The terminal that output goes to, if any: its width, and whether to use colors."""

import os
import shutil
from contextlib import suppress

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
LEAST_WIDTH = 20
# For a terminal that does not report its width.
DEFAULT_WIDTH = 80

BOLD, RED, YELLOW, GREEN = "1", "31", "33", "32"


class Painted(str):
    """A line with colors of ours. All else that a terminal would act on is spelled out in it."""

    __slots__ = ()


def is_terminal(descriptor: int = STANDARD_OUTPUT) -> bool:
    with suppress(OSError):
        return os.isatty(descriptor)
    return False


def terminal_width() -> int | None:
    """Of standard output. None if that is not a terminal, where shorter lines help nobody."""
    if not is_terminal():
        return None
    return max(LEAST_WIDTH, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def error_width(descriptor: int = STANDARD_ERROR) -> int:
    """Of standard error, if that is a terminal."""
    with suppress(OSError):
        return max(LEAST_WIDTH, os.get_terminal_size(descriptor).columns or DEFAULT_WIDTH)
    return DEFAULT_WIDTH


def has_colours(descriptor: int = STANDARD_OUTPUT) -> bool:
    """https://no-color.org: any value except an empty one means no colors."""
    return is_terminal(descriptor) and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def paint(text: str, colour: str, descriptor: int = STANDARD_OUTPUT) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if has_colours(descriptor) else text
