"""Columns of answers as the page's document has them, compact: texts that repeat are words and their places, and whole
numbers are bytes where there are many. Names are hostile input: control and bidi characters are spelled out here, once
for each word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.command_line.values import EPOCH
from jobs.output.failure import visible
from jobs.redacting.redaction import NoRedaction, Redaction

# Beyond it the numbers of a browser are not exact: such a number is written as text.
MOST_EXACT = 2**53
# Shorter columns of texts, and of numbers, are not worth a form of their own; nor has one those of wider numbers.
LEAST_TO_PACK, LEAST_IN_PLANES, WIDTHS = 5, 12, (1, 2, 3, 4, 5, 6)
FIGURES = 4
MILLISECOND = timedelta(milliseconds=1)
# What the document calls columns whose texts are no names, by what they are called in the tables.
CALLED = {
    "cause": "trigger", "burrow": "burrow_verdict", "leave": "leave_kind", "library": "client_library",
    "id": "group_id", "worst": "message", "words": "message", "what": "kind", "sentence": "trigger_detail",
    "basis": "unread_basis", "change": "trigger_detail", "mark": "kind", "letters": "run_id",
}  # fmt: skip
Json = Any
NOTHING: Mapping[str, str] = {}


class Whole(NamedTuple):
    """Whole numbers; `known`: which there are."""

    values: Any
    known: Any

    def plain(self) -> list[int | None]:
        listed: list[int | None] = self.values.tolist()
        if self.known.all():
            return listed
        return [value if is_there else None for value, is_there in zip(listed, self.known.tolist(), strict=True)]

    def in_planes(self, planes: list[bytes], place: int) -> Json:
        """All lowest bytes, then all of the next ones, which packs much better than digits: they are put at that place;
        the result says how to read them. Steps where these are smaller. The smallest number of a width means that there
        is none."""
        values = self.values[self.known]
        steps = np.diff(values, prepend=values[:1])
        width, width_of_steps = width_of(values), width_of(steps)
        is_growing = width == width_of_steps and len(steps) and steps.min() >= 0
        if width is None or len(self.known) < LEAST_IN_PLANES:
            return self.plain()
        form: dict[str, Json] = {"p": place, "n": len(self.known), "w": width}
        if width_of_steps is not None and (width_of_steps < width or is_growing):
            form |= {"w": width_of_steps, "f": int(values[0])}
            values, width = steps, width_of_steps
        numbers = np.full(len(self.known), -(1 << 8 * width - 1), "<i8")
        numbers[self.known] = values
        planes.append(numbers.view(np.uint8).reshape(-1, 8)[:, :width].T.tobytes())
        return form


def width_of(values: Any) -> int | None:
    most = max(int(values.max(initial=0)), -int(values.min(initial=0)))
    return next((width for width in WIDTHS if most < 1 << 8 * width - 1), None)


@dataclass(frozen=True)
class Column:
    """Of a whole answer. `values`: numbers (times as milliseconds since 1970), places of `words`, or a list of others;
    `known`: which of the numbers there are."""

    values: Any
    known: Any = None
    words: Sequence[str] | None = None

    def is_exact(self, first: int, end: int) -> bool:
        part = self.values[first:end]
        return first == end or -MOST_EXACT <= part.min() <= part.max() <= MOST_EXACT

    def of(self, first: int, end: int, base: "Column | None" = None) -> Json:
        """These rows. `base`: a column which they are little more or less than."""
        part = self.values[first:end]
        if isinstance(part, list):
            return part
        if self.words is not None:
            return texts(part, self.words)
        numbers = Whole(part, self.known[first:end])
        if base is not None:
            return Whole(part - np.where(base.known[first:end], base.values[first:end], 0), numbers.known)
        if part.dtype.kind == "f":
            return [None if each is None else shortest(each) for each in numbers.plain()]
        if part.dtype.kind == "i" and not self.is_exact(first, end):
            return [each if each is None or abs(each) <= MOST_EXACT else str(each) for each in numbers.plain()]
        return numbers if part.dtype.kind == "i" else numbers.plain()


def shortest(value: float) -> float:
    return int(value) if value == int(value) else float(f"{value:.{FIGURES}g}")


def texts(places: Any, words: Sequence[str]) -> Json:
    """`places`: -1: no text. Words in the order in which they first come, whatever rows of other groups have."""
    own, first, numbers = np.unique(places, return_index=True, return_inverse=True)
    order = [place for place in np.argsort(first).tolist() if own[place] >= 0]
    if len(places) < LEAST_TO_PACK or 2 * len(order) > len(places):
        return [None if place < 0 else words[place] for place in places.tolist()]
    rank = np.full(len(own), -1, np.int64)
    rank[order] = np.arange(len(order))
    return {"w": [words[own[place]] for place in order], "i": Whole(rank[numbers], np.ones(len(places), np.bool_))}


def words(values: Sequence[str | None]) -> Json:
    """Few words, for many rows."""
    packed = column(pa.chunked_array([pa.array(values, pa.string())])).of(0, len(values))
    return packed if isinstance(packed, list) else {**packed, "i": plain(packed["i"])}


def plain(values: Json) -> list[Json]:
    """A column of the document as one list."""
    if isinstance(values, Whole):
        return values.plain()
    if isinstance(values, list):
        return values
    return [None if place < 0 else values["w"][place] for place in plain(values["i"])]


def in_planes(table: Mapping[str, Json], planes: list[bytes]) -> dict[str, Json]:
    """Its columns; whole numbers are put into `planes`."""
    result = {}
    for name, values in table.items():
        # Places of words are numbers too, and so is how much more a value is than that of another column.
        part = next((key for key in ("v", "i") if isinstance(values, dict) and key in values), None)
        numbers = values if part is None else values[part]
        if isinstance(numbers, Whole):
            numbers = numbers.in_planes(planes, sum(map(len, planes)))
        result[name] = numbers if part is None else {**values, part: numbers}
    return result


def column(array: pa.ChunkedArray) -> Column:
    kind, array = array.type, array.combine_chunks()
    if pa.types.is_string(kind):
        encoded = array.dictionary_encode()
        places = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
        return Column(places, words=[visible(word) for word in encoded.dictionary.to_pylist()])
    if pa.types.is_nested(kind):
        is_of_numbers = pa.types.is_list(kind) and pa.types.is_integer(kind.value_type)
        return Column(array.to_pylist() if is_of_numbers else [spelled(value) for value in array.to_pylist()])
    known, is_time = pc.is_valid(array).to_numpy(zero_copy_only=False), pa.types.is_timestamp(kind)
    if not pa.types.is_boolean(kind):
        array = pc.cast(array, pa.int64() if is_time or pa.types.is_integer(kind) else pa.float64())
    if array.null_count:
        array = pc.fill_null(array, False if pa.types.is_boolean(kind) else 0)
    numbers = array.to_numpy(zero_copy_only=False)
    return Column(numbers // 1_000 if is_time else numbers, known)


def ms(time: datetime | None) -> int | None:
    return None if time is None else (time - EPOCH) // MILLISECOND


def spelled(value: Any) -> Json:
    """Of a value of Python."""
    match value:
        case datetime():
            return ms(value)
        case str():
            return visible(value)
        case list():
            return [spelled(each) for each in value]
        case dict():
            return {name: spelled(each) for name, each in value.items()}
    return value


def redacted(table: pa.Table, redaction: Redaction) -> pa.Table:
    """Each text by what its column holds, once for each word."""
    if isinstance(redaction, NoRedaction):
        return table
    for place, name in enumerate(table.column_names):
        array, called = table.column(name), CALLED.get(name, name)
        if pa.types.is_string(array.type):
            encoded = array.combine_chunks().dictionary_encode()
            words = [redaction.value("", called, word) for word in encoded.dictionary.to_pylist()]
            table = table.set_column(place, name, pa.array(words, pa.string()).take(encoded.indices))
        elif pa.types.is_nested(array.type):
            values = [redaction.value("", called, value) for value in array.to_pylist()]
            table = table.set_column(place, name, pa.array(values, array.type))
    return table


class Answer:
    """To one question, by columns. `is_whole`: its rows are not taken by group."""

    def __init__(self, table: pa.Table, *, is_whole: bool = False) -> None:
        self.table = table
        self.names = [name for name in table.column_names if is_whole or name != "group_id"]
        self.made: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        if name not in self.made:
            self.made[name] = column(self.table.column(name))
        return self.made[name]

    @cached_property
    def rows(self) -> dict[str, tuple[int, int]]:
        """Of each group, whose rows follow each other: the place of its first one, and that after its last."""
        encoded = self.table.column("group_id").combine_chunks().dictionary_encode()
        places = encoded.indices.to_numpy(zero_copy_only=False)
        starts = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
        names = encoded.dictionary.to_pylist()
        return {names[places[first]]: (first, end) for first, end in pairwise(starts) if first < end}

    def pack(self, group: str, less: Mapping[str, str] = NOTHING, without: Sequence[str] = ()) -> dict[str, Json]:
        """Its rows as a table of the document. `less`: columns that are written as what they are more than others;
        `without`: those that nobody needs."""
        rows = self.rows.get(group, (0, 0))
        columns = {name: self.column(name) for name in self.names if name not in without}
        # Of a text no page can say how much more another one is.
        bases = {
            name: base for name, base in less.items()
            if name in columns and all(columns[each].is_exact(*rows) for each in (name, base))
        }  # fmt: skip
        own = {name: each.of(*rows) for name, each in columns.items() if name not in bases}
        return own | {name: {"of": base, "v": columns[name].of(*rows, columns[base])} for name, base in bases.items()}

    def whole(self) -> dict[str, list[Json]]:
        return {name: plain(self.column(name).of(0, self.table.num_rows)) for name in self.names}

    def has_only(self, group: str, name: str, number: int) -> bool:
        first, end = self.rows[group]
        return bool((self.column(name).values[first:end] == number).all())

    def dicts(self, group: str) -> list[dict[str, Any]]:
        first, end = self.rows.get(group, (0, 0))
        rows: list[dict[str, Any]] = self.table.slice(first, end - first).to_pylist()
        return rows
