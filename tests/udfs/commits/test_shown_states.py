"""The state of offsets without the rows that open rows of offset_history show."""

from typing import Any

import numpy as np
import pytest

from schemas.tables import TABLES
from tests.builders.groups.offset_logs import commit, commits_table, markers_table, of_transaction, random_log
from udfs.arrays.arrow_schema import table_schema
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import OffsetReplay
from udfs.commits.offset_endings import OffsetFacts
from udfs.commits.shown_states import whole_state

Row = dict[str, Any]
S = 1_000_000


def states(log: list[Row]) -> tuple[list[Row], list[Row], list[Row]]:
    """The whole state after the log; the rows that are written; both read again from what is written."""
    run = OffsetReplay("c", 3, None, Questions.none(), OffsetFacts())
    run.take(commits_table(log), markers_table(log))
    finished = run.finish()
    whole = run.states.table(run.states.seen_keys()[0])
    again = whole_state(finished.state, finished.open["offset_history"])
    schema = table_schema(TABLES["replayed_offsets"])
    order = [(name, "ascending") for name in TABLES["replayed_offsets"].order]
    return tuple(table.cast(schema).sort_by(order).to_pylist() for table in (whole, finished.state, again))  # type: ignore[return-value]


@pytest.mark.parametrize("turn", range(60))
def test_nothing_of_the_state_is_lost(turn: int, seed: int) -> None:
    rng = np.random.default_rng([seed, turn])
    whole, _, again = states(random_log(rng, int(rng.integers(1, 200)), float(rng.choice([0.0, 0.3]))))
    assert again == whole


def plain(offset: int, **given: Any) -> Row:
    """A commit of a partition of its own, with the times that brokers give it."""
    return commit(offset, partition=offset, record_time=offset * S, **given)


def test_a_commit_that_offset_history_shows_is_not_written_a_second_time() -> None:
    whole, written, _ = states([plain(offset, group_id=group) for group in "ab" for offset in range(1, 4)])
    assert len(whole) == 6
    # The first key of each group has what is known of the group.
    assert [(row["group_id"], row["partition"]) for row in written] == [("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([of_transaction(5, partition=2)], id="a commit waits for its marker"),
        pytest.param([commit(5, partition=2, committed_offset=2)], id="the commit was repeated later"),
    ],
)
def test_a_key_of_which_more_is_known_is_written(more: list[Row]) -> None:
    _, written, _ = states([plain(1), plain(2), plain(3), *more])
    assert {row["partition"] for row in written} == {1, 2}
