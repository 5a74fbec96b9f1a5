"""A chunk of commits beside what is known of their keys from before, put in order by key: what linking works on."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.replay.nullable import NONE, Codes, Flags, Numbers, Positions, flags, numbers

NAMES = pa.dictionary(pa.int32(), pa.string())
LIVE, GONE, PENDING = "live", "gone", "pending"
# Of the commits, as a replay reads them: nothing else is needed of the decoded table.
COMMIT_COLUMNS = (
    "record_offset", "record_time", "group_id", "topic", "partition", "topic_id", "committed_offset", "leader_epoch",
    "commit_time", "expire_time", "is_tombstone", "is_transactional", "producer_id", "producer_epoch", "metadata",
)  # fmt: skip
MARKER_COLUMNS = ("record_offset", "record_time", "producer_id", "marker")


@dataclass(frozen=True)
class Markers:
    """Of one chunk, in log order; `place` is theirs among all of its records and markers."""

    offset: Numbers
    time: Numbers
    producer_id: Numbers
    is_commit: Flags
    place: Numbers


@dataclass(frozen=True)
class Keys:
    """Distinct keys in the order of their names: codes of the names, and the partition."""

    group: Codes
    topic: Codes
    partition: Codes


@dataclass(frozen=True)
class Frame:
    """Columns stand in the order of keys. Of a key its row of the state comes first (live or gone), then its pending
    commits, then the records of the chunk as they stand in the log."""

    groups: pa.Array
    topics: pa.Array
    topic_ids: pa.Array
    texts: pa.Array
    keys: Keys
    # The rows of the state that are part of it, and for each row of the frame which of them it is; beyond: the chunk's.
    state: pa.Table
    row: Positions
    markers: Markers
    size: int
    key: Codes
    offset: Numbers
    # Place in the log of the chunk, markers counted; -1: before it.
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
    def is_carried(self) -> Flags:
        return np.asarray(self.row < self.state.num_rows, np.bool_)

    @property
    def base(self) -> int:
        """More than any place: keys and places together make one number."""
        return self.size + 2

    def carried(self, name: str, rows: Positions) -> Numbers:
        """A column of the state for these rows of the frame, all of which are carried."""
        return numbers(self.state[name])[self.row[rows]]


def names_of(columns: list[pa.ChunkedArray]) -> tuple[pa.Array, Codes]:
    """Distinct names in their order, and the code of each row; -1 for NULL."""
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
    """Files read as dictionaries come as such."""
    if not len(names):
        return []
    return [names if pa.types.is_dictionary(names.type) else names.dictionary_encode()]


def distinct(values: Numbers) -> tuple[Numbers, Codes]:
    """Distinct values ascending and the code of each, by hashing: sorting a million costs several times as much."""
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
    """Sixteen bits a pass: NumPy sorts these by counting, wider numbers by comparing."""
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
    """Within the state, key rows stand before pending ones, and these by offset."""
    groups, group = names_of([state["group_id"], commits["group_id"]])
    topics, topic = names_of([state["topic"], commits["topic"]])
    topic_ids, topic_id = names_of([state["topic_id"], commits["topic_id"]])
    texts, text = names_of([state["metadata"], commits["metadata"]])
    keys, key = keys_of(group, topic, both(state, commits, "partition"), len(topics))
    row = stable_order(key, len(keys.group))
    offsets = numbers(commits["record_offset"])
    markers = markers_of(marker_rows, offsets)
    place = np.arange(len(offsets)) + np.searchsorted(markers.offset, offsets)
    seen = np.concatenate([numbers(state["seen_offset"]), offsets])
    is_pending, is_certain = transactional(commits)
    of_state = pc.equal(state["kind"], PENDING).to_numpy()
    producer_id = numbers(commits["producer_id"])
    return Frame(
        groups, topics, topic_ids, texts, keys, state, row, markers,
        size=len(offsets) + len(markers.offset),
        key=key[row],
        offset=np.concatenate([numbers(state["record_offset"]), offsets])[row],
        place=np.concatenate([np.full(state.num_rows, -1), place])[row],
        seen=seen[row],
        record_time=both(state, commits, "record_time")[row],
        committed=both(state, commits, "committed_offset")[row],
        leader_epoch=both(state, commits, "leader_epoch")[row],
        topic_id=topic_id[row],
        text=text[row],
        commit_time=both(state, commits, "commit_time")[row],
        expire_time=both(state, commits, "expire_time")[row],
        producer_id=np.concatenate([numbers(state["producer_id"]), np.where(is_pending, producer_id, NONE)])[row],
        producer_epoch=both(state, commits, "producer_epoch")[row],
        is_value=np.concatenate([pc.not_equal(state["kind"], GONE).to_numpy(), ~flags(commits["is_tombstone"])])[row],
        is_pending=np.concatenate([of_state, is_pending])[row],
        is_certain=np.concatenate([flags(state["is_certain"]), is_certain])[row],
    )  # fmt: skip


def transactional(commits: pa.Table) -> tuple[Flags, Flags]:
    """Which commits wait for a marker, and of which that is sure. Of an archive that lacks the flag a producer tells,
    as it does to the coordinator. A deletion never waits."""
    told = commits["is_transactional"]
    has_producer = commits["producer_id"].is_valid().to_numpy()
    is_told = told.is_valid().to_numpy()
    is_pending = np.where(is_told, flags(told), has_producer) & ~flags(commits["is_tombstone"])
    return is_pending, is_told | has_producer


def both(state: pa.Table, commits: pa.Table, name: str) -> Numbers:
    return np.concatenate([numbers(state[name]), numbers(commits[name])])
