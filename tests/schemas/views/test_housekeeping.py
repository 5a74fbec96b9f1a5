"""Views of housekeeping over few rows, against answers reckoned by hand, in both engines."""

from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

from schemas.tables import TABLES
from schemas.views import VIEWS
from tests.builders.tables.history import Row
from tests.make.tables import filled
from tests.oracles.views.housekeeping_cases import CASES, Case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EMPTY = [Case(case.view, {}, []) for case in CASES]
BY_NAME = [pytest.param(case, id=case.view) for case in CASES]
EMPTY_BY_NAME = [pytest.param(case, id=f"{case.view}-empty") for case in EMPTY]


def tables_of(case: Case) -> dict[str, pa.Table]:
    assert case.rows.keys() <= set(VIEWS[case.view].reads)
    return {name: filled(TABLES[name], case.rows.get(name, [])) for name in VIEWS[case.view].reads}


def check(case: Case, table: pa.Table) -> None:
    rows: list[Row] = [dict(row) for row in table.to_pylist()]
    some = [{name: row[name] for name in want} for row, want in zip(rows, case.expected, strict=False)]
    assert some == case.expected
    assert len(rows) == len(case.expected)
    assert table.column_names == [column.name for column in VIEWS[case.view].columns]


@pytest.mark.parametrize("case", [*BY_NAME, *EMPTY_BY_NAME])
def test_duckdb_gives_what_is_reckoned_by_hand(case: Case) -> None:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for name, table in tables_of(case).items():
        connection.register(name, table)
    check(case, connection.sql(VIEWS[case.view].sql).to_arrow_table())


@pytest.mark.spark
@pytest.mark.drawn(10)
@pytest.mark.parametrize("case", [*BY_NAME, *EMPTY_BY_NAME])
def test_spark_gives_what_is_reckoned_by_hand(case: Case, spark: "SparkSession") -> None:
    for name, table in tables_of(case).items():
        spark.createDataFrame(table).createOrReplaceTempView(name)
    try:
        check(case, spark.sql(VIEWS[case.view].sql).toArrow())
    finally:
        for name in VIEWS[case.view].reads:
            spark.catalog.dropTempView(name)
