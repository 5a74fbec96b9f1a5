"""Which topic a name without an id was at a time: the one that the snapshots before and after show. A topic that was
deleted and created again has another id, so between two topics it may have been either."""

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import Numbers, numbers
from udfs.arrays.texts import encoded, of_codes, together
from udfs.lag.as_of import NOWHERE
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.watermarks import Watermarks


def topics_between(watermarks: Watermarks, before: Numbers, after: Numbers) -> Numbers:
    """For two rows of snapshots each, a place in the dictionary of their topic ids; NOWHERE: not known."""
    earlier, later = watermarks.known_topics[before], watermarks.known_topics[after]
    is_one = (earlier == later) | (earlier < 0)
    return np.asarray(np.where(is_one, later, np.where(later < 0, earlier, NOWHERE)), np.int64)


def offset_keys_with_ids(history: PartitionHistory) -> pa.Table:
    """`offset_keys`, in which commits without a topic id have the id of the topic at their time. Of the next snapshot
    only, which is known of all that is settled."""
    keys, marks = history.offset_keys, history.watermarks
    (own, of_marks), values = together([encoded(keys["topic_id"]), marks.topic_ids.dictionary.dictionary_encode()])
    own = own[: keys.num_rows]
    rows = np.flatnonzero(own < 0)
    if not len(rows) or not len(marks.place):
        return keys
    places = marks.first_places(keys.take(pa.array(rows)))
    begun = numbers(history.table("offset_history")["from_time"])[rows]
    then = topics_between(marks, marks.at(places, begun), marks.after(places, begun))
    own[rows] = of_marks[then]
    return keys.set_column(keys.column_names.index("topic_id"), "topic_id", of_codes(own, values))
