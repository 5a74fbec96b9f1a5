"""Definitions of views in the words of three engines; DuckDB takes its own here, Spark its own in test_sql.py."""

import re

import duckdb
import pytest

from jobs.queries.definitions.column_types import duckdb_type
from jobs.queries.definitions.dialects import Dialect
from jobs.queries.definitions.views import named_in, view_definitions
from schemas.tables import USER_TABLES
from schemas.views import VIEWS
from udfs.arrays.arrow_schema import table_schema


@pytest.fixture
def duck():
    """With every table, empty."""
    connection = duckdb.connect()
    for name, table in USER_TABLES.items():
        connection.register("arrow", table_schema(table).empty_table())
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow")
    return connection


def test_duckdb_takes_its_definitions_with_the_columns_types_and_comments_declared(duck):
    duck.execute("\n".join(view_definitions(Dialect.DUCKDB)))
    for view in VIEWS.values():
        rows = duck.execute(
            f"SELECT column_name, data_type, comment FROM duckdb_columns() WHERE table_name = '{view.name}'"
        ).fetchall()
        # It quotes names of fields only where it must.
        declared = [(column.name, duckdb_type(column.type).replace('"', ""), column.comment) for column in view.columns]
        assert rows == declared


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.name)
def test_a_view_reads_what_it_declares(view):
    words = set(re.findall(r"\w+", re.sub("'[^']*'", "", view.sql)))
    assert set(view.reads) == words & (USER_TABLES.keys() | VIEWS.keys())


@pytest.mark.parametrize("dialect", Dialect)
def test_every_view_is_defined_once_in_every_dialect(dialect):
    text = "\n".join(view_definitions(dialect))
    assert re.findall(r"^CREATE OR REPLACE VIEW (\w+)", text, flags=re.MULTILINE) == list(VIEWS)
    assert all(view.sql.strip() in text for view in VIEWS.values())


@pytest.mark.parametrize(
    ("text", "tables", "views"),
    [
        ("SELECT 1", [], []),
        ("select * from Offset_Commits o", ["offset_commits"], []),
        ("SELECT * FROM `runs`, x.source_files", ["source_files", "runs"], []),
        ("SELECT * FROM IDENTIFIER('runs')", list(USER_TABLES), list(VIEWS)),
        ("SELECT * FROM replayed_groups, recomputed_partitions", [], []),
        ("SHOW TABLES", list(USER_TABLES), list(VIEWS)),
        ("SELECT message, query FROM findings", ["findings"], []),
        ("SELECT (query) FROM findings", ["findings"], []),
        ("-- it's what snapshots show\nSELECT 'they ''show'' it' /* execute */ FROM runs", ["runs"], []),
        ("-- it's all\nFROM (SHOW TABLES)", list(USER_TABLES), list(VIEWS)),
        ("SELECT \"it's\", 1 FROM runs; SHOW TABLES; SELECT 'x'", list(USER_TABLES), list(VIEWS)),
        ("SELECT $$it's$$; SHOW TABLES; SELECT ''", list(USER_TABLES), list(VIEWS)),
        ("SELECT 'it\\'s'; SHOW TABLES; SELECT ''", list(USER_TABLES), list(VIEWS)),
        ("FROM \"query\" ('FROM ' || 'runs')", list(USER_TABLES), list(VIEWS)),
        (
            "SELECT * FROM v_decode_coverage",
            [name for name in USER_TABLES if name in VIEWS["v_decode_coverage"].reads],
            ["v_decode_coverage"],
        ),
    ],
)
def test_a_text_names_tables_and_those_that_its_views_read(text, tables, views):
    result = named_in([text])
    assert (sorted(result[0]), result[1]) == (sorted(tables), views)
