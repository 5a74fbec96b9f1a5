"""Topics and partitions that records name, and when."""

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Flags, Numbers, integers
from udfs.codes.names import Codes, Names
from udfs.topics.kernels import note_times


class NamedTopics:
    """Each topic, topic id and partition of the records so far, with the earliest and the latest time of these records
    in microseconds. Topics and ids are codes, whose names the caller keeps."""

    def __init__(self) -> None:
        self.codes = Codes()
        self.times = np.empty((3, 0), np.int64)

    def add(self, topic: Numbers, topic_id: Numbers, partition: Numbers, time: Numbers, is_named: Flags) -> None:
        """`is_named`: whether the record shows that the topic exists."""
        code = self.codes.of(topic, topic_id, partition)
        known, self.times = self.times, np.full((3, self.codes.count), NONE)
        self.times[0] = 0
        self.times[:, : known.shape[1]] = known
        # Columns of Arrow cannot be written to, and loops have no form for such arrays.
        note_times(code, np.require(time, requirements="W"), is_named, NONE, self.times)

    def table(self, topics: Names, topic_ids: Names) -> pa.Table:
        is_named = self.times[0] > 0
        topic, topic_id, partition = self.codes.known[:, : self.codes.count][:, is_named]
        return pa.table(
            {
                "topic": topics.column(topic),
                "topic_id": topic_ids.column(topic_id),
                "partition": pa.array(partition),
                "first_time": integers(self.times[1, is_named]),
                "last_time": integers(self.times[2, is_named]),
            }
        )
