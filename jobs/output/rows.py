"""Prints rows to standard output: an aligned table for people, CSV or JSON lines for programs.

A table is fitted to the terminal. In CSV, text that a spreadsheet would run as a formula begins with an apostrophe.
JSON has every value unchanged.

Names are anybody's, and a terminal acts on some characters: on a terminal these are spelled out, whatever is printed.
In a file or a pipe the bytes of CSV are those of the name.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import partial
from itertools import chain, islice
from typing import Any

from jobs.output.failure import Failure, visible
from jobs.output.live_line import LIVE
from jobs.output.table_layout import cut_to, cutting, fit_widths, width_of, wrap_lines
from jobs.output.terminal import BOLD, STANDARD_OUTPUT, Painted, is_terminal, paint, terminal_width
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


def row_lines(
    names: Sequence[str], rows: Iterable[Row], format: str, missing: str = "", width: int | None = None
) -> Iterator[str]:
    """`width`: of the terminal that the table must fit."""
    writers: dict[str, Callable[[Sequence[str], Iterable[Row]], Iterator[str]]] = {
        Format.TABLE: partial(table_lines, missing=missing, width=width),
        Format.CSV: csv_lines,
        Format.JSON: json_lines,
    }
    return writers[format](names, rows)


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
    padded = (pad(*column) for column in zip(cells, widths, is_right, strict=True))
    return GAP.join(padded).rstrip(" ")


def pad(cell: str, width: int, is_right: bool) -> str:
    space = " " * (width - width_of(cell))
    return space + cell if is_right else cell + space


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
    if value is None:
        return ""
    if isinstance(value, list | tuple | dict):
        return json_text(value)
    text = scalar_text(value)
    return str(value) if text is None else text


def scalar_text(value: Any) -> str | None:
    """For a value that is not a list, a map or a struct."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case datetime():
            return time_text(value)
        case bytes() | bytearray():
            return value.hex()
        case date() | time():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case int() | float() | timedelta():
            return str(value)
        case _:
            return None


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
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            # JSON has no value for infinity and NaN.
            return repr(value) if value - value == 0 else json_string(str(value))
        case Decimal():
            return format(value, "f")
        case dict():
            return json_object([json_string(cell_text(key)) for key in value], value.values())
        case tuple() if hasattr(value, "__fields__"):  # a struct as Spark returns it
            return json_object(map(json_string, value.__fields__), value)
        case list() | tuple():
            return "[" + ",".join(map(json_text, value)) + "]"
        case _:
            return json_string(scalar_text(value) or str(value))


def json_string(text: str) -> str:
    """JSON escapes replace everything that a terminal would act on, so nothing is lost."""
    return json_visible(json.dumps(text, ensure_ascii=False))
