"""Logs of one offsets partition, made of operations that a coordinator of today could have written in this order.

log = generated(seed, partition=3, partitions=8, topics=topics)
write(folder, 3, log)
"""

import random
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tests.builders.generated.lives import Life
from tests.builders.generated.offsets import Topics
from tests.builders.generated.topics import KeyValue, offsets_partition, topic_id
from tests.builders.logs.batches import batch_of, record

GROUPS: Final = 12
OPERATIONS: Final = 400
IS_TRANSACTIONAL: Final = 1 << 4
IS_CONTROL: Final = 1 << 5
ABORT, COMMIT = range(2)
NO_PRODUCER: Final = -1
# Recent, so that no broker finds it too old to keep.
T0: Final = 1_795_000_000_000


PAUSES = (0, 0, 1, 3, 1000)


@dataclass(frozen=True)
class Kept:
    """A record with the place that it has for good."""

    offset: int
    time: int
    key: bytes
    value: bytes | None


@dataclass(frozen=True)
class LoggedBatch:
    base_offset: int
    last_offset: int
    records: tuple[Kept, ...]
    producer_id: int = NO_PRODUCER
    is_control: bool = False
    # Of data: whether the marker that ended it was ABORT; None while it is open, or where there is no transaction.
    outcome: int | None = None
    leader_epoch: int = 0
    producer_epoch: int = 0
    is_transactional: bool = True

    def bytes(self) -> bytes:
        if not self.records:
            raise ValueError("a batch without records")
        base_time = self.records[0].time
        body = [record(each.offset - self.base_offset, each.key, each.value, each.time - base_time)
                for each in self.records]  # fmt: skip
        attributes = IS_CONTROL * self.is_control | IS_TRANSACTIONAL * (self.producer_id != NO_PRODUCER and self.is_transactional)
        return batch_of(
            *body, base_offset=self.base_offset, last_delta=self.last_offset - self.base_offset, base_time=base_time,
            max_time=max(each.time for each in self.records), attributes=attributes, producer_id=self.producer_id,
            producer_epoch=self.producer_epoch if self.producer_id != NO_PRODUCER else -1, leader_epoch=self.leader_epoch,
        )  # fmt: skip


@dataclass
class Log:
    """As it grows; transactions that are open, by producer, with the places of their batches."""

    chance: random.Random
    time: int = T0
    offset: int = 0
    batches: list[LoggedBatch] = field(default_factory=list)
    open: dict[int, list[int]] = field(default_factory=dict)

    def append(self, records: Sequence[tuple[int, KeyValue]], producer_id: int = NO_PRODUCER) -> None:
        kept = tuple(Kept(self.offset + place, time, *pair) for place, (time, pair) in enumerate(records))
        self.batches.append(LoggedBatch(self.offset, kept[-1].offset, kept, producer_id))
        self.offset += len(kept)

    def in_transaction(self, pairs: Sequence[KeyValue]) -> None:
        """Of a producer that may have one open already."""
        producer_id = self.chance.randint(1, 4)
        self.open.setdefault(producer_id, []).append(len(self.batches))
        self.append([(self.time, pair) for pair in pairs], producer_id)

    def end_some(self) -> None:
        for producer_id in sorted(self.open):
            if self.chance.random() < 0.15:
                self.end(producer_id, self.chance.choice((ABORT, COMMIT, COMMIT)))

    def end(self, producer_id: int, outcome: int) -> None:
        for place in self.open.pop(producer_id):
            self.batches[place] = replace(self.batches[place], outcome=outcome)
        self.append([(self.time, marker(outcome))], producer_id)
        self.batches[-1] = replace(self.batches[-1], is_control=True)


def marker(outcome: int) -> KeyValue:
    return struct.pack(">hh", 0, outcome), struct.pack(">hi", 0, 3)


def generated(
    seed: int,
    partition: int,
    partitions: int,
    topics: Topics,
    operations: int = OPERATIONS,
    groups: int = GROUPS,
    pauses: Sequence[int] = PAUSES,
) -> Log:
    """Several groups at a time, their operations now and then in one batch, and not all of one time. `pauses`: between
    operations, in milliseconds."""
    chance = random.Random(seed)
    result = names(partition, partitions, groups)
    # One in six is a share group; of fewer, now and then one.
    share = 5 if groups > 5 else chance.randrange(6)
    lives = [Life(name, topics, chance, place % 6 == share) for place, name in enumerate(result)]
    log = Log(chance)
    waiting: list[tuple[int, KeyValue]] = []
    for _ in range(operations):
        log.time += chance.choice(pauses)
        life = chance.choice(lives)
        if not life.is_share and chance.random() < 0.12:
            flush(log, waiting)
            log.in_transaction(life.offsets.commit(log.time, is_plain=False))
            if chance.random() < 0.5:
                # Who of both wins is settled when the transaction ends.
                waiting += [(log.time, pair) for pair in life.offsets.again(log.time)]
            continue
        waiting += [(log.time, pair) for pair in life.step(log.time)]
        if chance.random() < 0.7:
            flush(log, waiting)
            log.end_some()
    flush(log, waiting)
    return log


def flush(log: Log, waiting: list[tuple[int, KeyValue]]) -> None:
    if waiting:
        log.append(waiting)
        waiting.clear()


def names(partition: int, partitions: int, groups: int = GROUPS) -> list[str]:
    """Groups that belong to the partition."""
    result: list[str] = []
    number = 0
    while len(result) < groups:
        name = f"group-{number}"
        if offsets_partition(name, partitions) == partition:
            result.append(name)
        number += 1
    return result


def some_topics(chance: random.Random) -> Topics:
    return {f"t{number}": (topic_id(chance), chance.randint(1, 4)) for number in range(3)}


def compacted(log: Log) -> list[LoggedBatch]:
    """As the cleaner leaves it that went over a part of it: up to there the newest record of each key stays, of aborted
    transactions nothing, and of tombstones those that are young; markers stay."""
    stable = min((log.batches[place].base_offset for places in log.open.values() for place in places),
                 default=log.offset)  # fmt: skip
    end = batch_begin(log, int(stable * log.chance.uniform(0.5, 1)))
    # Tombstones of one batch go together.
    horizon = batch_begin(log, int(end * log.chance.random()))
    newest = {
        each.key: each.offset
        for batch in log.batches
        if not batch.is_control and batch.outcome != ABORT
        for each in batch.records
        if each.offset < end
    }

    def stays(batch: LoggedBatch, each: Kept) -> bool:
        if batch.is_control or each.offset >= end:
            return True
        is_newest = batch.outcome != ABORT and newest[each.key] == each.offset
        return is_newest and (each.value is not None or each.offset >= horizon)

    left = (replace(batch, records=tuple(each for each in batch.records if stays(batch, each)))
            for batch in log.batches)  # fmt: skip
    return [batch for batch in left if batch.records]


def batch_begin(log: Log, offset: int) -> int:
    return max((batch.base_offset for batch in log.batches if batch.base_offset <= offset), default=0)


def write(folder: Path, partition: int, batches: Iterable[LoggedBatch]) -> None:
    """Into one segment."""
    home = folder / f"__consumer_offsets-{partition}"
    home.mkdir(parents=True)
    batches = list(batches)
    name = f"{0:020}.log"
    (home / name).write_bytes(b"".join(batch.bytes() for batch in batches))
