"""The SQL that a page shows gives the same rows by DuckDB and by Spark, and finds those of any name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jobs import cli
from jobs.output.rows import Format, row_lines
from jobs.queries.results import QueryResult
from jobs.reporting.overview import TITLES
from jobs.reporting.questions import GROUP, shown_statements
from tests.builders.warehouses.hostile_report import hostile_warehouse
from tests.oracles.pages.documents import detail_of, document_at, rows_of
from tests.runs.both_engines import Both, both_engines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SHOWN = shown_statements("sample", ("findings", *TITLES))
# To Spark a backslash is an escape and ${…} a variable; control characters are not shown as they are.
NAMES = [
    "a\\b'c", "a\\'b", "line\nbreak", "${user}", "a%5C+b\\", "100%", "pay\u202egnp\\u202e", "a\x00b\x85",
    "orders-🦊\u200d", "\\" * 3_000,
]  # fmt: skip


@pytest.fixture(scope="module")
def both(audited_sample: Path, spark: "SparkSession") -> Iterator[Both]:
    with both_engines(audited_sample, spark, ["SHOW TABLES"]) as answers:
        yield answers


@pytest.fixture(scope="module")
def document(audited_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("sql")
    assert cli.main(["report", "--warehouse", str(audited_sample), "--report", str(folder)]) == 0
    return document_at(folder / "index.html")


def lines(answer: QueryResult) -> list[str]:
    """Sums of fractions differ in their last digits by the order in which they are added."""
    names, rows = answer
    result = [[round(value, 9) if isinstance(value, float) else value for value in row] for row in rows]
    return sorted(json.dumps(json.loads(line), sort_keys=True) for line in row_lines(list(names), result, Format.JSON))


def assert_same(both: Both, statement: str) -> int:
    ours, theirs = (both[name](statement) for name in ("duckdb", "spark"))
    assert list(ours.names) == list(theirs.names)
    result = lines(ours)
    assert result == lines(theirs)
    return len(result)


def test_the_page_shows_these_and_no_others(document: dict[str, Any]) -> None:
    assert document["statements"] == SHOWN


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_gives_the_same_rows(name: str, both: Both) -> None:
    number = assert_same(both, SHOWN[name].replace(f"'{GROUP}'", "'ledger'"))
    # Nothing of the sample is rejected or damaged, and nobody reset this group.
    assert number > 0 or name in ("rejected", "damaged", "resets")


def test_what_lists_the_rows_of_a_finding_gives_the_same_rows(document: dict[str, Any], both: Both) -> None:
    """One of each kind: the others differ by names alone."""
    by_kind = {row["kind"]: row for row in rows_of(document["findings"])}
    assert len(by_kind) > 5
    for row in by_kind.values():
        assert assert_same(both, row["query"]) > 0


def test_sql_of_a_group_finds_its_rows_whatever_its_name(tmp_path: Path, spark: "SparkSession") -> None:
    hostile_warehouse(tmp_path / "w", NAMES)
    assert cli.main(["report", "--warehouse", str(tmp_path / "w"), "--report", str(tmp_path / "r")]) == 0
    document = document_at(tmp_path / "r" / "index.html")
    statement = document["statements"]["states"]
    names = [detail_of(document, group)["quoted"] for group in document["details"]]
    statements = [statement.replace(f"'{GROUP}'", name) for name in names]
    assert len(statements) == len(NAMES)
    with both_engines(tmp_path / "w", spark, statements) as answers:
        for answer in answers.values():
            result = [row[list(columns).index("group_id")] for columns, rows in map(answer, statements) for row in rows]
            assert sorted(result) == sorted(NAMES)
