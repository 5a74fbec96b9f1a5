"""SQL text cut into statements, and statements that only read distinguished from those that write."""

import pytest

from jobs.output.failure import Failure
from jobs.queries.statements import check_reading, statements_of
from schemas.words.exit_codes import ExitCode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;\n SELECT 2 ;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';', \";\", `;`; SELECT 2", ["SELECT ';', \";\", `;`", "SELECT 2"]),
        (r"SELECT '\';', r'\'; SELECT 2", [r"SELECT '\';', r'\'", "SELECT 2"]),
        ("SELECT 'it''s;'; SELECT 2", ["SELECT 'it''s;'", "SELECT 2"]),
        ("-- one; two\nSELECT 1 /* a; b */; -- end;", ["-- one; two\nSELECT 1 /* a; b */"]),
        ("SELECT 1 - -1; SELECT 2 / 3", ["SELECT 1 - -1", "SELECT 2 / 3"]),
        (" ; ;\n", []),
        ("/* never closed; SELECT 1", []),
    ],
)
def test_statements_end_at_semicolons_outside_of_quotes_and_comments(text, expected):
    assert [statement.text for statement in statements_of(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "select 1",
        "-- DROP TABLE x\nSELECT 1",
        "(SELECT 1) UNION (SELECT 2)",
        "WITH a AS (SELECT 1 AS x), b AS (SELECT 2) SELECT * FROM a",
        "WITH a AS (SELECT 1) (SELECT * FROM a)",
        "VALUES (1), (2)",
        "SHOW TABLES",
        "desc runs",
        "DESCRIBE HISTORY runs",
        "EXPLAIN SELECT 1",
        "SELECT 'DROP TABLE x', `delete` FROM t",
    ],
)
def test_what_reads_is_let_through(text):
    (statement,) = statements_of(text)
    check_reading(statement)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("DROP TABLE runs", "DROP"),
        ("/* SELECT */ delete from runs", "DELETE"),
        ("INSERT INTO runs SELECT 1", "INSERT"),
        ("WITH a AS (SELECT 1) INSERT INTO runs SELECT * FROM a", "INSERT"),
        ("WITH a AS (SELECT 1) FROM a INSERT INTO runs SELECT *", "FROM"),
        ("FROM a INSERT INTO runs SELECT *", "FROM"),
        ("CREATE TEMPORARY VIEW a AS SELECT 1", "CREATE"),
        ("SET x = 1", "SET"),
        ("OPTIMIZE runs", "OPTIMIZE"),
        ("'SELECT'", "'SELECT'"),
    ],
)
def test_what_may_write_is_refused_by_its_name(text, word):
    (statement,) = statements_of(text)
    with pytest.raises(Failure, match=f"{word}: only reads") as failure:
        check_reading(statement)
    assert failure.value.code == ExitCode.USAGE
