"""The terminal that output goes to, if any: its width, and whether to use colors."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
LEAST_WIDTH = 20
# For a terminal that does not report its width.
DEFAULT_WIDTH = 80

BOLD, RED, YELLOW, GREEN = "1", "31", "33", "32"
# First words of a verdict or a finding.
COLOURS = {"critical": RED, "FINDINGS": RED, "FAILED": RED, "warning": YELLOW, "clean": GREEN, "CLEAN": GREEN}
COLOURED = re.compile(rf"({'|'.join(COLOURS)})\b")


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


def with_severities(lines: Iterable[str]) -> Iterator[str]:
    """Colors the first word of each verdict and finding."""
    for line in lines:
        first = COLOURED.match(line)
        yield paint(first[0], COLOURS[first[0]]) + line[first.end() :] if first else line
