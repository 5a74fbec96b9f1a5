"""Pages of text on standard output: as they are, or as wide as the terminal."""

import re
from collections.abc import Iterable, Iterator

from jobs.output.failure import visible
from jobs.output.rows import write_lines
from jobs.output.table_layout import paragraph
from jobs.output.terminal import GREEN, RED, YELLOW, Painted, has_colours, paint, terminal_width

# First words of a verdict or a finding.
COLOURS = {"critical": RED, "FINDINGS": RED, "FAILED": RED, "warning": YELLOW, "clean": GREEN, "CLEAN": GREEN}
COLOURED = re.compile(rf"({'|'.join(COLOURS)})\b")


def print_page(lines: Iterable[str]) -> None:
    width = terminal_width()
    write_lines(with_severities(each for line in lines for each in paragraph(line, width)))


def with_severities(lines: Iterable[str]) -> Iterator[str]:
    """Colors the first word of each verdict and finding."""
    is_coloured = has_colours()
    for line in lines:
        first = COLOURED.match(line) if is_coloured else None
        yield line if first is None else Painted(paint(first[0], COLOURS[first[0]]) + visible(line[first.end() :]))
