"""The sentence that says for how long nobody read the partitions of a rebalance."""

from typing import Any

import pytest

from jobs.answers.events.unread_cost import unowned_cost, unread_cost

BASIS = "session timeout 6.0 s from the record, heartbeat interval 2.0 s assumed"


def moves(count: int, low: int | None, high: int | None, basis: str | None = None) -> list[dict[str, Any]]:
    return [{"unread_low_ms": low, "unread_high_ms": high, "unread_basis": basis}] * count


@pytest.mark.parametrize(
    ("some", "expected"),
    [
        ([], None),
        (moves(2, None, None) + moves(1, 0, 0), None),
        (moves(3, 4_090, 6_090, BASIS), f"3 partitions were unread for 4.1 to 6.1 s each ({BASIS})"),
        (moves(1, 90, 90), "1 partition was unread for 90 ms"),
        (moves(2, 3, 45), "2 partitions were unread for 3 to 45 ms each"),
        (moves(1, 186, 1_200), "1 partition was unread for 186 ms to 1.2 s"),
        (moves(2, 9, 9_000) + moves(1, 4_000, 6_000, BASIS),
         f"1 partition was unread for 4.0 to 6.0 s ({BASIS}); 2 more partitions were unread for 9 ms to 9.0 s each"),
        (moves(1, 4_049, 6_001), "1 partition was unread for 4.0 to 6.1 s"),
        (moves(1, 1_000, 2_000) + moves(1, 500, 3_000), "2 partitions were unread for 500 ms to 3.0 s each"),
    ],
)  # fmt: skip
def test_the_cost_of_a_rebalance_in_words(some: list[dict[str, Any]], expected: str | None) -> None:
    assert unread_cost(some) == expected


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], None),
        ([None, 0], None),
        ([20_000], "1 partition had no owner for 20.0 s"),
        ([20_000, None, 20_000], "2 partitions had no owner for 20.0 s each"),
        ([5, 20_010], "2 partitions had no owner for 5 ms to 20.1 s each"),
    ],
)
def test_partitions_without_an_owner_are_named_if_it_is_unknown_how_long_they_were_unread(
    times: list[int | None], expected: str | None
) -> None:
    assert unowned_cost([{"unread_high_ms": None, "idle_ms": each} for each in times]) == expected
    # There was nothing to read.
    assert unowned_cost([{"unread_high_ms": 0, "idle_ms": each} for each in times]) is None
