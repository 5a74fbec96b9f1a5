"""Fits text to a width: columns of a table, words of a line, and rows with too many columns to fit side by side."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

CUT = "…"
# A narrower column is useless.
LEAST_COLUMN = 8
# Spaces, or a label and the spaces before its text.
LABELLED = re.compile(r" +|[A-Za-z]+( [a-z]+)? {2,}")
# Zero width: marks that combine with other characters.
NO_WIDTH = ("Mn", "Me")


def width_of(text: str) -> int:
    """Width in terminal columns."""
    if text.isascii():
        return len(text)
    return sum(map(char_width, text))


def char_width(char: str) -> int:
    if unicodedata.category(char) in NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut_to(text: str, width: int) -> str:
    """The text; if it is too long, as much as fits and a sign that there is more."""
    return text if width_of(text) <= width else longest_fit(text, width - 1) + CUT


def longest_fit(text: str, width: int) -> str:
    """The longest beginning with up to this many columns."""
    if text.isascii():
        return text[: max(width, 0)]
    room = width
    for place, char in enumerate(text):
        room -= char_width(char)
        if room < 0:
            return text[:place]
    return text


def fit_widths(widths: Sequence[int], bodies: Sequence[int], least: Sequence[int], room: int) -> list[int] | None:
    """Widths of columns that fit together. First, headings wider than their column's body are truncated, then the
    widest columns, none below its minimum width. None: it does not fit."""
    fitting = share_room(widths, bodies, room)
    return fitting or share_room(limit_widths(widths, bodies, LEAST_COLUMN), least, room)


def share_room(widths: Sequence[int], least: Sequence[int], room: int) -> list[int] | None:
    limit = max(widths, default=0)
    while sum(shared := limit_widths(widths, least, limit)) > room:
        limit -= 1
        if limit < LEAST_COLUMN:
            return None
    return shared


def limit_widths(widths: Sequence[int], least: Sequence[int], limit: int) -> list[int]:
    return [min(width, max(floor, limit)) for width, floor in zip(widths, least, strict=True)]


def wrap_lines(text: str, width: int, indent: str = "", *, head: str = "", is_cut: bool = True) -> Iterator[str]:
    """Lines broken between words, or inside a word longer than a line if words may be cut. The head is before the
    first line, the indent before all others."""
    if width_of(head + text) <= width:
        # With all spaces: it may be a drawing.
        yield head + text
        return
    before, line = head, ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width_of(before + longer) <= width:
            line = longer
            continue
        if line:
            yield before + line
            before = indent
        line = word
        while is_cut and width_of(before + line) > width:
            head = longest_fit(line, width - len(before)) or line[:1]
            yield before + head
            before, line = indent, line[len(head) :]
    yield before + line


def paragraph(line: str, width: int | None) -> Iterator[str]:
    """The next lines begin where the text of the first one does: after its spaces, or after its label. No word is cut:
    it may be a path, which somebody copies."""
    if width is None or width_of(line) <= width:
        yield line
        return
    start = LABELLED.match(line)
    head = start[0] if start and width - len(start[0]) >= 2 * LEAST_COLUMN else ""
    indent = " " * len(head) or "  "
    yield from wrap_lines(line[len(head) :], width, indent, head=head, is_cut=False)


def label_lines(label: str, text: str, label_width: int, width: int | None) -> Iterator[str]:
    """A label with its text beside it; on a narrow terminal, the text is below."""
    line = f"{label}{' ' * (label_width - width_of(label))} {text}".rstrip()
    if width is None:
        yield line
    elif width - label_width < 2 * LEAST_COLUMN:
        yield from wrap_lines(f"{label} {text}".strip(), width, "  ")
    else:
        head = line[: label_width + 1]
        first, *more = wrap_lines(text, width - len(head))
        yield (head + first).rstrip()
        yield from (" " * len(head) + each for each in more)
