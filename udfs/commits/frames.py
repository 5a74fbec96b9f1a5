"""A chunk of commits together with the earlier state of their keys, sorted by key: the input of linking."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.arrays.nullable import NONE, Codes, Flags, Numbers, Positions, flags, numbers

T = TypeVar("T", np.int64, np.int32, np.bool_)
NAMES = pa.dictionary(pa.int32(), pa.string())
LIVE, GONE, PENDING = "live", "gone", "pending"
# The columns of commits that a replay reads from the decoded table.
COMMIT_COLUMNS = (
    "record_offset", "record_time", "group_id", "topic", "partition", "topic_id", "committed_offset", "leader_epoch",
    "commit_time", "expire_time", "is_tombstone", "is_transactional", "producer_id", "producer_epoch", "metadata",
)  # fmt: skip
MARKER_COLUMNS = ("record_offset", "record_time", "producer_id", "marker")


@dataclass(frozen=True)
class Markers:
    """Markers of one chunk, in log order; `place` is their position among all of its records and markers."""

    offset: Numbers
    time: Numbers
    producer_id: Numbers
    is_commit: Flags
    place: Numbers


@dataclass(frozen=True)
class Log:
    """The commits of the chunk in log order."""

    offset: Numbers
    time: Numbers


@dataclass(frozen=True)
class Keys:
    """Distinct keys in the order of their names: codes of the names, and the partition."""

    group: Codes
    topic: Codes
    partition: Codes


@dataclass(frozen=True)
class Frame:
    """Columns in the order of keys. For each key: its row of the state (live or deleted), then its pending commits,
    then the chunk's records in log order."""

    groups: pa.Array
    topics: pa.Array
    topic_ids: pa.Array
    texts: pa.Array
    keys: Keys
    # Rows of the state in this frame, and for each row of the frame its row of the state; larger numbers belong to the
    # chunk.
    state: pa.Table
    row: Positions
    is_carried: Flags
    log: Log
    markers: Markers
    size: int
    key: Codes
    offset: Numbers
    # Position in the log of the chunk, markers counted; -1: before the chunk.
    place: Numbers
    # Newest record of the key up to the row.
    seen: Numbers
    record_time: Numbers
    committed: Numbers
    leader_epoch: Numbers
    topic_id: Codes
    text: Codes
    commit_time: Numbers
    expire_time: Numbers
    producer_id: Numbers
    producer_epoch: Numbers
    is_value: Flags
    is_pending: Flags
    is_certain: Flags

    @property
    def base(self) -> int:
        """Larger than any position, so that key and position fit into one number."""
        return self.size + 2

    def carried(self, name: str, rows: Positions) -> Numbers:
        """A column of the state for these rows of the frame, all of which come from the state."""
        return numbers(self.state[name])[self.row[rows]]

    def at_places(self, place: Numbers) -> tuple[Numbers, Numbers]:
        """Offset and time of records and markers at these positions of the chunk."""
        before = np.searchsorted(self.markers.place, place)
        is_marker = np.append(self.markers.place, -1)[before] == place
        record, marker = place[~is_marker] - before[~is_marker], before[is_marker]
        offset, time = np.empty(len(place), np.int64), np.empty(len(place), np.int64)
        offset[~is_marker], time[~is_marker] = self.log.offset[record], self.log.time[record]
        offset[is_marker], time[is_marker] = self.markers.offset[marker], self.markers.time[marker]
        return offset, time


def names_of(columns: list[pa.ChunkedArray]) -> tuple[pa.Array, Codes]:
    """Distinct names in order, and the code of each row; -1 for NULL."""
    encoded = pa.chunked_array(
        [encoded for column in columns for chunk in column.chunks for encoded in as_dictionary(chunk)], NAMES
    )
    encoded = encoded.unify_dictionaries().combine_chunks()
    names = encoded.dictionary
    order = pc.sort_indices(names)
    rank = np.empty(len(names), np.int32)
    rank[order.to_numpy()] = np.arange(len(names), dtype=np.int32)
    codes = encoded.indices
    if codes.null_count:
        is_null = codes.is_null().to_numpy(zero_copy_only=False)
        found = rank[codes.fill_null(0).to_numpy()] if len(rank) else np.zeros(len(codes), np.int32)
        return names.take(order), np.where(is_null, np.int32(-1), found)
    return names.take(order), rank[codes.to_numpy()]


def as_dictionary(names: pa.Array) -> list[pa.Array]:
    """Columns that were read as dictionaries stay dictionaries."""
    if not len(names):
        return []
    return [names if pa.types.is_dictionary(names.type) else names.dictionary_encode()]


def distinct(values: Numbers) -> tuple[Numbers, Codes]:
    """Distinct values in ascending order and the code of each row, by hashing: sorting a million rows costs several
    times as much."""
    encoded = pa.array(values).dictionary_encode()
    found = encoded.dictionary.to_numpy()
    order = np.argsort(found)
    rank = np.empty(len(found), np.int32)
    rank[order] = np.arange(len(found), dtype=np.int32)
    return found[order], rank[encoded.indices.to_numpy()]


def keys_of(group: Codes, topic: Codes, partition: Numbers, num_topics: int) -> tuple[Keys, Codes]:
    pairs = group.astype(np.int64) * max(num_topics, 1) + topic
    if not len(pairs):
        nothing = np.empty(0, np.int32)
        return Keys(nothing, nothing, nothing), nothing
    lowest = int(partition.min())
    span = int(partition.max()) - lowest + 1
    known = None
    if (int(pairs.max()) + 1) * span >= 2**62:
        known, pairs = distinct(pairs)
        pairs = pairs.astype(np.int64)
    found, codes = distinct(pairs * span + (partition - lowest))
    of_pair = found // span if known is None else known[found // span]
    keys = Keys(
        (of_pair // max(num_topics, 1)).astype(np.int32),
        (of_pair % max(num_topics, 1)).astype(np.int32),
        (found % span + lowest).astype(np.int32),
    )
    return keys, codes


def stable_order(codes: Codes, count: int) -> Positions:
    """Sorts sixteen bits per pass: NumPy sorts these by counting, wider numbers by comparing."""
    order = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    if count <= 1 << 16:
        return order
    return order[np.argsort((codes[order] >> 16).astype(np.uint16), kind="stable")]


def markers_of(markers: pa.Table, offsets: Numbers) -> Markers:
    found = numbers(markers["record_offset"])
    return Markers(
        found,
        numbers(markers["record_time"]),
        numbers(markers["producer_id"]),
        pc.equal(markers["marker"], "COMMIT").to_numpy(),
        np.arange(len(found)) + np.searchsorted(offsets, found),
    )


def frame_of(state: pa.Table, commits: pa.Table, marker_rows: pa.Table) -> Frame:
    """In the state, key rows come before pending ones, and pending ones are in offset order."""
    groups, group = names_of([state["group_id"], commits["group_id"]])
    topics, topic = names_of([state["topic"], commits["topic"]])
    topic_ids, topic_id = names_of([state["topic_id"], commits["topic_id"]])
    texts, text = names_of([state["metadata"], commits["metadata"]])
    keys, key = keys_of(group, topic, joined(state, commits, "partition"), len(topics))
    row = stable_order(key, len(keys.group))
    log = Log(numbers(commits["record_offset"]), numbers(commits["record_time"]))
    markers = markers_of(marker_rows, log.offset)
    place = np.arange(len(log.offset)) + np.searchsorted(markers.offset, log.offset)
    is_pending, is_certain = transactional(commits)
    producer_id = np.where(is_pending, numbers(commits["producer_id"]), NONE)

    def both(name: str) -> Numbers:
        return ordered(joined(state, commits, name), row)

    return Frame(
        groups, topics, topic_ids, texts, keys, state, row, row < state.num_rows, log, markers,
        size=len(log.offset) + len(markers.offset),
        key=key[row],
        offset=both("record_offset"),
        place=np.append(np.full(state.num_rows, -1), place)[row],
        seen=np.append(numbers(state["seen_offset"]), log.offset)[row],
        record_time=both("record_time"),
        committed=both("committed_offset"),
        leader_epoch=both("leader_epoch"),
        topic_id=ordered(topic_id, row),
        text=ordered(text, row),
        commit_time=both("commit_time"),
        expire_time=both("expire_time"),
        producer_id=ordered(np.append(numbers(state["producer_id"]), producer_id), row),
        producer_epoch=both("producer_epoch"),
        is_value=ordered(np.append(is_kind(state, LIVE, PENDING), ~flags(commits["is_tombstone"])), row),
        is_pending=ordered(np.append(is_kind(state, PENDING), is_pending), row),
        is_certain=ordered(np.append(flags(state["is_certain"]), is_certain), row),
    )  # fmt: skip


def ordered(values: NDArray[T], row: Positions) -> NDArray[T]:
    """A column in which all rows are equal becomes one broadcast value. Checking that is cheaper than sorting the
    column."""
    if len(values) and values[0] == values[-1] and (values == values[0]).all():
        return np.broadcast_to(values[:1].copy(), values.shape)
    return values[row]


def joined(state: pa.Table, commits: pa.Table, name: str) -> Numbers:
    return np.append(numbers(state[name]), numbers(commits[name])) if state.num_rows else numbers(commits[name])


def is_kind(state: pa.Table, *kinds: str) -> Flags:
    return np.asarray(pc.is_in(state["kind"], value_set=pa.array(kinds)).to_numpy(), np.bool_)


def transactional(commits: pa.Table) -> tuple[Flags, Flags]:
    """Which commits wait for a marker, and for which of them that is certain. If an archive lacks the flag, a producer
    id shows it, as it does to the coordinator. A deletion never waits."""
    told = commits["is_transactional"]
    has_producer = commits["producer_id"].is_valid().to_numpy()
    is_told = told.is_valid().to_numpy()
    is_pending = np.where(is_told, flags(told), has_producer) & ~flags(commits["is_tombstone"])
    return is_pending, is_told | has_producer
