"""What rates are made of: keys and subjects, as numbers."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import Numbers
from udfs.lag.as_of import key_codes
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.topics_then import offset_keys_with_ids

KEY = ("group_id", "topic", "topic_id", "partition")
SUBJECT = ("group_id", "topic", "topic_id")


@dataclass(frozen=True)
class RateKeys:
    """Group, topic, topic id and partition as one number a key, in their order. `of_rows`: of the rows of
    offset_history; `row`: of each key one of them; `subject`: of each key a number for all but the partition, in order
    too. `named`: the key of each row, in which commits without a topic id have that of their topic."""

    of_rows: Numbers
    row: Numbers
    subject: Numbers
    named: pa.Table

    @classmethod
    def of(cls, history: PartitionHistory) -> "RateKeys":
        named = offset_keys_with_ids(history)
        (keys,) = key_codes(KEY, named)
        row = np.zeros(int(keys.max(initial=-1)) + 1, np.int64)
        row[keys] = np.arange(len(keys))
        (subject,) = key_codes(SUBJECT, named.take(pa.array(row)))
        return cls(keys, row, subject, named)
