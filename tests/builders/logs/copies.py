"""Logs of an offsets partition and the copies that brokers have of them: cut into segments where they like, compacted
more or less, some records gone for good from one and still there in another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from schemas.records import REGISTRY
from tests.builders.logs.batches import Batch, record
from tests.builders.records.encoder import encode_key, encode_value

T0 = 1_700_000_000_000


@dataclass(frozen=True)
class Written:
    delta: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True)
class WrittenBatch:
    base_offset: int
    leader_epoch: int
    records: tuple[Written, ...]
    last_delta: int

    @property
    def bytes(self) -> bytes:
        body = b"".join(record(each.delta, each.key, each.value, each.delta) for each in self.records)
        return Batch(
            body,
            len(self.records),
            base_offset=self.base_offset,
            leader_epoch=self.leader_epoch,
            last_delta=self.last_delta,
            base_time=T0 + self.base_offset,
            max_time=T0 + self.base_offset + self.last_delta,
        ).bytes()

    @property
    def keys(self) -> set[tuple[int, int]]:
        """Offset and leader epoch of each record."""
        return {(self.base_offset + each.delta, self.leader_epoch) for each in self.records}


def commit(group: str, topic: str, partition: int, offset: int) -> tuple[bytes, bytes]:
    record = REGISTRY[1]
    (shape,) = record.value.shapes_of(3)
    value = {"offset": offset, "leader_epoch": -1, "metadata": "", "commit_timestamp": T0 + offset}
    return encode_key(record, {"group": group, "topic": topic, "partition": partition}), encode_value(shape, 3, value)


def random_log(rng: np.random.Generator, num_batches: int, first_offset: int = 0) -> list[WrittenBatch]:
    """Commits, deletions of them, and now and then a key that nobody knows; leader epochs rise along the way."""
    offset, epoch, log = first_offset, int(rng.integers(0, 3)), []
    for _ in range(num_batches):
        count = int(rng.integers(1, 8))
        epoch += int(rng.random() < 0.05)
        records = tuple(Written(delta, *random_record(rng, offset + delta)) for delta in range(count))
        log.append(WrittenBatch(offset, epoch, records, count - 1))
        offset += count
    return log


def random_record(rng: np.random.Generator, offset: int) -> tuple[bytes, bytes | None]:
    key, value = commit(f"group-{rng.integers(0, 5)}", f"topic-{rng.integers(0, 3)}", int(rng.integers(0, 4)), offset)
    chance = rng.random()
    if chance < 0.1:
        return key, None
    return (b"\x00\x63" + key[2:], value) if chance < 0.13 else (key, value)


def compacted(log: Iterable[WrittenBatch], rng: np.random.Generator, share: float) -> list[WrittenBatch]:
    """As the cleaner leaves it: batches keep their offsets, those without records go."""
    left = (replace(batch, records=tuple(each for each in batch.records if rng.random() >= share)) for batch in log)
    return [batch for batch in left if batch.records]


def write_copy(folder: Path, partition: int, log: Sequence[WrittenBatch], rng: np.random.Generator) -> Path:
    """Segments of a few batches each, as one broker has them."""
    home = folder / f"__consumer_offsets-{partition}"
    home.mkdir(parents=True, exist_ok=True)
    start = 0
    while start < len(log):
        stop = start + int(rng.integers(1, max(2, len(log) // 2)))
        content = b"".join(batch.bytes for batch in log[start:stop])
        (home / f"{log[start].base_offset:020}.log").write_bytes(content)
        start = stop
    return folder


def keys_of(log: Iterable[WrittenBatch]) -> set[tuple[int, int]]:
    return {key for batch in log for key in batch.keys}
