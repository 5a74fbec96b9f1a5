"""Logs of one offsets partition, made of operations that a coordinator of today could have written in this order.

log = generated(seed, partition=3, partitions=8, topics=topics)
write(folder, 3, log)
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tests.builders.generated.lives import Life
from tests.builders.generated.offsets import Topics
from tests.builders.generated.topics import KeyValue, offsets_partition, topic_id
from tests.make.log import ABORT, COMMIT, NO_PRODUCER, T0, Kept, LoggedBatch, marker

GROUPS: Final = 12
OPERATIONS: Final = 400
PAUSES = (0, 0, 1, 3, 1000)


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
