"""DuckDB and Spark give the same lines: of every table, view and function, and of all SQL that the pages show."""

import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pytest

from jobs.output.rows import Format, row_lines
from jobs.pages import run_pages
from jobs.queries.definitions.dialects import Dialect
from jobs.queries.definitions.tables import table_definitions
from jobs.queries.definitions.views import view_definitions
from jobs.queries.engines import spark_engine
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from jobs.queries.results import QueryResult
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.open_warehouse import reading
from schemas.tables import FUNCTIONS, USER_TABLES
from schemas.views import VIEWS
from tests.audited_sample import audited_sample
from tests.builders.warehouses.odd_values import ABSENT, EMPTY, odd_warehouse
from tests.docs.pages import statements
from tests.schemas.views.test_gate import GATE_VIEWS

pytestmark = [pytest.mark.spark, pytest.mark.drawn_parameter("place", 1)]

__all__ = ["audited_sample"]

ROOT = Path(__file__).parents[3]
QUERIES = (ROOT / "docs" / "queries.sql").read_text()
FOUND = [*QUERIES.split(";\n"), *statements(), *re.findall(r'"(SELECT .+?)"', Path(run_pages.__file__).read_text())]
# Several pages show the same.
SHOWN = list(dict.fromkeys(statement for each in FOUND if (statement := each.strip().rstrip(";"))))
INSTANTS = ("'2026-11-21T17:36:40'", "'2026-11-21T18:36:40+01:00'", "1795282600123", "now()", "NULL")
ASKED = {
    "owner_at": "'clicks', 2",
    "group_state_at": "'classic-killed'",
    "members_at": "'classic-killed'",
    "offset_at": "'classic-killed', 'clicks', 2",
    "lag_at": "'classic-killed'",
}
# The sample is one cluster.
EMPTY_IN_SAMPLE = {"v_replay_spans", "v_cluster_diff"}
# Its offsets partitions have epochs of no leader that another one follows.
EMPTY_IN_ODD = {"v_failovers"}
# Arguments and columns of one name, an alias that the function has too, a time of each row.
FOR_EACH_ROW = """
SELECT found.committed_offset, owner.member_id, owner.from_time
FROM offset_history AS found, LATERAL owner_at(topic, partition, from_time, cluster) AS owner
WHERE found.group_id = 'classic-killed'
"""
LAG_FOR_EACH_ROW = """
SELECT state.from_time, behind.snapshot_time, behind.topic, behind.partition, behind.lag_raw
FROM group_state_intervals AS state, LATERAL lag_at(group_id, from_time, cluster) AS behind
WHERE state.group_id = 'classic-killed'
"""

Both = dict[str, Callable[[str], QueryResult]]


class Place(NamedTuple):
    name: str
    root: Path


@pytest.fixture(scope="module", params=["sample", "odd"])
def place(request, tmp_path_factory):
    if request.param == "odd":
        return Place("odd", odd_warehouse(tmp_path_factory.mktemp("odd"), np.random.default_rng(47)).root.path)
    root = tmp_path_factory.mktemp("it's [x] é 100%") / "warehouse"
    shutil.copytree(request.getfixturevalue("audited_sample"), root)
    return Place("sample", root)


@pytest.fixture(scope="module")
def both(place, spark):
    """With everything in scope at once."""
    warehouse = reading(LocalPlace(place.root))
    with DuckDBEngine(str(place.root)).scope(["SHOW TABLES"]) as answer:
        spark_engine.bring_into_scope(spark, warehouse, warehouse.readable_versions(), ["SHOW TABLES"])
        yield {"duckdb": answer, "spark": partial(spark_engine.answer, spark)}
        spark_engine.forget(spark)


def lines(answer):
    """Without an order, as the entries of maps have none: Java hands them out by their hashes."""
    found = map(json.loads, row_lines(answer.names, answer.rows, Format.JSON))
    return sorted(json.dumps(row, sort_keys=True) for row in found)


def answers(both, statement):
    ours, theirs = (both[name](statement) for name in ("duckdb", "spark"))
    assert list(ours.names) == list(theirs.names)
    return QueryResult(ours.names, list(ours.rows)), QueryResult(theirs.names, list(theirs.rows))


def assert_same(both, statement):
    """How many rows both gave."""
    ours, theirs = answers(both, statement)
    assert lines(ours) == lines(theirs)
    return len(ours.rows)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("table", USER_TABLES)
def test_every_table_has_the_same_rows(both, place, table):
    number = assert_same(both, f"SELECT * FROM {table}")
    if place.name == "odd":
        assert (number == 0) == (table in ABSENT | EMPTY)


@pytest.mark.drawn(4)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_the_same_lines_in_the_same_order(both, place, view):
    ours, theirs = answers(both, f"SELECT * FROM {view}")
    empty = {*EMPTY_IN_SAMPLE, *GATE_VIEWS} if place.name == "sample" else EMPTY_IN_ODD
    assert ours.rows or view in empty
    for format in Format:
        assert list(row_lines(*ours, format)) == list(row_lines(*theirs, format))


@pytest.mark.drawn(1)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_gives_the_same_rows_at_any_instant(both, place, function):
    calls = [
        f"SELECT {number} AS call, * FROM {function}({ASKED[function]}, {instant}{cluster})"
        for number, instant in enumerate(INSTANTS)
        for cluster in ("", ", 'sample'", ", cluster => NULL")
    ]
    assert assert_same(both, " UNION ALL ".join(calls)) > 0 or place.name == "odd"


def test_a_function_takes_what_each_row_gives(both, place):
    for statement in (FOR_EACH_ROW, LAG_FOR_EACH_ROW):
        assert assert_same(both, statement) > 0 or place.name == "odd"


@pytest.mark.drawn(6)
@pytest.mark.parametrize("statement", SHOWN)
def test_what_the_pages_show_gives_the_same_rows(both, statement):
    """That of a run asks for its own findings, whichever run it is."""
    (run,) = both["duckdb"]("SELECT max(run_id) FROM findings").rows
    assert_same(both, re.sub(r"{.+?}", str(run[0]), statement))


def some_views(number, rng):
    """And those that they read."""
    chosen = {"v_decode_coverage", *rng.choice(list(VIEWS), number, replace=False).tolist()}
    for view in reversed(VIEWS.values()):
        if view.name in chosen:
            chosen |= {name for name in VIEWS if re.search(rf"\b{name}\b", view.sql)}
    return chosen


# Spark takes a second for each.
@pytest.mark.parametrize("number", [1, pytest.param(len(VIEWS), marks=pytest.mark.soak)])
def test_the_definitions_of_each_engine_give_the_same_rows_where_nothing_else_is(both, place, spark, number, rng):
    """In a bare DuckDB and in a database of Spark's own, from what is printed alone."""
    warehouse = reading(LocalPlace(place.root))
    texts = {
        dialect: "\n".join(
            [*table_definitions(dialect, warehouse, warehouse.readable_versions()), *view_definitions(dialect)]
        )
        for dialect in (Dialect.DUCKDB, Dialect.SPARK)
    }
    names = ("runs", "ownership_intervals", "topic_snapshots", "v_decode_coverage")
    expected = {name: lines(both["duckdb"](f"SELECT * FROM {name}")) for name in names}
    # What is kept in a database may not rest on what one session alone knows.
    spark_engine.forget(spark)
    bare = duckdb.connect()
    bare.execute(texts[Dialect.DUCKDB])
    spark.sql("CREATE DATABASE printed")
    spark.sql("USE printed")
    try:
        others = VIEWS.keys() - some_views(number, rng)
        for statement in texts[Dialect.SPARK].split(";\n"):
            created = re.search(r"^CREATE OR REPLACE VIEW (\w+)", statement, flags=re.MULTILINE)
            if statement.strip() and (created is None or created[1] not in others):
                spark.sql(statement.rstrip(";"))
        for name in names:
            result = bare.execute(f"SELECT * FROM {name}")
            columns = [column for column, *_ in result.description]
            assert lines(QueryResult(columns, result.fetchall())) == expected[name]
            frame = spark.sql(f"SELECT * FROM printed.{name}")
            assert lines(QueryResult(frame.columns, frame.collect())) == expected[name]
    finally:
        spark.sql("USE default")
        spark.sql("DROP DATABASE printed CASCADE")
        # For whatever test comes next.
        spark_engine.bring_into_scope(spark, warehouse, warehouse.readable_versions(), ["SHOW TABLES"])
