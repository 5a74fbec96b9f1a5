"""v_decode_coverage equals what a slow reading of the same rows gives; DuckDB runs it here, Spark in
tests/jobs/queries/test_engines.py."""

from datetime import timedelta
from typing import Any

import duckdb
import numpy as np
import pytest

from schemas.records import REGISTRY
from schemas.tables import TABLES
from schemas.views import VIEWS
from schemas.words.records import RejectReason
from tests.make.tables import NOW, filled
from tests.oracles.views.coverage import GROUPS, NAMES, coverage
from udfs.rows.column_sources import BY_RECORD_TYPE

VIEW = VIEWS["v_decode_coverage"]
COLUMNS, READS, SQL = VIEW.columns, VIEW.reads, VIEW.sql
Rows = dict[str, list[dict[str, Any]]]


def random_rows(rng: np.random.Generator, number: int) -> Rows:
    """Few kinds of everything, so that they meet; times of about two weeks, or none."""

    def one_of(*choices: Any) -> Any:
        return choices[rng.integers(len(choices))]

    result: Rows = {name: [] for name in READS}
    for _ in range(number):
        table = one_of(*READS)
        row = {
            "cluster": one_of("a", "b"),
            "offsets_partition": int(rng.integers(3)),
            "record_offset": int(rng.integers(1_000)),
            "record_time": one_of(None, NOW - timedelta(hours=int(rng.integers(400)))),
            "value_version": one_of(None, 0, 3),
            "group_type": one_of(*GROUPS),
            "marker": one_of("COMMIT", "ABORT"),
            "key_version": one_of(0, 1),
        }
        if table == "rejected_records":
            row |= {"record_type": one_of(None, 1, 9, 15, 99), "reason": one_of(*RejectReason).value}
            row |= one_of({}, {"offsets_partition": None}, {"record_offset": None})
            row |= {"num_records": int(one_of(1, 7))}
        result[table].append({name: row[name] for name in row if name in {c.name for c in TABLES[table].columns}})
    return result


def by_duckdb(rows: Rows) -> list[dict[str, Any]]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for name in READS:
        connection.register(name, filled(TABLES[name], rows.get(name, [])))
    return [dict(row) for row in connection.sql(SQL).to_arrow_table().to_pylist()]


@pytest.mark.parametrize("number", [0, 1, 30, 2_000])
def test_the_view_equals_a_slow_reading_of_the_same_rows(rng: np.random.Generator, number: int) -> None:
    rows = random_rows(rng, number)
    result = by_duckdb(rows)
    assert result == coverage(rows)
    assert all(list(row) == [column.name for column in COLUMNS] for row in result)


def test_every_table_of_decoded_records_is_in_the_view() -> None:
    """The slow reading has numbers and names of its own."""
    assert {number: record.name for number, record in REGISTRY.items()} == NAMES
    assert {sources.table.name for sources in BY_RECORD_TYPE.values()} <= {*READS}
