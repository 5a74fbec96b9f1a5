"""The terminal that output goes to, if any: its width, and whether to use colors."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
LEAST_WIDTH = 20
# Of a terminal that does not know.
DEFAULT_WIDTH = 80

BOLD, RED, YELLOW, GREEN = "1", "31", "33", "32"
# Words that a verdict or a finding begins with.
COLOURS = {"critical": RED, "FINDINGS": RED, "FAILED": RED, "warning": YELLOW, "clean": GREEN, "CLEAN": GREEN}
COLOURED = re.compile(rf"({'|'.join(COLOURS)})\b")


def is_terminal(descriptor: int = STANDARD_OUTPUT) -> bool:
    with suppress(OSError):
        return os.isatty(descriptor)
    return False


def terminal_width() -> int | None:
    """Of standard output; None where it is no terminal, and nobody is helped by shorter lines."""
    if not is_terminal():
        return None
    return max(LEAST_WIDTH, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def error_width() -> int:
    """Of the terminal that standard error is."""
    with suppress(OSError):
        return max(LEAST_WIDTH, os.get_terminal_size(STANDARD_ERROR).columns or DEFAULT_WIDTH)
    return DEFAULT_WIDTH


def has_colours(descriptor: int = STANDARD_OUTPUT) -> bool:
    """https://no-color.org: any value but an empty one means none."""
    return is_terminal(descriptor) and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def painted(text: str, colour: str, descriptor: int = STANDARD_OUTPUT) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if has_colours(descriptor) else text


def with_severities(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a page: the word that a verdict or a finding begins with in its colour."""
    for line in lines:
        first = COLOURED.match(line)
        yield painted(first[0], COLOURS[first[0]]) + line[first.end() :] if first else line
