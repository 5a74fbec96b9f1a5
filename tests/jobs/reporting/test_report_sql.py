"""The SQL that the report shows gives the same rows by DuckDB and by Spark."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jobs.command_line.values import GroupChoice
from jobs.output.rows import Format, row_lines
from jobs.queries.results import QueryResult
from jobs.reporting.report import report_of
from jobs.reporting.rows.questions import group_statements, overview_statements, row_statements
from jobs.warehouses.any_warehouse import reading
from tests.oracles.pages.parsed_pages import Element, parsed
from tests.runs.both_engines import Both, both_engines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CLUSTER = "sample"
OF_CLUSTER = overview_statements(CLUSTER) | {f"rows of {name}": text for name, text in row_statements(CLUSTER).items()}
# Asked of all groups at once below; the page shows them of one group each.
OF_GROUPS = list(group_statements(CLUSTER, ()))


@pytest.fixture(scope="module")
def both(audited_sample: Path, spark: "SparkSession") -> Iterator[Both]:
    with both_engines(audited_sample, spark, ["SHOW TABLES"]) as answers:
        yield answers


@pytest.fixture(scope="module")
def page(audited_sample: Path) -> Element:
    with report_of(reading(str(audited_sample)), CLUSTER, GroupChoice()) as report:
        return parsed(report.index)


@pytest.fixture(scope="module")
def groups(page: Element) -> list[str]:
    """Those that are gone too."""
    return [part.one("h3").words for part in page.all("section", class_="group")]


def lines(answer: QueryResult) -> list[str]:
    """Sums of fractions differ in their last digits by the order in which they are added."""
    names, rows = answer
    result = [[round(value, 9) if isinstance(value, float) else value for value in row] for row in rows]
    return [json.dumps(json.loads(line), sort_keys=True) for line in row_lines(list(names), result, Format.JSON)]


def assert_same(both: Both, statement: str) -> int:
    ours, theirs = (both[name](statement) for name in ("duckdb", "spark"))
    assert list(ours.names) == list(theirs.names)
    is_ordered = "ORDER BY" in statement
    result, expected = (each if is_ordered else sorted(each) for each in (lines(ours), lines(theirs)))
    assert result == expected
    return len(result)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", OF_CLUSTER)
def test_what_is_asked_about_the_cluster_gives_the_same_rows(name: str, both: Both) -> None:
    number = assert_same(both, OF_CLUSTER[name])
    # Nothing of the sample is rejected or damaged, and its one gate run looked at all of it; it has no marks.
    assert number > 0 or name in ("rows of rejected", "rows of damaged", "narrowed", "marks")


@pytest.mark.drawn(3)
@pytest.mark.parametrize("share", [1, 40])
@pytest.mark.parametrize("name", OF_GROUPS)
def test_what_is_asked_about_groups_gives_the_same_rows_also_where_some_are_left_out(
    name: str, share: int, groups: list[str], both: Both
) -> None:
    assert assert_same(both, group_statements(CLUSTER, groups, share)[name]) > 0


def test_what_lists_the_rows_of_a_finding_gives_the_same_rows(page: Element, both: Both) -> None:
    """One of each kind: the others differ by names alone."""
    by_kind = {each.one("code", class_="kind").words: each for each in page.all("li", class_="finding")}
    assert len(by_kind) > 5
    for finding in by_kind.values():
        assert assert_same(both, finding.all("code")[-1].text) > 0


def test_the_page_shows_no_other_sql(page: Element, groups: list[str]) -> None:
    known = {*overview_statements(CLUSTER).values()}
    known |= {text for group in groups for text in group_statements(CLUSTER, [group]).values()}
    shown = [pre.text for each in page.all("details", class_="sql") for pre in each.all("pre")]
    assert len(shown) > 100
    assert {*shown} <= known
