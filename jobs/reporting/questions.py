"""What the report asks of the tables. Each question is a file of plain SQL, which the page shows beside its answer."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from jobs.queries.answers import Answer
from jobs.queries.dialects import text_literal
from jobs.queries.duckdb_engine import scope_of
from jobs.reporting.listings import Row
from jobs.warehouses.warehouse import Warehouse

OVERVIEW, GROUPS = "overview", "groups"
# Newest rows of each group: more would make a drawing that nobody can read.
MOST_OF_GROUP: Mapping[str, int] = {
    "audits": 100,
    "generations": 240,
    "lag": 200,
    "members": 120,
    "moves": 240,
    "owners": 240,
    "rates": 200,
    "rebalances": 120,
    "resets": 60,
    "states": 200,
    "verdicts": 100,
}
PLACE = re.compile(r"\{(\w+)\}")
ENDING = ".sql"

Answers = dict[str, list[Row]]


@cache
def questions(folder: str) -> Mapping[str, str]:
    """By name; with places for the cluster and, about groups, for their names and how many rows each has."""
    found = (files("jobs.reporting") / "sql" / folder).iterdir()
    return {file.name.removesuffix(ENDING): file.read_text("utf-8") for file in found if file.name.endswith(ENDING)}


def overview_statements(cluster: str) -> dict[str, str]:
    return {name: filled(text, cluster) for name, text in questions(OVERVIEW).items()}


def group_statements(cluster: str, groups: Sequence[str]) -> dict[str, str]:
    return {name: filled(text, cluster, groups, MOST_OF_GROUP[name]) for name, text in questions(GROUPS).items()}


def filled(statement: str, cluster: str, groups: Sequence[str] = (), most: int = 0) -> str:
    """In one pass: a name that looks like a place is a name."""
    names = ", ".join(map(text_literal, groups)) or "NULL"
    values = {"cluster": text_literal(cluster), "groups": names, "most": str(most)}
    return PLACE.sub(lambda place: values[place[1]], statement).strip()


def ask(warehouse: Warehouse, statements: Mapping[str, str]) -> Answers:
    """The rows of each statement, by its name, all at the versions of the newest run. A table that is not there yet has
    no rows."""
    with scope_of(warehouse, list(statements.values())) as answer:
        return {name: rows_of(answer, text) for name, text in statements.items()}


def rows_of(answer: Callable[[str], Answer], statement: str) -> list[Row]:
    names, rows = answer(statement)
    return [dict(zip(names, row, strict=True)) for row in rows]
