"""What commits answered in one run counts in the next: how members went whose partitions nobody has yet, and what moves
cost of a rebalance that goes on."""

import json
from typing import Any, Final

import pytest

from tests.builders.groups.modern_log import CODES, GROUP, Log, about, completed, epoch, leaves, owns, target
from tests.builders.groups.named_rows import named_rows
from udfs.groups.fold import Fold
from udfs.groups.history.rows import RowsByTable
from udfs.groups.modern.state_json import with_answers
from udfs.groups.states.group import Context
from udfs.groups.states.modern import UnreadTimes

SESSION: Final = 45_000
# Of the tombstones of member a: types 8, 7, 5, and the group's epoch.
GONE: Final = 13


@pytest.fixture
def log() -> Log:
    log = Log()
    log.write(0, about("a"), epoch(2), target("a", 0), completed(2), owns("a", 2, 0))
    log.write(1_000, about("b"), epoch(3), target("b", 1), completed(3), owns("b", 3, 1))
    log.write(100_000, *leaves("a"), epoch(4))
    log.write(101_000, target("b", 0, 1), completed(4))
    log.write(102_000, owns("b", 4, 0, 1))
    return log


def run(log: Log, first: int, last: int | None, states: dict[str, str]) -> tuple[RowsByTable, dict[str, str]]:
    context = Context(CODES)
    fold = Fold(context, states)
    fold.take((GROUP, record) for record in log.records[first:last])
    return context.rows, dict(fold.finish(RowsByTable()))


def ends(rows: RowsByTable) -> dict[str, Any]:
    """When the only partition that moved was read last, in milliseconds."""
    (row,) = (row for row in named_rows(rows, "reading_ends") if row["stopped_time"] is not None)
    return {name: value // 1000 if name.endswith("_time") and value else value for name, value in row.items()}


@pytest.mark.parametrize(("is_silent", "first", "last"), [(True, 55_000, 70_000), (False, 0, 100_000)])
def test_how_a_member_went_is_known_to_the_run_in_which_its_partition_moves(
    log: Log, is_silent: bool, first: int, last: int
) -> None:
    _, states = run(log, 0, GONE + 1, {})
    answered = with_answers(states[GROUP], {("a", GONE): is_silent}, {})
    rows, _ = run(log, GONE + 1, None, {GROUP: answered})
    result = ends(rows)
    assert (result["stopped_time"], result["first_time"], result["last_time"]) == (100_000, first, last)
    assert result["silent_offset"] is None
    assert result["basis"] == (
        "session timeout 45.0 s assumed, heartbeat interval 15.0 s assumed" if is_silent else None
    )


@pytest.mark.parametrize(("is_silent", "verb"), [(True, "timed out"), (False, "left or timed out")])
def test_how_a_member_went_is_in_the_detail_of_the_rebalance_that_comes_later(
    log: Log, is_silent: bool, verb: str
) -> None:
    _, states = run(log, 0, GONE + 1, {})
    state = with_answers(states[GROUP], {("a", GONE): is_silent}, {})
    rows, _ = run(log, GONE + 1, None, {GROUP: state})
    details = [row["trigger_detail"] for row in named_rows(rows, "rebalances")]
    assert details[-1].endswith(verb) and details[-1].removesuffix(verb).endswith("1) ")


def test_in_one_run_both_are_kept_for_commits_to_choose(log: Log) -> None:
    rows, _ = run(log, 0, None, {})
    result = ends(rows)
    assert (result["first_time"], result["last_time"], result["silent_offset"]) == (0, 100_000, GONE)
    assert (result["silent_first_time"], result["silent_last_time"]) == (55_000, 70_000)


def test_what_moves_cost_adds_up_over_runs(log: Log) -> None:
    _, states = run(log, 0, GONE + 3, {})
    state = states[GROUP]
    (assignment,) = {json.loads(state)["now"]["rebalance"]["assignment_offset"]}
    for cost in (UnreadTimes(1, 20, 20), UnreadTimes(5, 10, 10)):
        state = with_answers(state, {}, {assignment: cost})
    rows, _ = run(log, GONE + 3, None, {GROUP: state})
    (row,) = (row for row in named_rows(rows, "rebalances") if row["assignment_offset"] == assignment)
    unread = (row["unread_partition_low_ms"], row["unread_partition_high_ms"], row["longest_unread_high_ms"])
    assert unread == (6, 30, 20)


def test_costs_of_another_rebalance_are_left_alone(log: Log) -> None:
    _, states = run(log, 0, GONE + 3, {})
    before, after = (
        json.loads(each)["now"] for each in (states[GROUP], with_answers(states[GROUP], {}, {-5: UnreadTimes(1, 2, 3)}))
    )
    assert after["rebalance"] == before["rebalance"]
