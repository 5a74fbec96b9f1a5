"""Columns of the messages that `messages` reads. These formats have no producers, transactions or leader
epochs."""

import numpy as np
from numpy.typing import NDArray

from schemas.words.records import NONE
from udfs.arrays.big_endian import Positions
from udfs.arrays.slices import Slices
from udfs.framing.legacy.messages import CODEC_BITS, LOG_APPEND_TIME, Entry
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.framed_records import Batches, Records


def legacy_records(data: Bytes, entries: list[Entry]) -> Records:
    messages = [message for entry in entries for message in entry.messages]
    first = [entry.messages[0].offset for entry in entries for _ in entry.messages]
    count = len(messages)
    return Records(
        offset=column([message.offset for message in messages]),
        timestamp_ms=column([message.timestamp for message in messages]),
        batch_first_offset=column(first),
        record_bytes=column([message.size for message in messages]).astype(np.int32),
        partition_leader_epoch=np.full(count, NONE, np.int32),
        producer_id=np.full(count, NONE, np.int64),
        producer_epoch=np.full(count, NONE, np.int16),
        is_transactional=np.zeros(count, bool),
        is_control=np.zeros(count, bool),
        keys=Slices(data, column([m.key_start for m in messages]), column([m.key_length for m in messages])),
        values=Slices(data, column([m.value_start for m in messages]), column([m.value_length for m in messages])),
    )


def legacy_batches(start: Positions, entries: list[Entry]) -> Batches:
    wrappers = [entry.wrapper for entry in entries]
    attributes = column([wrapper.attributes for wrapper in wrappers])
    count = len(entries)
    return Batches(
        position=start,
        size_bytes=column([wrapper.size for wrapper in wrappers]),
        base_offset=column([entry.messages[0].offset for entry in entries]),
        last_offset=column([entry.messages[-1].offset for entry in entries]),
        magic=column([wrapper.magic for wrapper in wrappers]).astype(np.int8),
        codec=(attributes & CODEC_BITS).astype(np.int8),
        partition_leader_epoch=np.full(count, NONE, np.int32),
        producer_id=np.full(count, NONE, np.int64),
        producer_epoch=np.full(count, NONE, np.int16),
        num_records=column([len(entry.messages) for entry in entries]),
        is_transactional=np.zeros(count, bool),
        is_control=np.zeros(count, bool),
        has_delete_horizon=np.zeros(count, bool),
        # Magic 0 has no time, so its time type bit means nothing.
        is_log_append_time=column([w.magic == 1 and bool(w.attributes & LOG_APPEND_TIME) for w in wrappers]) == 1,
        max_timestamp_ms=column([wrapper.timestamp for wrapper in wrappers]),
    )


def column(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)
