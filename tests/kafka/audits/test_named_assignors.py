"""A real broker whose `uniform` is a class of the operator: groups to which it never gives what Kafka's class gives are
not recomputed; where it does so but once, that target is a drift."""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from tests.kafka.live_broker import KeptLog
from tests.kafka.named_assignors import named_assignors_of
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import ASSIGNMENTS, assert_same, growing, recompute, row_texts, write_part

pytestmark = pytest.mark.broker

Row = dict[str, Any]
ASSIGNORS: Final = "group.consumer.assignors"
BY_TURNS: Final = ("turns-asked", "turns-also-asked", "turns-default")
SWAPPED: Final = ("swapped-asked", "swapped-default")
NORMAL: Final = ("normal-few", "normal-many")


@pytest.fixture(scope="module")
def named() -> KeptLog:
    return named_assignors_of()


@pytest.fixture(scope="module")
def silent(named: KeptLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Snapshots of a broker with the default setting: nothing but targets shows the class."""
    lines = [json.loads(line) for line in named.snapshots.read_text().splitlines()]
    assert {line["settings"][ASSIGNORS] for line in lines} == {"NamedUniform,range"}
    path = tmp_path_factory.mktemp("silent") / "snapshots.jsonl"
    # Just before the others, since of one time there can be only one.
    lines = [
        each | {"captured_at": each["captured_at"] - 1, "settings": {ASSIGNORS: "uniform,range"}} for each in lines
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


@pytest.fixture(scope="module")
def whole(named: KeptLog, silent: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = tmp_path_factory.mktemp("whole") / "w"
    ingest(warehouse, "--source", f"segments:{named.log_dir}", "--snapshots", silent)
    recompute(warehouse)
    return warehouse


def by_group(warehouse: Path) -> dict[str, list[Row]]:
    of: dict[str, list[Row]] = {}
    for row in sorted(rows(warehouse, "assignment_audit"), key=lambda row: row["assignment_offset"]):
        of.setdefault(row["group_id"], []).append(row)
    assert of.keys() == {*BY_TURNS, *SWAPPED, *NORMAL}
    return of


def assert_not_recomputed(of_group: list[Row]) -> None:
    """But for that of the first member, who has everything by any assignor."""
    alone, *others = of_group
    assert alone["verdict"] == "same"
    assert len(others) >= 3
    assert {(row["verdict"], row["reason"]) for row in others} == {("not_recomputable", "custom_assignor")}
    assert {row["num_unowned"] for row in others} == {0}


def said(of_group: list[Row]) -> list[tuple[str, str, int]]:
    return [(row["verdict"], row["confidence"], row["num_different"]) for row in of_group]


def test_what_the_class_assigns_shows_that_it_is_not_kafkas(whole: Path) -> None:
    groups = by_group(whole)
    for group in BY_TURNS:
        assert_not_recomputed(groups[group])
    for group in SWAPPED:
        assert {*said(groups[group])} == {("same", "certain", 0), ("drift", "certain", 2)}
        assert len([row for row in groups[group] if row["verdict"] == "drift"]) == 1
    for group in NORMAL:
        assert {*said(groups[group])} == {("same", "certain", 0)}


def test_targets_that_come_later_judge_earlier_rows_anew(
    named: KeptLog, silent: Path, whole: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    for share in growing(named.log_dir, rng, 3):
        write_part(named.log_dir, tmp_path / "log", share)
        ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}", "--snapshots", silent)
        recompute(tmp_path / "w")
    assert_same(row_texts(whole, ASSIGNMENTS), row_texts(tmp_path / "w", ASSIGNMENTS), "grown")


@pytest.mark.in_order
def test_the_setting_that_names_the_class_makes_drifts_less_certain(named: KeptLog, whole: Path) -> None:
    """It comes with a later snapshot. The members that ask for no assignor get the first of its list."""
    ingest(whole, "--source", f"segments:{named.log_dir}", "--snapshots", named.snapshots)
    recompute(whole)
    groups = by_group(whole)
    for group in BY_TURNS:
        assert_not_recomputed(groups[group])
        assert {row["assignor"] for row in groups[group][1:]} == {None if group == "turns-default" else "uniform"}
    assert {*said(groups["swapped-asked"])} == {("same", "certain", 0), ("drift", "likely", 2)}
    assert {*said(groups["swapped-default"])} == {("same", "likely", 0), ("drift", "possible", 2)}
    for group in NORMAL:
        assert {*said(groups[group])} == {("same", "certain", 0)}
