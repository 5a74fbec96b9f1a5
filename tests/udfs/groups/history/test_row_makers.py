"""Calls of the functions that make rows. Python checks the names of a call when it runs, and some run rarely."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.tables import history
from schemas.tables.state.replayed_log import READING_ENDS
from udfs.groups.history import row_makers
from udfs.groups.history.rows import fields_of

GROUPS = Path(row_makers.__file__).parents[1]
TABLES = {table.name: table for table in (*history.TABLES, READING_ENDS)}
MAKERS = {name: maker for name, maker in vars(row_makers).items() if name.isupper()}


def table_of(name: str) -> str:
    return MAKERS[name].__name__.removeprefix("row of ")


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Where each is, and the name of its maker."""
    for file in sorted(GROUPS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
                yield f"{file.relative_to(GROUPS)}:{node.lineno}", node.func.id, node


CALLS = list(calls())


def test_each_table_has_one_maker_which_is_called() -> None:
    assert sorted(map(table_of, MAKERS)) == sorted(TABLES)
    assert {name for _, name, _ in CALLS} == MAKERS.keys()


@pytest.mark.parametrize(("maker", "call"), [pytest.param(maker, call, id=at) for at, maker, call in CALLS])
def test_a_call_names_the_fields_of_its_table(maker: str, call: ast.Call) -> None:
    named = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    has_others = len(named) < len(call.keywords)
    fields = set(fields_of(TABLES[table_of(maker)]))
    assert named < fields if has_others else named == fields
