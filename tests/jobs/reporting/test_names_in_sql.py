"""The SQL that a page shows finds the rows of any name, in each engine."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jobs.command_line.values import GroupChoice
from jobs.reporting.report import report_of
from jobs.warehouses.any_warehouse import reading
from tests.builders.warehouses.hostile_report import hostile_warehouse
from tests.oracles.pages.parsed_pages import parsed
from tests.runs.both_engines import both_engines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# To Spark a backslash is an escape and ${…} a variable; control characters are not shown as they are.
NAMES = [
    "a\\b'c", "a\\'b", "line\nbreak", "${user}", "a%5C+b\\", "100%", "pay\u202egnp\\u202e", "a\x00b\x85",
    "orders-🦊\u200d", "\\" * 3_000,
]  # fmt: skip


def test_sql_copied_from_the_page_finds_the_rows_of_its_group_in_both_engines(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    hostile_warehouse(tmp_path / "w", NAMES)
    with report_of(reading(str(tmp_path / "w")), "a", GroupChoice()) as report:
        page = parsed(report.index)
    copied = [pre.text for each in page.all("details", class_="sql") for pre in each.all("pre")]
    statements = [text for text in copied if "FROM group_state_intervals\n" in text and "group_id IN (" in text]
    assert len(statements) == len(NAMES)
    with both_engines(tmp_path / "w", spark, statements) as answers:
        for answer in answers.values():
            result = [row[list(columns).index("group_id")] for columns, rows in map(answer, statements) for row in rows]
            assert sorted(result) == sorted(NAMES)
