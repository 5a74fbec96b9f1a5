"""What tasks are called."""

import pytest

from jobs.engine.task import partitions_text


@pytest.mark.parametrize(
    ("partitions", "text"),
    [
        ([3], "offsets partition 3"),
        ([3, 5, 6, 7, 10], "offsets partitions 3, 5-7, 10"),
        ([1, 0], "offsets partitions 0-1"),
        ([], "offsets partitions not known"),
    ],
)
def test_partitions_are_named_shortly(partitions, text):
    assert partitions_text(partitions) == text
