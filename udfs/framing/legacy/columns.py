"""Columns of the messages that `messages` reads. These formats have no producers, transactions or leader
epochs."""

import numpy as np

from schemas.words.records import NONE
from udfs.arrays.big_endian import Positions
from udfs.arrays.slices import Slices
from udfs.framing.legacy.kernels import (
    KEY_LENGTH,
    KEY_START,
    OFFSET,
    SIZE,
    TIMESTAMP,
    VALUE_LENGTH,
    VALUE_START,
    Table,
)
from udfs.framing.legacy.messages import LegacyEntries
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.framed_records import Batches, Records


def legacy_rows(data: Bytes, start: Positions, entries: LegacyEntries) -> tuple[Records, Batches]:
    """`start`: of each entry."""
    plain, wrappers = np.flatnonzero(entries.codecs == 0), sorted(entries.inside)
    tables = [entries.inside[place] for place in wrappers]
    counts = np.ones(len(start), np.int64)
    counts[wrappers] = [table.shape[1] for table in tables]
    # Plain messages in one piece, then wrapper by wrapper, and all in the order of their entries.
    places = np.concatenate((plain, np.repeat(np.array(wrappers, np.int64), counts[wrappers])))
    messages = np.concatenate((entries.messages[:, plain], *tables), axis=1)[:, np.argsort(places, kind="stable")]
    last = np.cumsum(counts) - 1
    first_offset, last_offset = messages[OFFSET, last - counts + 1], messages[OFFSET, last]
    return (
        legacy_records(data, messages, np.repeat(first_offset, counts), np.repeat(entries.messages[SIZE], counts)),
        legacy_batches(start, entries, counts, first_offset, last_offset),
    )


def legacy_records(data: Bytes, messages: Table, batch_first_offset: Positions, batch_bytes: Positions) -> Records:
    count = messages.shape[1]
    return Records(
        offset=messages[OFFSET],
        timestamp_ms=messages[TIMESTAMP],
        batch_first_offset=batch_first_offset,
        batch_bytes=batch_bytes.astype(np.int32),
        record_bytes=messages[SIZE].astype(np.int32),
        partition_leader_epoch=np.full(count, NONE, np.int32),
        producer_id=np.full(count, NONE, np.int64),
        producer_epoch=np.full(count, NONE, np.int16),
        is_transactional=np.zeros(count, bool),
        is_control=np.zeros(count, bool),
        keys=Slices(data, messages[KEY_START], messages[KEY_LENGTH]),
        values=Slices(data, messages[VALUE_START], messages[VALUE_LENGTH]),
    )


def legacy_batches(
    start: Positions, entries: LegacyEntries, counts: Positions, first_offset: Positions, last_offset: Positions
) -> Batches:
    count, own = len(start), entries.messages
    return Batches(
        position=start,
        size_bytes=own[SIZE],
        base_offset=first_offset,
        last_offset=last_offset,
        magic=entries.magic.astype(np.int8),
        codec=entries.codecs.astype(np.int8),
        partition_leader_epoch=np.full(count, NONE, np.int32),
        producer_id=np.full(count, NONE, np.int64),
        producer_epoch=np.full(count, NONE, np.int16),
        num_records=counts,
        is_transactional=np.zeros(count, bool),
        is_control=np.zeros(count, bool),
        has_delete_horizon=np.zeros(count, bool),
    )
