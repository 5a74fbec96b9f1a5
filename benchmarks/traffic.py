"""The records of one offsets partition as its brokers would write them: commits, tombstones and group records."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.byte_columns import chosen, compact, interleaved, joined, packed, text
from benchmarks.cast import PARTITIONS, TOPICS, Cast, Client
from benchmarks.group_records import (
    STOCK_PER_GROUP,
    Numbers,
    classic_pools,
    classic_values,
    consumer_stock,
    occurrences,
)

COMMIT, TOMBSTONE, GROUP = range(3)
SHARES = (0.90, 0.05, 0.05)
FIRST_GENERATION = 1
ZERO_TAGS = b"\0"


@dataclass(frozen=True)
class Records:
    """`value` is null in tombstones."""

    kind: Numbers
    group: Numbers
    time: Numbers
    key: pa.BinaryArray
    value: pa.BinaryArray


class Commits:
    """Keys and values of commits; offsets rise from call to call. Groups and topics are known by their place."""

    flexible_share = 0.3
    # Of those.
    topic_id_share = 0.5

    def __init__(
        self, names: Sequence[str], topics: Sequence[str], topic_ids: Sequence[bytes], rng: np.random.Generator
    ) -> None:
        self.rng = rng
        self.names = binary([text(name) for name in names])
        self.topics = binary([text(topic) for topic in topics])
        self.topic_tags = binary([b"\1\0\x10" + topic_id for topic_id in topic_ids])
        self.metadata = metadata_pool(random.Random(int(rng.integers(1 << 32))))
        self.written = 0

    def offset_keys(self, group: Numbers, topic: Numbers, partition: Numbers) -> pa.BinaryArray:
        return joined(
            b"\0\1", self.names.take(pa.array(group)), self.topics.take(pa.array(topic)), packed((">i4", partition))
        )

    def offset_values(self, row: Numbers, topic: Numbers, partition: Numbers, time: Numbers) -> pa.BinaryArray:
        """Versions 3 and 4, some of the latter with a topic id."""
        size = len(row)
        is_flexible = self.rng.random(size) < self.flexible_share
        has_topic_id = is_flexible & (self.rng.random(size) < self.topic_id_share)
        offset = (topic * PARTITIONS + partition) * 1_000_003 + (self.written + row) * 3
        epoch = np.where(self.rng.random(size) < 0.1, -1, self.rng.integers(0, 50, size))
        picked = pa.array(self.rng.integers(0, len(self.metadata[0]), size))
        return joined(
            packed((">i2", np.where(is_flexible, 4, 3)), (">i8", offset), (">i4", epoch)),
            chosen(is_flexible, self.metadata[1].take(picked), self.metadata[0].take(picked)),
            packed((">i8", time)),
            chosen(has_topic_id, self.topic_tags.take(pa.array(topic)), chosen(is_flexible, ZERO_TAGS, b"")),
        )


class Traffic(Commits):
    """Records for the groups of one offsets partition; generations and offsets rise from call to call."""

    shares = SHARES
    expired_share = 0.8

    def __init__(self, cast: Cast, groups: Numbers, rng: np.random.Generator) -> None:
        super().__init__([group.name for group in cast.groups], cast.topics, cast.topic_ids, rng)
        self.cast, self.groups = cast, groups
        self.is_consumer = np.array([group.client is Client.CONSUMER for group in cast.groups])
        self.pools, self.stock = classic_pools(cast), consumer_stock(cast)
        self.generation = np.full(len(cast.groups), FIRST_GENERATION)

    def records(self, time: Numbers, kind: Numbers, group: Numbers) -> Records:
        self.written += len(time)
        rows = [np.flatnonzero(kind == each) for each in (COMMIT, TOMBSTONE, GROUP)]
        # Most tombstones are of offsets that expired, the others of members and groups that went.
        is_offset = self.rng.random(len(rows[1])) < self.expired_share
        commits, expired, gone = rows[0], rows[1][is_offset], rows[1][~is_offset]
        classic, consumer = (rows[2][self.is_consumer[group[rows[2]]] == each] for each in (False, True))
        topic, partition = self.places(group)
        stocked = self.stocked(group, consumer)

        offsets = np.concatenate([commits, expired])
        by_group = np.concatenate([classic, gone])
        nulls = np.concatenate([expired, gone])
        key = interleaved([
            (offsets, self.offset_keys(group[offsets], topic[offsets], partition[offsets])),
            (by_group, self.pools.key.take(pa.array(group[by_group]))),
            (consumer, self.stock.key.take(pa.array(stocked[consumer]))),
        ])  # fmt: skip
        value = interleaved([
            (commits, self.offset_values(commits, topic[commits], partition[commits], time[commits])),
            (classic, self.classic_values(group[classic], time[classic])),
            (consumer, self.stock.value.take(pa.array(stocked[consumer]))),
            (nulls, pa.nulls(len(nulls), pa.binary())),
        ])  # fmt: skip
        return Records(kind, group, time, key, value)

    def kinds(self, size: int) -> Numbers:
        return np.searchsorted(np.cumsum(self.shares)[:-1], self.rng.random(size), side="right")

    def places(self, group: Numbers) -> tuple[Numbers, Numbers]:
        """Topic and partition of each commit."""
        return self.rng.integers(0, TOPICS, len(group)), self.rng.integers(0, PARTITIONS, len(group))

    def stocked(self, group: Numbers, consumer: Numbers) -> Numbers:
        """Where in the stock each record of a consumer group is; `consumer` are their rows."""
        return group * STOCK_PER_GROUP + self.rng.integers(0, STOCK_PER_GROUP, len(group))

    def classic_values(self, group: Numbers, time: Numbers) -> pa.BinaryArray:
        before, counts = occurrences(group, len(self.generation))
        generation = self.generation[group] + before
        self.generation += counts
        return classic_values(self.pools, group, generation, time)


def binary(rows: list[bytes]) -> pa.BinaryArray:
    return pa.array(rows, pa.binary())


def metadata_pool(rng: random.Random, size: int = 4096) -> tuple[pa.BinaryArray, pa.BinaryArray]:
    """Texts that clients attach to offsets, mostly none: as a classic string and as a compact one."""
    texts = [metadata(rng) for _ in range(size)]
    return binary([text(each) for each in texts]), binary([compact(each.encode()) for each in texts])


def metadata(rng: random.Random) -> str:
    draw = rng.randrange(100)
    if draw < 88:
        return ""
    if draw < 93:
        return json.dumps({"host": f"worker-{rng.randrange(50)}", "seq": rng.randrange(1_000_000)})
    if draw < 97:
        return f"AgAFAAMB{rng.randrange(1 << 64):x}"
    if draw < 99:
        return f"café 測試 {rng.randrange(100)}"
    return "m" * rng.randrange(200, 1000)
