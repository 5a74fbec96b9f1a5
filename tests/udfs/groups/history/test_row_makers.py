"""Calls of the functions that make rows. Python checks the names of a call when it runs, and some run rarely."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.tables import READING_ENDS, SUBJECTS, TABLES
from tests.builders.groups.named_rows import named
from udfs.groups.history import row_makers
from udfs.groups.history.member_sets import MemberSets
from udfs.groups.history.reading_ends import ReadingEnd
from udfs.groups.history.rows import fields_of, row_maker

GROUPS = Path(row_makers.__file__).parents[1]
MADE = {table.name: table for table in (*SUBJECTS["history"], READING_ENDS)}
MAKERS = {name: maker for name, maker in vars(row_makers).items() if name.isupper() and callable(maker)}


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
    assert sorted(map(table_of, MAKERS)) == sorted(MADE)
    assert {name for _, name, _ in CALLS} == MAKERS.keys()


@pytest.mark.parametrize(("maker", "call"), [pytest.param(maker, call, id=at) for at, maker, call in CALLS])
def test_a_call_names_the_fields_of_its_table(maker: str, call: ast.Call) -> None:
    expected = inspect.getfullargspec(MAKERS[maker])
    named = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    has_others = len(named) < len(call.keywords)
    fields = set(expected.kwonlyargs)
    assert named < fields if has_others else named == fields
    assert len(call.args) == len(expected.args)


def test_a_column_has_what_is_the_same_in_all_rows_or_what_the_object_has_by_its_name() -> None:
    sets = MemberSets(added=frozenset({1}), kept=frozenset({2}))
    others = dict.fromkeys(inspect.getfullargspec(row_makers.GENERATION_MEMBER).kwonlyargs)
    row = named(row_makers.GENERATION_MEMBER(sets, **others))
    assert row == {**dict.fromkeys(fields_of(TABLES["generation_members"])), **sets._asdict(), "is_provisional": False,
                   "confidence": "certain"}  # fmt: skip


@pytest.mark.parametrize("constant", ["offset", "basis"])
def test_constants_that_are_no_fields_or_that_an_object_has_are_refused(constant: str) -> None:
    with pytest.raises(ValueError, match=rf"constants of rows of reading_ends: \['{constant}'\]"):
        row_maker(READING_ENDS, ReadingEnd, **{constant: None})
