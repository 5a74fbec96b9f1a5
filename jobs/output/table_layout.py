"""Fits text to a width: columns of a table, words of a line, and rows with too many columns to fit side by side.

A text of several words is cut at its end. A name is cut in the middle, since names often begin or end alike: a prefix
that all groups share, the number of a partition.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

CUT = "…"
# A narrower column is useless.
LEAST_COLUMN = 8
# Of a name in so many columns its beginning and its end can be read.
READABLE_COLUMN = 24
# Of names that look alike: each shows what is after a longer beginning that some of them share.
MOST_ROUNDS = 8
# Spaces, or a label and the spaces before its text.
LABELLED = re.compile(r" +|[A-Za-z]+( [a-z]+)? {2,}")
# Between words of a sentence. Few names have so many.
SPACES_OF_SENTENCE = 2
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


def longest_end(text: str, width: int) -> str:
    """The longest end with up to this many columns. It does not begin with a mark whose letter is left out."""
    begin, room = len(text), width
    for place in range(len(text) - 1, -1, -1):
        of_char = char_width(text[place])
        room -= of_char
        if room < 0:
            break
        begin = place if of_char else begin
    return text[begin:]


def cut_middle(text: str, width: int) -> str:
    """The text; if it is too long, its first and its last part."""
    if width_of(text) <= width:
        return text
    head = longest_fit(text, width // 2)
    return head + CUT + longest_end(text, width - width_of(head) - 1)


def cut_around(text: str, place: int, width: int) -> str:
    """Cut before and perhaps after this place, so that what is there is seen, and the letter before it."""
    if width_of(text) <= width:
        return text
    head = longest_fit(text, width // 4)
    place = max(place - 1, 0)
    while place and not char_width(text[place]):
        place -= 1
    return head + CUT + cut_to(text[place:], width - width_of(head) - 1)


def cut_names(names: Collection[str], width: int) -> dict[str, str]:
    """By name, cut in the middle; where that looks the same for different names, around the place where these begin to
    differ, if there is room for it."""
    cut = {name: cut_middle(name, width) for name in names}
    for _ in range(MOST_ROUNDS):
        alike: dict[str, list[str]] = defaultdict(list)
        for name, text in cut.items():
            alike[text].append(name)
        again = {
            name: cut_around(name, length_alike(some), width)
            for some in alike.values()
            if len(some) > 1
            for name in some
        }
        # Of names that share a longer beginning than all of these, the next round shows more.
        cut |= again
    return cut


def length_alike(names: Collection[str]) -> int:
    """Of the beginning that all share: the first and the last in order share least."""
    first, last = min(names), max(names)
    pairs = zip(first, last, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(first), len(last)))


def cutting(cells: Collection[str], width: int) -> Callable[[str], str]:
    """How cells of a column are cut. `cells`: the first of them."""
    longer = {cell for cell in cells if width_of(cell) > width}
    if 2 * sum(cell.count(" ") >= SPACES_OF_SENTENCE for cell in longer) > len(longer):
        return lambda cell: cut_to(cell, width)
    known = cut_names(set(cells), width) if longer else {}
    return lambda cell: known.get(cell) or cut_middle(cell, width)


def fit_widths(widths: Sequence[int], bodies: Sequence[int], least: Sequence[int], room: int) -> list[int] | None:
    """Widths of columns that fit together, none below its minimum width. First, headings wider than their column's body
    are truncated; if that is not enough, the widest columns; if little would be left of them, both. None: it does not
    fit."""
    return (
        share_room(widths, bodies, room)
        or share_room(widths, least, room, READABLE_COLUMN)
        or share_room(limit_widths(widths, bodies, LEAST_COLUMN), least, room)
    )


def share_room(widths: Sequence[int], least: Sequence[int], room: int, lowest: int = LEAST_COLUMN) -> list[int] | None:
    """The widest columns are narrowed to one width, as far as to the lowest."""
    limit = max(widths, default=0)
    while sum(shared := limit_widths(widths, least, limit)) > room:
        limit -= 1
        if limit < lowest:
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
