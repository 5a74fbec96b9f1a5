"""Pages of text on standard output: as they are, or as wide as the terminal."""

from collections.abc import Iterable

from jobs.row_output import write_lines
from jobs.table_layout import paragraph
from jobs.terminal import terminal_width, with_severities


def print_page(lines: Iterable[str]) -> None:
    width = terminal_width()
    write_lines(with_severities(each for line in lines for each in paragraph(line, width)))
