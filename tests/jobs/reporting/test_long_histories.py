"""A month of groups, in a thousandth of the rows' places: no spike is lost, and what is exact says so."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.month_of_groups import CLUSTER, write_month
from jobs.queries.engines.duckdb_engine import session_of
from jobs.redacting.redaction import NoRedaction
from jobs.reporting import lanes
from jobs.reporting.questions import asking
from jobs.reporting.write_report import OF_LANES
from jobs.warehouses.any_warehouse import reading
from tests.oracles.pages.documents import Table, detail_of

BEGIN, END = 1_795_230_000_000, 1_795_230_000_000 + 30 * 86_400_000
DAY, QUARTER = 86_400_000, 15 * 60_000
Row = dict[str, Any]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("month") / "w"
    folder.mkdir()
    write_month(folder, 2)
    return folder


@pytest.fixture(scope="module")
def made(warehouse: Path) -> dict[str, lanes.Lanes]:
    """As among a thousand groups, where there is least room for each. The first has findings."""
    about = lanes.About(CLUSTER, NoRedaction(), (BEGIN, END), (), "warehouse", (50, 950))
    with asking(reading(str(warehouse)), CLUSTER, *OF_LANES) as session:
        return dict(lanes.lanes_of(session, about, ["group-0", "group-1"], frozenset(["group-0"])))


@pytest.fixture(scope="module")
def measured(warehouse: Path) -> Iterator[dict[str, list[Row]]]:
    """Every snapshot of each group, by SQL of its own."""
    with session_of(reading(str(warehouse)), ["SELECT 1 FROM lag_points"]) as session:
        yield {
            group: session.table(
                "SELECT epoch_ms(snapshot_time) AS at, CAST(sum(lag) AS BIGINT) AS lag, max(lag) AS high, "
                "min(lag) AS low, "
                f"list(lag ORDER BY partition) AS each FROM lag_points WHERE group_id = '{group}' GROUP BY 1 ORDER BY 1"
            ).to_pylist()
            for group in ("group-0", "group-1")
        }


def detail(made: dict[str, lanes.Lanes], group: str) -> dict[str, Any]:
    return detail_of({"details": {group: made[group].packed}}, group)


def stood_for(lane: Table, place: int, rows: list[Row]) -> list[Row]:
    return [row for row in rows if lane["since"][place] <= row["at"] <= lane["at"][place]]


@pytest.mark.parametrize("group", ["group-0", "group-1"])
def test_every_kept_row_has_the_lowest_the_highest_and_the_last_of_what_it_stands_for(
    group: str, made: dict[str, lanes.Lanes], measured: dict[str, list[Row]]
) -> None:
    lane, rows = detail(made, group)["lag"], measured[group]
    assert sum(lane["points"]) == len(rows) == 8_640
    at = 0
    for place, number in enumerate(lane["points"]):
        some = rows[at : at + number]
        at += number
        assert (lane["since"][place], lane["at"][place]) == (some[0]["at"], some[-1]["at"])
        assert lane["last"][place] == some[-1]["lag"]
        assert lane["least"][place] == min(row["lag"] for row in some)
        assert lane["most"][place] == max(row["lag"] for row in some)
        assert lane["low"][place] == min(row["low"] for row in some)
        assert lane["high"][place] == max(row["high"] for row in some)
    # One snapshot a day and partition has a spike: all are there, on the map too.
    assert max(lane["high"]) == max(row["high"] for row in rows) > 50_000
    lag, step = made[group].lag, (END - BEGIN + 1) / lanes.MAP_COLUMNS
    assert lag is not None and len(lag) == lanes.MAP_COLUMNS
    for place in range(1, lanes.MAP_COLUMNS - 1):
        inner = [
            row["lag"]
            for row in rows
            if BEGIN + place * step + 1_000 <= row["at"] <= BEGIN + (place + 1) * step - 1_000
        ]
        assert lag[place] >= max(inner)


def test_the_last_day_and_the_time_around_events_are_exact_as_far_as_there_is_room(
    made: dict[str, lanes.Lanes],
) -> None:
    for group, has_findings in (("group-0", True), ("group-1", False)):
        shown = detail(made, group)
        lane, exact, rebalances = shown["lag"], shown["exact"], shown["rebalances"]
        assert len(lane["at"]) < 1_200 + lanes.MOST_ROOM and len(rebalances["start"]) == 600
        assert exact == sorted(exact) and all(first < last for first, last in exact)
        for place, time in enumerate(lane["at"]):
            if any(first <= time <= last for first, last in exact):
                assert lane["points"][place] == 1
        newest = rebalances["start"][-1]
        assert any(first <= newest - QUARTER + 1 and min(newest + QUARTER - 1, END) <= last for first, last in exact)
        is_whole_day = any(first <= END - DAY and last >= END for first, last in exact)
        assert is_whole_day == has_findings


def test_partitions_have_their_own_lag_where_there_are_findings_and_where_it_was_highest(
    made: dict[str, lanes.Lanes], measured: dict[str, list[Row]]
) -> None:
    for group, number in (("group-0", 10), ("group-1", 1)):
        lane, rows = detail(made, group)["partition_lag"], measured[group]
        assert len(set(lane["partition"])) == number
        highest = [max(row["each"][partition] for row in rows) for partition in range(10)]
        for partition in set(lane["partition"]):
            own = [place for place, each in enumerate(lane["partition"]) if each == partition]
            assert max(lane["high"][place] for place in own) == highest[partition]
            assert sum(lane["points"][place] for place in own) == len(rows)
        assert max(lane["high"]) == max(highest)


def test_a_rebalance_of_seconds_is_on_the_map_of_a_month(made: dict[str, lanes.Lanes]) -> None:
    """Small: it took less than a tenth of the column's three hours; so did the time without a reader."""
    letters = made["group-1"].letters
    assert len(letters) == lanes.MAP_COLUMNS and {*letters[5:-1]} == {"r", "n"}
    # A partition of the other has stopped an hour before the end.
    assert made["group-0"].letters[-1].upper() == "N"


def test_a_group_among_a_thousand_has_no_more_bytes_than_its_share(made: dict[str, lanes.Lanes]) -> None:
    assert len(made["group-0"].packed) < 280_000
    assert len(made["group-1"].packed) < 100_000
