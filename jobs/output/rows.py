"""Prints rows to standard output: an aligned table for people, CSV or JSON lines for programs.

A table is fitted to the terminal: its columns, words of a line, and rows with too many columns to fit side by side. A
text of several words is cut at its end. A name is cut in the middle, since names often begin or end alike: a prefix
that all groups share, the number of a partition.

In CSV, text that a spreadsheet would run as a formula begins with an apostrophe. JSON has every value unchanged.

Names are anybody's, and a terminal acts on some characters: on a terminal these are spelled out, whatever is printed.
In a file or a pipe the bytes of CSV are those of the name.
"""

import json
import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import StrEnum
from itertools import chain, islice
from typing import Any

from jobs.output.failure import Failure, visible
from jobs.output.terminal import (
    BOLD,
    COLOURS,
    LIVE,
    STANDARD_OUTPUT,
    Painted,
    has_colours,
    is_terminal,
    paint,
    terminal_width,
)
from jobs.output.zones import local_time
from schemas.words.exit_codes import ExitCode

CHUNK_BYTES = 1 << 16
# The first rows decide the column widths, so that a large result can be printed row by row.
MEASURED_ROWS = 1_000
# A list of a thousand members must not pad every other row to its length. Long ids, and lists of similar length, still
# form columns.
MOST_PADDING = 250
GAP = "  "
# What spreadsheets read as the beginning of a formula, except plain numbers.
FORMULA = re.compile("[=+@\t\r\uff1d\uff0b\uff20]|[-\uff0d](?![0-9.]+$)")
# As `time_text` writes it.
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)")
CUT = "…"
# A narrower column is useless.
LEAST_COLUMN = 8
# Of a name in so many columns its beginning and its end can be read.
READABLE_COLUMN = 24
# Of names that look alike: each shows what is after a longer beginning that some of them share.
MOST_ROUNDS = 8
# Of labels, unless a command has wider ones.
LABEL_WIDTH = 12
# Spaces, or a label and the spaces before its text.
LABELLED = re.compile(r" +|[A-Za-z]+( [a-z]+)? {2,}")
# Between words of a sentence. Few names have so many.
SPACES_OF_SENTENCE = 2
# Zero width: marks that combine with other characters.
NO_WIDTH = ("Mn", "Me")
COLOURED = re.compile(rf"({'|'.join(COLOURS)})\b")

Row = Sequence[Any]


class Format(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def print_rows(
    names: Sequence[str], rows: Iterable[Row], format: str, missing: str = "", *, is_wide: bool = False
) -> None:
    """`missing`: shown in tables for a missing value. A wide table may exceed the terminal."""
    width = None if is_wide else terminal_width()
    write_lines(row_lines(names, rows, format, missing, width), spelling_of(format))


def print_object(fields: Mapping[str, Any], format: str) -> None:
    print_rows(list(fields), [list(fields.values())], format)


def print_result(result: Mapping[str, Any], lines: Iterable[str], format: str) -> None:
    """`lines`: the result for people."""
    if format == Format.TABLE:
        print_page(lines)
    else:
        print_object(result, format)


def print_facts(facts: Iterable[Sequence[str]]) -> None:
    write_lines(fact_lines(facts, terminal_width()))


def row_lines(
    names: Sequence[str], rows: Iterable[Row], format: str, missing: str = "", width: int | None = None
) -> Iterator[str]:
    """`width`: of the terminal that the table must fit."""
    if format == Format.TABLE:
        return table_lines(names, rows, missing, width)
    return csv_lines(names, rows) if format == Format.CSV else json_lines(names, rows)


def spelling_of(format: str) -> Callable[[str], str]:
    """How characters that a terminal acts on are spelled out in lines of a format."""
    # A cell of CSV may have line breaks.
    return {Format.JSON: json_visible, Format.CSV: visible}.get(Format(format), text_visible)


def text_visible(text: str) -> str:
    """Several lines stay that."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def json_visible(text: str) -> str:
    """What a terminal acts on is inside strings of JSON, so JSON's own escapes change no value. Line breaks are outside
    of them."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else json_escape(char) for char in text)


def json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def write_lines(lines: Iterable[str], spelling: Callable[[str], str] = text_visible) -> None:
    """Writes in chunks and as UTF-8, independent of the machine's encoding. `spelling`: of lines on a terminal."""
    if is_terminal():
        lines = (line if isinstance(line, Painted) else spelling(line) for line in lines)
    ready = bytearray()
    for line in lines:
        ready += line.encode(errors="backslashreplace") + b"\n"
        if len(ready) >= CHUNK_BYTES:
            write_all(ready)
            ready = bytearray()
    write_all(ready)


def write_all(text: bytes | bytearray) -> None:
    view = memoryview(text)
    if view:
        LIVE.before_answer()
    try:
        while view:
            view = view[os.write(STANDARD_OUTPUT, view) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(ExitCode.FAILED, f"standard output: {error.strerror}") from None


def table_lines(
    names: Sequence[str], rows: Iterable[Row], missing: str = "", width: int | None = None
) -> Iterator[str]:
    coming = iter(rows)
    measured = list(islice(coming, MEASURED_ROWS))
    cells = [table_cells(row, missing) for row in measured]
    shown = [visible(name) for name in names]
    widths = [column_width(name, column) for name, *column in zip(shown, *cells, strict=True)]
    columns = [[row[i] for row in measured] for i in range(len(names))]
    is_right = [is_number_column(column) for column in columns]
    every: Iterator[list[str]] = chain(cells, (table_cells(row, missing) for row in coming))
    heading = shown
    if width is not None:
        bodies = [max(map(width_of, column), default=0) for column in zip(*cells, strict=True)] or [0] * len(shown)
        # A truncated number would be another number, and a truncated time any time of that hour.
        is_whole = [each or is_time_column(column) for each, column in zip(is_right, columns, strict=True)]
        least = [body if each else 0 for each, body in zip(is_whole, bodies, strict=True)]
        room = fit_widths(widths, bodies, least, width - len(GAP) * (len(widths) - 1))
        if room is None:
            yield from record_lines(shown, every, width)
            return
        widths, heading = room, [cut_to(name, width) for name, width in zip(shown, room, strict=True)]
        cuts = [cutting([row[i] for row in cells], width) for i, width in enumerate(room)]
        every = ([cut(cell) for cut, cell in zip(cuts, row, strict=True)] for row in every)
    yield Painted(paint(table_line(heading, widths, is_right), BOLD))
    yield GAP.join("-" * width for width in widths)
    for row in every:
        yield table_line(row, widths, is_right)


def record_lines(names: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> Iterator[str]:
    """Columns one below the other, if they do not fit side by side."""
    for number, row in enumerate(rows):
        yield from [""] if number else []
        for name, cell in zip(names, row, strict=True):
            yield from wrap_lines(f"{name}: {cell}".rstrip(), width, "  ")


def column_width(name: str, cells: Iterable[str]) -> int:
    """The width of the widest cell that pads no other cell by more than MOST_PADDING. Wider cells stick out."""
    widths = sorted(map(width_of, cells))
    total = sum(widths)
    while widths and len(widths) * widths[-1] - total > MOST_PADDING * len(widths):
        total -= widths.pop()
    return max(1, width_of(name), *widths[-1:])


def is_number_column(values: Iterable[Any]) -> bool:
    there = [value for value in values if value is not None]
    return bool(there) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in there
    )


def is_time_column(values: Iterable[Any]) -> bool:
    there = [value for value in values if value is not None]
    return bool(there) and all(
        isinstance(value, datetime) or (isinstance(value, str) and TIME.fullmatch(value)) for value in there
    )


def table_line(cells: Sequence[str], widths: Sequence[int], is_right: Sequence[bool]) -> str:
    padded = []
    for cell, width, is_number in zip(cells, widths, is_right, strict=True):
        space = " " * (width - width_of(cell))
        padded.append(space + cell if is_number else cell + space)
    return GAP.join(padded).rstrip(" ")


def table_cells(row: Row, missing: str) -> list[str]:
    return [missing if value is None else visible(cell_text(value)) for value in row]


def csv_lines(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    for row in chain([names], rows):
        # Most readers ignore an empty line.
        yield ",".join(csv_cell(value) for value in row) or '""'


def csv_cell(value: Any) -> str:
    """NULL is empty; an empty text is a pair of quotes."""
    if value is None:
        return ""
    text = cell_text(value)
    if isinstance(value, str) and FORMULA.match(text):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if not text or any(mark in text for mark in ',"\n\r') else text


def cell_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case list() | tuple() | dict():
            return json_text(value)
        case datetime():
            return time_text(value)
        case bytes() | bytearray():
            return value.hex()
        case date() | time():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case _:
            return str(value)


def time_text(value: datetime) -> str:
    """ISO 8601 in the zone of what is printed. Times without a zone are UTC."""
    local = local_time(value)
    text = local.isoformat(timespec="microseconds" if local.microsecond % 1000 else "milliseconds")
    return text.removesuffix("+00:00") + "Z" if local.tzinfo is UTC else text


def clock_text(value: datetime | None, at: datetime) -> str | None:
    """For people who look at that time: to the second, without the date if it is of the same day in the zone of what is
    printed. With the offset from UTC if that is another one, as in another season."""
    if value is None:
        return None
    local, there = (local_time(each) for each in (value, at))
    if local.utcoffset() != there.utcoffset():
        return local.isoformat(timespec="seconds")
    text = local.replace(tzinfo=None).isoformat(timespec="seconds")
    return text.removeprefix(f"{there.date()}T")


def json_lines(names: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    # A query may give two columns the same name: both are written.
    keys = [json_string(name) for name in names]
    for row in rows:
        yield json_object(keys, row)


def json_object(keys: Iterable[str], values: Iterable[Any]) -> str:
    return "{" + ",".join(f"{key}:{json_text(value)}" for key, value in zip(keys, values, strict=True)) + "}"


def json_text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case int() | Decimal():
            return cell_text(value)
        case float():
            # JSON has no value for infinity and NaN.
            return repr(value) if value - value == 0 else json_string(str(value))
        case dict():
            return json_object([json_string(cell_text(key)) for key in value], value.values())
        case tuple() if hasattr(value, "__fields__"):  # a struct as Spark returns it
            return json_object(map(json_string, value.__fields__), value)
        case list() | tuple():
            return "[" + ",".join(map(json_text, value)) + "]"
        case _:
            return json_string(cell_text(value))


def json_string(text: str) -> str:
    """JSON escapes replace everything that a terminal would act on, so nothing is lost."""
    return json_visible(json.dumps(text, ensure_ascii=False))


def print_page(lines: Iterable[str]) -> None:
    width = terminal_width()
    write_lines(with_severities(each for line in lines for each in paragraph(line, width)))


def with_severities(lines: Iterable[str]) -> Iterator[str]:
    """Colors the first word of each verdict and finding."""
    is_coloured = has_colours()
    for line in lines:
        first = COLOURED.match(line) if is_coloured else None
        yield line if first is None else Painted(paint(first[0], COLOURS[first[0]]) + visible(line[first.end() :]))


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


def fact_lines(facts: Iterable[Sequence[str]], width: int | None, label_width: int = LABEL_WIDTH) -> Iterator[str]:
    """Labels with their texts beside them; on a narrow terminal, the text is below."""
    for label, fact in facts:
        text = visible(fact)
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
