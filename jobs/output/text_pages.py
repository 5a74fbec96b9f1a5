"""Pages of text on standard output: as they are, or as wide as the terminal."""

from collections.abc import Iterable

from jobs.output.rows import write_lines
from jobs.output.table_layout import paragraph
from jobs.output.terminal import terminal_width, with_severities


def print_page(lines: Iterable[str]) -> None:
    width = terminal_width()
    write_lines(with_severities(each for line in lines for each in paragraph(line, width)))
