"""Reads SQL that is declared in files: views, metrics and findings, and the parts that they share.

A file begins with a header, lines of `--`; a line that goes on is indented by four spaces more. What follows is SQL,
with its own comments. Lines of `---` are for readers of the file alone.

In SQL, `{name}` is a part, and `{name ARGUMENT, ARGUMENT}` one with arguments, which may have parts in them. Parts are
declared in `schemas/parts`:

    -- part total(column): Engines differ in the type of a sum.
    CAST(sum({column}) AS BIGINT)
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NoReturn

from schemas.records import REGISTRY
from schemas.words.enumerations import value_rows
from schemas.words.gate import TOOL_GROUPS
from schemas.words.history import TIMED_OUT
from schemas.words.lag import WORST_FIRST
from schemas.words.lines import Line
from schemas.words.records import INTERNAL_TOPICS, UNKNOWN_REASONS

PARTS = "parts"
NO_OTHERS: Mapping[str, str] = MappingProxyType({})
USE = re.compile(r"\{(\w+)(?: ([^{}]+))?\}")
# Ends lines of parts while others are filled in, so that the lines of a text are those of its file.
IN_PART = "\0"
DECLARED = re.compile(r"(part|columns) (\w+)(?:\(([\w, ]+)\))?(?:: (.+))?")


def refuse(place: str, line: int, what: str, expected: str) -> NoReturn:
    Line(f"{place}, line {line}", 0, what).refuse(expected)


@dataclass(frozen=True, slots=True)
class SqlFile:
    """`header`: number and text of each of its lines, without `--`. `first_line`: where `sql` begins."""

    place: str
    header: tuple[tuple[int, str], ...]
    sql: str
    first_line: int

    def filled(self, others: Mapping[str, str] = NO_OTHERS) -> str:
        """The SQL with all parts; `others`: texts of this file alone."""
        return filled(self.sql, self.place, self.first_line, others)


@dataclass(frozen=True, slots=True)
class Part:
    arguments: tuple[str, ...]
    text: str
    place: str
    line: int


def sql_file(text: str, place: str, first_line: int = 1, *, is_loose: bool = False) -> SqlFile:
    """`is_loose`, as users write files of metrics: lines of `--` may be anywhere, and those with any indent go on."""
    header: list[tuple[int, str]] = []
    sql: list[str] = []
    begin = 0
    for number, line in enumerate(text.splitlines(), first_line):
        if line.startswith("---") and not is_loose:
            continue
        if not line.startswith("--") or (begin and not is_loose):
            begin = begin or number
            sql.append(line)
            continue
        said = line.removeprefix("--").removeprefix(" ").rstrip()
        if header and indent(said) >= (1 if is_loose else indent(header[-1][1]) + 4):
            header[-1] = header[-1][0], f"{header[-1][1]} {said.strip()}"
        elif said:
            header.append((number, said))
    return SqlFile(place, tuple(header), "\n".join(sql).strip("\n"), begin or first_line)


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def shipped(folder: str) -> Iterator[tuple[str, str, str]]:
    """Name, place in messages, and text of each SQL file of a folder of ours, by name."""
    for each in sorted(files("schemas").joinpath(folder).iterdir(), key=lambda each: each.name):
        if each.name.endswith(".sql"):
            yield each.name.removesuffix(".sql"), f"schemas/{folder}/{each.name}", each.read_text(encoding="utf-8")


@cache
def declared() -> tuple[dict[str, Part], dict[str, SqlFile]]:
    """All parts, and all groups of columns, by name."""
    parts: dict[str, Part] = {}
    groups: dict[str, SqlFile] = {}
    for _, place, text in shipped(PARTS):
        for match in re.finditer(r"(?m)^-- (?=part |columns ).*\n(?:(?!-- (?:part|columns) ).*\n)*", text):
            line = text.count("\n", 0, match.start()) + 1
            file = sql_file(match[0], place, line)
            said = DECLARED.fullmatch(" ".join(text for _, text in file.header if not text.startswith("  ")))
            if said is None:
                refuse(place, line, "-- part", "expected -- part NAME(ARGUMENTS): what it is, or -- columns NAME")
            if said[2] in (groups if said[1] == "columns" else parts):
                refuse(place, line, said[2], "expected a name that no other has")
            if said[1] == "columns":
                groups[said[2]] = file
            else:
                parts[said[2]] = Part(
                    tuple((said[3] or "").replace(",", " ").split()), file.sql, place, file.first_line
                )
    return parts, groups


@cache
def part(name: str, *arguments: str) -> str:
    """The text of a part with these arguments."""
    found = declared()[0][name]
    text = found.text
    for argument, value in zip(found.arguments, arguments, strict=True):
        text = text.replace(f"{{{argument}}}", value)
    return filled(text, found.place, found.line)


def filled(sql: str, place: str, first_line: int, others: Mapping[str, str] = NO_OTHERS) -> str:
    """The SQL with the texts of all parts. `others`: what names mean that are no parts."""
    parts = declared()[0]

    def refuse_use(use: re.Match[str], expected: str) -> NoReturn:
        line = first_line + use.string.count("\n", 0, use.start())
        refuse(place, line, use[0].replace(IN_PART, "\n"), expected)

    def text_of(use: re.Match[str]) -> str:
        name, said = use[1], use[2]
        if name in others:
            return others[name]
        if name in WORDS:
            return WORDS[name]()
        if name not in parts:
            known = ", ".join(sorted({*others, *WORDS, *parts}))
            refuse_use(use, f"no such part; expected one of {known}")
        wanted = parts[name].arguments
        arguments = arguments_of(said, len(wanted))
        if len(arguments) != len(wanted):
            refuse_use(use, f"expected {len(wanted)} arguments: {', '.join(wanted)}")
        return part(name, *arguments)

    def in_one_line(use: re.Match[str]) -> str:
        return text_of(use).replace("\n", IN_PART)

    # The innermost ones first, which are arguments of others.
    text, number = USE.subn(in_one_line, sql)
    while number:
        text, number = USE.subn(in_one_line, text)
    return text.replace(IN_PART, "\n")


def arguments_of(said: str | None, number: int) -> list[str]:
    """Split at commas outside of brackets, into this many at most."""
    if said is None:
        return []
    arguments, depth = [""], 0
    for character in said:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0 and len(arguments) < number:
            arguments.append("")
        else:
            arguments[-1] += character
    return [each.strip() for each in arguments]


def quoted(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


def is_of_a_tool(column: str) -> Iterator[str]:
    """Conditions, one of which is true for a group that a tool makes for itself: as `[gate] tool_groups` says it, in
    words that every engine reads alike."""
    for begins, what_follows in TOOL_GROUPS.items():
        condition = f"substring({column}, 1, {len(begins)}) = '{begins}'"
        rest = f"substring({column}, {len(begins) + 1})"
        digits = f" AND length({rest}) > 0 AND length(translate({rest}, '0123456789', '')) = 0"
        yield f"({condition}{digits})" if what_follows == "[0-9]+" else condition


# Parts that are made of words.
WORDS: Mapping[str, Callable[[], str]] = {
    "timed_out": lambda: quoted(kind.value for kind in TIMED_OUT),
    "internal_topics": lambda: quoted(INTERNAL_TOPICS),
    "unknown_reasons": lambda: quoted(UNKNOWN_REASONS),
    "worst_first": lambda: " ".join(f"WHEN '{each.value}' THEN {place}" for place, each in enumerate(WORST_FIRST, 1)),
    "type_names": lambda: " ".join(f"WHEN {number} THEN '{record.name}'" for number, record in REGISTRY.items()),
    "enumerated_values": value_rows,
    "is_of_a_tool": lambda: "\n      OR ".join(is_of_a_tool("states.group_id")),
}
