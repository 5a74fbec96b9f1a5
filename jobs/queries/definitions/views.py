"""Views in the dialect of each engine, and the tables that a text can name."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from jobs.queries.definitions.dialects import Dialect, comments, text_literal
from schemas.tables import FUNCTIONS, SCALAR_FUNCTIONS, USER_TABLES
from schemas.views import VIEWS, View

# What can name tables by other means than by writing them out. `query` without an argument is a column of `findings`.
NAMES_ANY = re.compile(
    r"\b(show|execute|information_schema|(duckdb|pragma|pg|sqlite)_\w+)\b|\b(identifier|query|query_table)\b[\"`]?\s*\("
)
# Comments and texts, where the word `show` is a word; names in quotes stay.
SAID = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|(\"[^\"]*\"|`[^`]*`)", flags=re.DOTALL)
# Texts that end elsewhere than at the next quote.
OTHER_QUOTES = ("$", "\\")


def view_definitions(dialect: Dialect) -> Iterator[str]:
    """Statements that create every view, each after those it reads."""
    yield (
        f"-- Views of groupscope for {dialect}. Give the tables their names first: groupscope sql --print-tables "
        f"{dialect}"
    )
    for view in VIEWS.values():
        yield f"\n-- {view.name} reads {', '.join(view.reads) or 'no table'}."
        for statement in DEFINITIONS[dialect](view):
            yield f"{statement};"


def spark_view(view: View) -> list[str]:
    columns = ",\n".join(f"  {column.name} COMMENT {text_literal(column.comment)}" for column in view.columns)
    comment = f"COMMENT {text_literal(view.comment)}"
    return [f"CREATE OR REPLACE VIEW {view.name} (\n{columns}\n) {comment} AS\n{view.sql.rstrip()}"]


def trino_view(view: View) -> list[str]:
    # Not every catalog of Trino keeps comments on the columns of views.
    comment = f"COMMENT {text_literal(view.comment)} SECURITY INVOKER"
    return [f"CREATE OR REPLACE VIEW {view.name} {comment} AS\n{view.sql.rstrip()}"]


def duckdb_view(view: View) -> list[str]:
    definition = f"CREATE OR REPLACE VIEW {view.name} AS\n{view.sql.rstrip()}"
    return [definition, *comments(view.name, view.comment, view.columns)]


DEFINITIONS: dict[Dialect, Callable[[View], list[str]]] = {
    Dialect.SPARK: spark_view,
    Dialect.TRINO: trino_view,
    Dialect.DUCKDB: duckdb_view,
}


class NamesUsed(NamedTuple):
    tables: list[str]
    views: list[str]
    functions: list[str]
    # Of a row, for any rows.
    scalar_functions: list[str]


def named_in(texts: Iterable[str]) -> NamesUsed:
    """What the statements may name, with the tables that views and functions read; rather too much than too little."""
    text = "\n".join(texts).lower()
    words = set(re.findall(r"\w+", text))
    if NAMES_ANY.search(without_texts(text)):
        return NamesUsed(list(USER_TABLES), list(VIEWS), list(FUNCTIONS), list(SCALAR_FUNCTIONS))
    views = with_read(words & VIEWS.keys())
    functions = words & FUNCTIONS.keys()
    tables = words.union(*(VIEWS[name].reads for name in views), (FUNCTIONS[name].reads for name in functions))
    return NamesUsed(*([name for name in known if name in named] for known, named in (
        (USER_TABLES, tables), (VIEWS, views), (FUNCTIONS, functions), (SCALAR_FUNCTIONS, words))))  # fmt: skip


def without_texts(text: str) -> str:
    if any(mark in text for mark in OTHER_QUOTES):
        return text
    return SAID.sub(lambda match: match[1] or " ", text)


def with_read(names: set[str]) -> set[str]:
    """The views and those that they read."""
    inner = {name for view in names for name in VIEWS[view].reads if name in VIEWS}
    return names if inner <= names else with_read(names | inner)
