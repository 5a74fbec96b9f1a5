"""Who subscribes to partitions: members that are there, of groups that commit."""

import pytest

from tests.builders.tables.lag_histories import SECOND, history
from tests.oracles.lag.lag_at_snapshots import Captured
from udfs.lag.subscriptions import subscribed_partitions


@pytest.mark.parametrize(
    ("group_type", "change", "subscribed"),
    [
        ("classic", "kept", [0, 1]),
        ("consumer", "joined", [0, 1]),
        ("streams", None, [0, 1]),
        # Share groups commit nothing here, and who has left reads nothing.
        ("share", "kept", []),
        ("classic", "left", []),
    ],
)
def test_only_members_of_groups_that_commit_count(group_type: str, change: str | None, subscribed: list[int]) -> None:
    about = {"group_id": "g", "assignment_offset": 5}
    result = subscribed_partitions(
        history(
            9 * SECOND,
            {SECOND: {("t", partition): Captured(None, 0, 9) for partition in (0, 1)}},
            rebalances=[about | {"start_time": SECOND}],
            generation_members=[about | {"group_type": group_type, "change": change, "subscribed_topics": ["t", "u"]}],
        )
    )
    assert result.column("partition").to_pylist() == subscribed
