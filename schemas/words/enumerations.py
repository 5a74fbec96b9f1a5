"""Words with what each means. They are declared as text, in files `SUBJECT.words` beside this one: code names the
values; the view v_enums and the docs have the meanings too.

    words StormKind of v_rebalance_storms.kind
      storm  A client left and came back again and again.

declares an enumeration, the columns that have its values, and each value, then two spaces and what it means. Of tables
without a column, the next column to the right is meant: `of transactions, findings.confidence`. A value may have more
before its meaning: `suite_error, critical, check not evaluated`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from schemas.words.lines import WrongDeclaration, lines_of, text_of

# Files beside this one.
SUBJECTS = ("assignments", "gate", "history", "lag", "records")
ENUMERATION = re.compile(r"words (\w+)(?: of (.+))?")
WORD = re.compile(r"([\w-]+)(?:, )?(.*?)  +(.+)")
# All of these have a type of group in `group_type`, and how sure a row is in `confidence`.
OF_GROUPS = """group_state_intervals, membership_intervals, ownership_intervals, rebalances, generation_members,
    partition_moves, assignment_audit, assignment_whatif, assignor_upgrades, lag_points, lag_days, lag_minutes,
    consumption_rates, group_verdicts, offset_resets, odd_commits, expiry_forecast"""
MODERN_TABLES = """group_metadata, group_member_metadata, target_assignment_metadata, target_assignment_members,
    current_member_assignments, group_partition_metadata"""
LISTS = {"OF_GROUPS": OF_GROUPS, "MODERN_TABLES": MODERN_TABLES}
# The state of the client-side assignment proposal that a value is about. Initialize, while a coordinator loads, leaves
# no record but a higher epoch in coordinator_epochs.
PROPOSAL_STATES: Mapping[tuple[str, str], str] = {
    ("state", "Empty"): "Stable (no members)",
    ("state", "Stable"): "Stable (active)",
    ("state", "PreparingRebalance"): "Joining",
    ("state", "CompletingRebalance"): "AwaitingSync",
    ("ended_by", "deleted"): "Down",
}


class Word(NamedTuple):
    """`about`: what is between the value and its meaning."""

    value: str
    about: str
    meaning: str


class Enumeration(NamedTuple):
    """`places`: tables and columns."""

    places: tuple[tuple[str, str], ...]
    words: Mapping[str, Word]


class Meant(StrEnum):
    """The values of the enumeration with the name of the class."""

    @property
    def word(self) -> Word:
        return words_of(type(self))[self.value]

    @property
    def meaning(self) -> str:
        return self.word.meaning


@cache
def words_of(named: type[Meant]) -> Mapping[str, Word]:
    words = enumerations()[named.__name__].words
    if (values := [each.value for each in named]) != [*words]:
        raise WrongDeclaration(f"words {named.__name__}: expected {', '.join(values)}, got {', '.join(words)}")
    return words


@cache
def enumerations() -> Mapping[str, Enumeration]:
    return dict(
        each for name in SUBJECTS for each in read(f"{name}.words", text_of(f"words/{name}.words").splitlines())
    )


def read(file: str, text: Iterable[str]) -> Iterator[tuple[str, Enumeration]]:
    lines = lines_of(file, text)
    while lines:
        first, words = lines.popleft(), dict[str, Word]()
        name, of = (ENUMERATION.fullmatch(first.text) or first.refuse("expected words NAME [of TABLE.COLUMN]")).groups()
        while lines and lines[0].indent:
            line = lines.popleft()
            found = WORD.fullmatch(line.text) or line.refuse("expected a value and, after two spaces, what it means")
            if words.setdefault(found[1], Word(*found.groups())).meaning != found[3]:
                line.refuse("expected a value that no line before has")
        yield name, Enumeration(tuple(columns_in(of or "")), words or first.refuse("expected values below it"))


def columns_in(said: str) -> Iterator[tuple[str, str]]:
    for name, several in LISTS.items():
        said = said.replace(name, several)
    tables: list[str] = []
    for each in said.split(","):
        table, _, column = each.strip().partition(".")
        tables.append(table)
        if column:
            yield from ((table, column) for table in tables)
            tables = []


def rows() -> Iterator[tuple[str, str, Word]]:
    """Table, column and value, but for those that cannot be there."""
    modern = {(*place, "classic") for place in columns_in("MODERN_TABLES.group_type")}
    impossible = {*modern, ("assignment_whatif", "group_protocol", "streams")}
    for places, words in enumerations().values():
        for table, column in places:
            yield from ((table, column, word) for key, word in words.items() if (table, column, key) not in impossible)


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def value_rows() -> str:
    """What is none is an empty text until it is read: NULL alone has no type that every engine knows."""
    lines = []
    for table, column, (value, _, meaning) in rows():
        of_proposal = PROPOSAL_STATES.get((column, value), "") if table == "group_state_intervals" else ""
        cells = (table, column, value, meaning, of_proposal)
        lines.append(f"  ({', '.join(map(literal, cells))})")
    return ",\n".join(lines)
