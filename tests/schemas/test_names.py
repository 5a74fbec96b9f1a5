"""Every table, column, view, function and word that code names is declared."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from jobs.gating.declarations.finding_files import finding_files
from jobs.gating.declarations.metric_files import metric_files
from schemas.sql_files import declared
from schemas.tables import DECLARED, FUNCTIONS, SCALAR_FUNCTIONS, SUBJECTS, TABLES, USER_TABLES
from schemas.views import VIEWS
from schemas.words import enumerations

ROOT = Path(__file__).parents[2]
KNOWN = {
    "TABLES": TABLES, "USER_TABLES": USER_TABLES, "DECLARED": DECLARED, "SUBJECTS": SUBJECTS, "VIEWS": VIEWS,
    "FUNCTIONS": FUNCTIONS, "SCALAR_FUNCTIONS": SCALAR_FUNCTIONS,
}  # fmt: skip
PYTHON = [path for layer in ("schemas", "udfs", "jobs") for path in sorted((ROOT / layer).rglob("*.py"))]
NAMED = re.compile(r"\b(?:FROM|JOIN)\s+([a-z]\w*)")
GIVEN = re.compile(r"\b([a-z]\w*)\s*(?:\([^()]*\))?\s+AS\s+(?:NOT MATERIALIZED\s+)?\(")
COMPARED = re.compile(r"\b(\w+)\s*(?:=|<>|NOT IN|IN|WHEN)\s*(\(?'(?:[^']|'')*'(?:,\s*'(?:[^']|'')*')*)")
TEXT = re.compile(r"'((?:[^']|'')*)'")
RESULT = re.compile(r"(?:\bTHEN|\bELSE|\bSELECT|,|\{\w+|\{\w+ [^{}']*,)\s*'((?:[^']|'')*)'(?!\s*,\s*'|\s*\))")


@cache
def words():
    """By column: each value that it has in some table."""
    values = defaultdict(set)
    for _, column, value in enumerations.rows():
        values[column.rpartition(".")[2]].add(value.value)
    return values


def named_in(tree, constants):
    """What is looked up in a registry by a name that is written there, and columns of tables by name."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(id=registry), slice=ast.Constant(value=str(name))) if registry in KNOWN:
                yield node.lineno, name, KNOWN[registry]
            case ast.Call(func=ast.Attribute(value=of, attr="column"), args=[ast.Constant(value=str(name))]):
                yield node.lineno, name, columns_of(of, constants)
            case ast.Call(func=ast.Name(id="part"), args=[ast.Constant(value=str(name)), *_]):
                yield node.lineno, name, declared()[0]


def columns_of(node, constants):
    """Of a table that is written there, or a constant of the module; None: it cannot be told."""
    node = constants.get(node.id, node) if isinstance(node, ast.Name) else node
    match node:
        case ast.Subscript(value=ast.Name(id="TABLES" | "DECLARED"), slice=ast.Constant(value=str(name))):
            return {column.name for column in DECLARED[name].columns}
    return None


def statements():
    """All SQL of the project with its parts, by what it is of."""
    yield from ((f"view {view.name}", view.sql) for view in VIEWS.values())
    yield from ((f"finding {each.kind.value}", each.sql) for each in finding_files())
    yield from ((f"metrics {name}", each.sql) for name, each in metric_files(None).items())
    for path in sorted((ROOT / "jobs/reporting/sql").rglob("*.sql")):
        yield f"report {path.stem}", path.read_text(encoding="utf-8")


def test_what_code_looks_up_by_name_is_declared():
    unknown, number = [], 0
    for path in PYTHON:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value
            for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
            if isinstance(target, ast.Name)
        }  # fmt: skip
        for line, name, known in named_in(tree, constants):
            number += known is not None
            if known is not None and name not in known:
                unknown.append(f"{path.relative_to(ROOT)}:{line} names {name}")
    assert not unknown and number > 50


@pytest.mark.parametrize(("of", "sql"), [pytest.param(*each, id=each[0]) for each in statements()])
def test_sql_names_tables_and_words_that_are_declared(of, sql):
    text = re.sub(r"--[^\n]*|EXTRACT\(\w+ FROM", "", sql)
    made_before = (
        {path.stem for path in (ROOT / "jobs/reporting/sql/made").iterdir()} if of.startswith("report") else set()
    )
    assert {*NAMED.findall(text)} - {*GIVEN.findall(text)} <= {*TABLES, *VIEWS, *made_before}
    made = {*RESULT.findall(text)}
    for column, listed in COMPARED.findall(text):
        if column in words():
            assert {*TEXT.findall(listed)} <= words()[column] | made, column


def test_a_name_that_is_not_declared_is_found():
    code = (
        'A = TABLES["runs"]\nA.column("runid")\nVIEWS["v_nothing"]\npart("totl", "x")\nA.column("run_id")\nB.column(1)'
    )
    tree = ast.parse(code)
    found = named_in(tree, {"A": tree.body[0].value})
    assert [name for _, name, known in found if name not in known] == ["runid", "v_nothing", "totl"]
    assert COMPARED.findall("own_verdict IN ('STOP', 'STALL') AND kind <> 'x'") == [
        ("own_verdict", "('STOP', 'STALL'"), ("kind", "'x'")
    ]  # fmt: skip
