"""Commits that other coordinators restore differently, each by hand."""

import pytest

from tests.builders.groups.offset_logs import (
    Row,
    commit,
    deletion,
    marker,
    of_transaction,
)
from tests.runs.commit_replays import Run, older_rules


@pytest.mark.parametrize(
    "log",
    [
        pytest.param((of_transaction(2), deletion(3), marker(4, kind="ABORT")), id="aborted"),
        pytest.param((of_transaction(2), deletion(3)), id="open"),
        pytest.param((deletion(1), of_transaction(2), marker(4)), id="deleted before"),
        pytest.param((of_transaction(2), deletion(3), commit(4, committed_offset=2), marker(5)), id="committed again"),
        pytest.param((of_transaction(2), deletion(3), of_transaction(4), marker(5)), id="again by the transaction"),
        pytest.param((of_transaction(2), deletion(3, partition=1), marker(4)), id="another partition"),
    ],
)
def test_where_older_coordinators_load_the_same_no_rule_is_named(log: tuple[Row, ...]) -> None:
    assert older_rules(Run(*log)) == []


OVERTAKEN = (
    pytest.param((of_transaction(2), commit(3), marker(9)), id="by a plain commit"),
    pytest.param((of_transaction(2, 7), of_transaction(3, 8), marker(4, 8), marker(9, 7)), id="by a transaction"),
    pytest.param((of_transaction(2), deletion(4), commit(5, committed_offset=3), marker(9)), id="after a deletion"),
    pytest.param((of_transaction(1), of_transaction(2), commit(3), marker(9)), id="one of two of its transaction"),
)


@pytest.mark.parametrize("log", OVERTAKEN)
def test_the_preview_of_3_7_goes_by_the_order_of_markers_and_every_offset_that_differs_is_named(
    log: tuple[Row, ...],
) -> None:
    run = Run(*log)
    assert run.select("committed_offset")[-1] == (3,)
    assert older_rules(run) == [("a", "info", 2, 9)]
    (row,) = run.tables["replay_anomalies"]
    assert row["message"].startswith("t-0: offset 2 of record 2 was pending in a transaction until after record ")
    assert row["message"].endswith("(early access) restores 2; all others keep 3")
    for cut in range(1, len(log)):
        state = Run(*log[:cut]).state
        assert Run(*log[cut:], state=state).tables["replay_anomalies"] == [row]


@pytest.mark.parametrize(
    "log",
    [
        pytest.param((of_transaction(2), commit(3, committed_offset=2), marker(4)), id="equal"),
        pytest.param((of_transaction(2), commit(3, topic_id="A"), marker(4)), id="of a later release"),
        pytest.param((of_transaction(2, topic_id="A"), commit(3), marker(4)), id="transaction of a later release"),
        pytest.param((commit(2), of_transaction(3), marker(4)), id="in order"),
        pytest.param((of_transaction(2), commit(3), marker(4, kind="ABORT")), id="aborted"),
    ],
)
def test_where_the_preview_of_3_7_has_the_same_offset_no_rule_is_named(log: tuple[Row, ...]) -> None:
    assert older_rules(Run(*log)) == []
