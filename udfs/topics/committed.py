"""Topics that offset commits name."""

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, flags, integers, numbers
from udfs.codes.names import Codes, Names
from udfs.topics.kernels import note_times


def committed_topics(rows: pa.Table) -> pa.Table:
    """One row for each topic, topic id and partition in rows of offset_commits (partition 0 without that column), with
    the earliest and the latest time of their records in microseconds. A deletion does not prove that its topic
    exists."""
    topics, topic_ids, codes = Names(), Names(), Codes()
    has_partition = "partition" in rows.column_names
    partition = numbers(rows["partition"]) if has_partition else np.zeros(rows.num_rows, np.int64)
    code = codes.of(topics.codes(rows["topic"]), topic_ids.codes(rows["topic_id"]), partition)
    times = np.zeros((3, codes.count), np.int64)
    times[1:] = NONE
    note_times(np.array([code, numbers(rows["record_time"]), ~flags(rows["is_tombstone"])]), NONE, times)
    is_named = times[0] > 0
    topic, topic_id, number = codes.known[:, : codes.count][:, is_named]
    return pa.table(
        {
            "topic": topics.column(topic).dictionary_decode(),
            "topic_id": topic_ids.column(topic_id).dictionary_decode(),
            "partition": pa.array(number),
            "first_time": integers(times[1, is_named]),
            "last_time": integers(times[2, is_named]),
        }
    )
