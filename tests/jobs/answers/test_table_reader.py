"""Rows by conditions; files that cannot hold any are never opened."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.answers.table_reader import Condition, TableReader, equal, one_of
from jobs.warehouses.warehouse import Warehouse
from tests.builders.tables.history import at, interval
from tests.make.tables import make

TABLE = "ownership_intervals"
COLUMNS = ["group_id", "topic", "partition", "from_time", "to_time", "is_provisional", "member_id"]


def random_rows(rng: np.random.Generator, groups: list[str]) -> list[dict[str, Any]]:
    def one() -> dict[str, Any]:
        begin = int(rng.integers(50))
        end = None if rng.integers(3) == 0 else begin + int(rng.integers(1, 50))
        row = {**interval(begin, end, begin), "group_id": groups[rng.integers(len(groups))], "member_id": "m"}
        topic = [None, "orders", "größe"][rng.integers(3)]
        lost = {} if rng.integers(5) else {"from_time": None, "to_time": None}
        return {**row, "topic": topic, "partition": int(rng.integers(3)), **lost}

    return [one() for _ in range(200)]


def questions() -> list[tuple[Condition, ...]]:
    instant = at(30)
    alive = (Condition("from_time", "<=", instant, or_null=True), Condition("to_time", ">", instant, or_null=True))
    return [
        (),
        (equal("cluster", "a"), equal("group_id", "b")),
        (equal("group_id", "nobody"),),
        (equal("topic", "größe"), equal("partition", 2), *alive),
        (equal("cluster", "a"), Condition("from_time", "<=", instant)),
        (equal("cluster", "a"), Condition("from_time", ">", instant - timedelta(microseconds=1))),
        (equal("from_time", instant), one_of("group_id", {"b", "dd", "nobody"})),
        (Condition("from_time", ">", at(48)), one_of("group_id", ["a", "c"])),
        (Condition("from_time", "<=", at(0)),),
    ]


def holds(row: dict[str, Any], condition: Condition) -> bool:
    value = row[condition.column]
    if value is None:
        return condition.or_null
    if condition.operator == "in":
        return value in condition.value
    return {"=": value == condition.value, "<=": value <= condition.value, ">": value > condition.value}[
        condition.operator
    ]


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr([str(row[name]) for name in COLUMNS]) for row in rows)


@pytest.fixture
def written(tmp_path: Path, rng: np.random.Generator) -> tuple[Warehouse, list[dict[str, Any]]]:
    """Two runs, of which each knows other groups."""
    runs = [random_rows(rng, groups) for groups in (["a", "b"], ["c", "dd"])]
    return make(tmp_path / "warehouse", *({TABLE: rows} for rows in runs)), [row for rows in runs for row in rows]


def expected(rows: list[dict[str, Any]], conditions: tuple[Condition, ...]) -> list[str]:
    given = ({"cluster": "a", **row} for row in rows)
    return in_order([row for row in given if all(holds(row, condition) for condition in conditions)])


@pytest.mark.parametrize("conditions", questions(), ids=str)
def test_rows_of_files_are_those_that_meet_every_condition(
    written: tuple[Warehouse, list[dict[str, Any]]], conditions: tuple[Condition, ...]
) -> None:
    warehouse, rows = written
    reader = TableReader(warehouse, warehouse.versions())
    assert in_order(reader.rows(TABLE, COLUMNS, *conditions)) == expected(rows, conditions)


def test_files_of_other_groups_are_left_alone(written: tuple[Warehouse, list[dict[str, Any]]]) -> None:
    warehouse, rows = written
    reader = TableReader(warehouse, warehouse.versions())
    needed = set(reader.files(TABLE, [equal("group_id", "b")]))
    others = set(reader.files(TABLE, [])) - needed
    assert (len(needed), len(others)) == (2, 2)
    for path in others:
        path.delete()
    of_b = (equal("group_id", "b"),)
    assert in_order(reader.rows(TABLE, COLUMNS, *of_b)) == expected(rows, of_b)


def test_bytes_that_are_no_utf_8_are_no_group_whatever_names_the_files_hold(tmp_path: Path) -> None:
    # As Python gives them: greater than "a", less than the last, so that no bounds of files leave them out.
    asked = b"\xff\xfe".decode(errors="surrogateescape")
    names = ["", "a", "\U0010ffff"]
    made = make(tmp_path / "warehouse", {TABLE: [{**interval(0, None, 1), "group_id": name} for name in names]})
    reader = TableReader(made, made.versions())
    assert reader.rows(TABLE, COLUMNS, equal("group_id", asked)) == []
    assert [reader.rows(TABLE, ["group_id"], equal("group_id", name)) for name in names] == [
        [{"group_id": name}] for name in names
    ]


def test_a_table_that_is_not_there_yet_has_no_rows(tmp_path: Path) -> None:
    reader = TableReader(make(tmp_path / "warehouse"), {})
    assert reader.rows(TABLE, COLUMNS, equal("group_id", "b")) == []
