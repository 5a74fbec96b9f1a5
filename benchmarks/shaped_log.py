"""One offsets partition's log of a named shape: batches of ten commits, each group going round its keys, and now
and then what a group's coordinator writes at once. Without transactions."""

import random
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.batches import compressed, record_bodies
from benchmarks.byte_columns import interleaved, joined_groups
from benchmarks.consumer_life import ConsumerLife, KeyValue
from benchmarks.generations import ClassicLife
from benchmarks.group_records import Numbers, occurrences
from benchmarks.log import BATCHES_AT_ONCE, FIRST_TIME, MS_PER_BATCH, Log
from benchmarks.shapes import Shape, group_name, raw_topic_id, topics_of
from benchmarks.traffic import COMMIT, GROUP, TOMBSTONE, Commits, Records, binary

COMMITS_PER_BATCH = 10
# Of the batches: then one record in 1,500 is an assignment.
OPERATION_SHARE = 0.009
# Of the records that are of offsets.
TOMBSTONE_SHARE = 0.027
CLASSIC_MEMBERS = 4


class ShapedCommits(Commits):
    """Of 4.3, which knows the topic's id, and of releases before 4.1."""

    flexible_share = 0.5
    topic_id_share = 1.0

    def __init__(self, shape: Shape, seed: int, groups: list[int], rng: np.random.Generator) -> None:
        topics = topics_of(shape, seed)
        names = [group_name(number) for number in groups]
        super().__init__(
            names, [each.name for each in topics], [raw_topic_id(each.topic_id or "") for each in topics], rng
        )
        sizes = np.array([topic.partitions for topic in topics])
        self.topic_of = np.repeat(np.arange(len(sizes)), sizes)
        self.partition_of = np.concatenate([np.arange(size) for size in sizes])
        self.num_committed = np.zeros(len(groups), np.int64)

    def records(self, time: Numbers) -> Records:
        """One for each time."""
        self.written += len(time)
        group = self.rng.integers(0, len(self.num_committed), len(time))
        before, counts = occurrences(group, len(self.num_committed))
        place = (self.num_committed[group] + before) % len(self.topic_of)
        self.num_committed += counts
        topic, partition = self.topic_of[place], self.partition_of[place]
        is_gone = self.rng.random(len(time)) < TOMBSTONE_SHARE
        value = self.offset_values(np.arange(len(time)), topic, partition, time)
        kind = np.where(is_gone, TOMBSTONE, COMMIT)
        key = self.offset_keys(group, topic, partition)
        return Records(kind, group, time, key, pa.compute.if_else(pa.array(is_gone), None, value))


class ShapedLog(Log):
    def __init__(self, shape: Shape, seed: int, groups: list[int], partition: int, compressed_share: float) -> None:
        rng = np.random.default_rng([seed, partition])
        super().__init__(rng, compressed_share)
        self.commits = ShapedCommits(shape, seed, groups, rng)
        self.lives = [life_of(shape, seed, number) for number in groups]
        # Each group begins with the log.
        self.unborn = list(range(len(groups)))

    def runs(self, records: int) -> Iterator[pa.BinaryArray]:
        while records:
            sizes, operations = self.next_batches(records)
            records -= int(sizes.sum())
            yield self.run(sizes, operations)

    def next_batches(self, most: int) -> tuple[Numbers, dict[int, list[KeyValue]]]:
        """Sizes of the next batches, `most` records at most, and the operations among them by the batch's place."""
        number = min(BATCHES_AT_ONCE, -(-most // COMMITS_PER_BATCH))
        sizes = np.full(number, COMMITS_PER_BATCH)
        rows = np.flatnonzero(self.rng.random(number) < OPERATION_SHARE)
        groups = self.rng.integers(0, len(self.lives), len(rows))
        if self.unborn:
            born = min(number, len(self.unborn))
            rows = np.concatenate([np.arange(born), rows[rows >= born]])
            groups = np.concatenate([self.unborn[:born], groups[len(groups) - len(rows) + born :]])
            self.unborn = self.unborn[born:]
        times = FIRST_TIME + (self.batch + rows) * MS_PER_BATCH
        operations = {
            row: self.lives[group].operation(time)
            for row, group, time in zip(rows.tolist(), groups.tolist(), times.tolist(), strict=True)
        }
        for row, written in operations.items():
            sizes[row] = len(written)
        whole = int(np.searchsorted(np.cumsum(sizes), most, side="right"))
        if whole == 0:
            # The log ends with fewer records than the operation has.
            return np.array([most]), {}
        return sizes[:whole], {row: written for row, written in operations.items() if row < whole}

    def run(self, sizes: Numbers, operations: dict[int, list[KeyValue]]) -> pa.BinaryArray:
        owner = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        batch_time = FIRST_TIME + (self.batch + np.arange(len(sizes))) * MS_PER_BATCH
        delta = place // 4
        records = self.records(batch_time[owner] + delta, np.isin(owner, list(operations)), operations)
        codec = self.codecs(len(sizes))
        bodies = compressed(joined_groups(record_bodies(records, place, delta), sizes), codec)
        return self.with_markers(bodies, sizes, batch_time, codec, np.full(len(sizes), -1))

    def records(self, time: Numbers, is_operation: np.ndarray, operations: dict[int, list[KeyValue]]) -> Records:
        rows, others = np.flatnonzero(is_operation), np.flatnonzero(~is_operation)
        commits = self.commits.records(time[others])
        pairs = [pair for written in operations.values() for pair in written]
        key, value = (
            interleaved([(others, of_commits), (rows, binary([pair[side] for pair in pairs]))])
            for side, of_commits in enumerate((commits.key, commits.value))
        )
        kind = np.full(len(time), GROUP)
        kind[others] = commits.kind
        return Records(kind, np.zeros(len(time), np.int64), time, key, value)


class ClassicOperations(ClassicLife):
    def operation(self, time: int) -> list[KeyValue]:
        return [self.generation(time)]


def life_of(shape: Shape, seed: int, number: int) -> ClassicOperations | ConsumerLife:
    rng = random.Random(f"{seed} {number}")
    name, topics = group_name(number), topics_of(shape, seed)[: shape.topics_read]
    if number < shape.groups // 2:
        return ClassicOperations(name, topics, CLASSIC_MEMBERS, rng)
    return ConsumerLife(name, topics, rng)
