"""Tasks of streams groups as the partitions that they read."""

import string

from udfs.groups.modern.streams_tasks import partitions_of
from udfs.groups.readers.modern_values import Topology
from udfs.groups.readers.recorded_lists import Tasks
from udfs.topics.partition_codes import SHIFT, TopicCodes

LETTERS = string.ascii_lowercase


def test_topics_get_codes_in_the_order_of_the_record_in_every_process() -> None:
    """Python's order of a set of texts is another one in each process, and stored states would differ."""
    topics = TopicCodes()
    read = partitions_of(Tasks((each, 3) for each in LETTERS), Topology(1, {each: (each,) for each in LETTERS}), topics)
    assert [name for name, _ in topics.topics] == [*LETTERS]
    assert read == {code << SHIFT | 3 for code in range(len(LETTERS))}
