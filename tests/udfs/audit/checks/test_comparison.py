"""Recorded lists beside expected ones; what moved, and what had to."""

from itertools import product
from random import Random

import numpy as np
import pytest

from udfs.assignors.groups import NOBODY, Rows
from udfs.audit.checks.results import (
    GONE,
    MOST_DIFFERENCES,
    Difference,
    compare,
    moves_made,
    moves_needed,
    owners_by_place,
)

MEMBERS, TOPICS = ["x", "y", "z"], ["a", "b"]
Tuples = list[tuple[int, int, int]]


def rows(tuples: Tuples) -> Rows:
    return Rows(*np.array(tuples, np.int32).reshape(-1, 3).T)


@pytest.mark.parametrize(
    ("recorded", "verdict"),
    [
        ([(0, 1, 0), (0, 0, 0), (0, 0, 2), (1, 0, 1)], "same"),
        # Whose list stands first in the record says nothing.
        ([(1, 0, 1), (0, 1, 0), (0, 0, 0), (0, 0, 2)], "same"),
        ([(0, 0, 0), (0, 0, 2), (0, 1, 0), (1, 0, 1)], "same_members_other_order"),
        ([(0, 1, 0), (0, 0, 2), (0, 0, 0), (1, 0, 1)], "same_members_other_order"),
        ([(0, 1, 0), (0, 0, 0), (1, 0, 2), (1, 0, 1)], "drift"),
    ],
)
def test_lists_are_the_same_up_to_the_order_of_each(recorded: Tuples, verdict: str) -> None:
    # x's list comes to b first and to a in two goes: written, a's partitions stand together behind b's.
    expected = rows([(0, 1, 0), (0, 0, 0), (1, 0, 1), (0, 0, 2)])
    assert compare(MEMBERS, TOPICS, rows(recorded), expected).verdict == verdict


def test_a_list_in_which_a_topic_comes_twice_is_written_with_its_partitions_together() -> None:
    expected = rows([(0, 0, 0), (0, 1, 0), (0, 0, 1)])
    assert compare(MEMBERS, TOPICS, rows([(0, 0, 0), (0, 0, 1), (0, 1, 0)]), expected).verdict == "same"


def test_each_partition_with_another_owner_is_named() -> None:
    expected = [(0, 0, 0), (0, 0, 1), (1, 0, 2), (1, 0, 3), (2, 1, 0), (2, 1, 1)]
    moved = [(0, 0, 0), (1, 0, 1), (1, 0, 2), (2, 0, 2), (2, 1, 0), (2, 1, 0), (2, 1, 5)]
    comparison = compare(MEMBERS, TOPICS, rows(moved), rows(expected))
    assert comparison.differences == (
        Difference("a", 1, "y", "x"),  # given to another
        Difference("a", 2, "z", "y"),  # given to another too
        Difference("a", 3, None, "y"),  # dropped
        Difference("b", 0, "z", "z"),  # listed twice
        Difference("b", 1, None, "z"),
        Difference("b", 5, "z", None),  # made up
    )
    assert comparison.num_different == 6


def test_only_the_first_thousand_differences_are_named() -> None:
    comparison = compare(MEMBERS, TOPICS, rows([]), rows([(0, 0, p) for p in range(MOST_DIFFERENCES + 7)]))
    assert (comparison.num_different, len(comparison.differences)) == (MOST_DIFFERENCES + 7, MOST_DIFFERENCES)


def test_owners_stand_at_the_places_of_partitions_that_exist() -> None:
    result = owners_by_place(rows([(0, 0, 1), (1, 1, 0), (2, 1, 3), (2, 0, -1)]), np.array([2, 1]))
    assert result.tolist() == [NOBODY, 0, 1]


def test_what_an_owner_lost_moved_whoever_has_it_now() -> None:
    before, now = np.array([0, 0, 1, GONE, NOBODY]), np.array([0, 1, NOBODY, 1, 0])
    assert moves_made(before, now) == 3


def test_the_least_of_moves_is_that_of_the_best_balanced_assignment(seed: int) -> None:
    """All balanced assignments are tried."""
    random = Random(seed)
    for _ in range(60):
        members, partitions = random.randint(1, 3), random.randint(0, 6)
        before = np.array([random.choice([NOBODY, GONE, *range(members)]) for _ in range(partitions)], np.int64)
        sizes = [partitions // members + (i < partitions % members) for i in range(members)]
        best = min(
            moves_made(before, np.array(now, np.int64))
            for now in product(range(members), repeat=partitions)
            if sorted((now.count(m) for m in range(members)), reverse=True) == sizes
        )
        assert moves_needed(before, members) == best, before
