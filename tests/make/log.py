"""Logs of one offsets partition, written operation by operation.

    log = Log((0, created()), (3100, value(1, "a: t0 t1, b: t2", state=3000)))
    log.write(9000, value(2, "a: t0 t1", state=8900))
    log.skip(3)                    # offsets that are missing: compacted away
    log.hole(100)                  # offsets that no run has seen
    log.write(9500, commit("t0", 7), producer=7)
    log.append(ended(9600, 7))     # the marker of its transaction
    print(log.text())

Times are milliseconds. What is written at once is one batch. Records are values as dictionaries, which are encoded only
when the log is read: so several logs can be written side by side into one offsets partition (`tests/make/history.py`).
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.records import REGISTRY
from tests.builders.logs.batches import batch_of, record
from tests.builders.records.encoder import encode_key, encode_value
from udfs.arrays.slices import PADDING
from udfs.decoding.decode import decode
from udfs.framing.frame import frame
from udfs.rows.origin import Origin
from udfs.rows.shape import Shaper

IS_TRANSACTIONAL: Final = 1 << 4
IS_CONTROL: Final = 1 << 5
ABORT, COMMIT = range(2)
NO_PRODUCER: Final = -1
# Recent, so that no broker finds it too old to keep.
T0: Final = 1_795_000_000_000
CLUSTER: Final = "c"
# The time of the record itself.
NOW: Final = "now"
PARTITION: Final = 3
# Every log has offsets of its own in one call of the decoder.
ROOM: Final = 1 << 32
OFFSETS: Final = ("record_offset", "batch_first_offset")
# Fields of values that hold a time.
TIMES: Final = ("current_state_timestamp", "commit_timestamp", "expire_timestamp", "assignment_timestamp", "timestamp")
# What an archive does not have.
NOT_ARCHIVED: Final = (
    "batch_first_offset", "batch_bytes", "partition_leader_epoch", "is_transactional", "producer_id",
    "producer_epoch",
)  # fmt: skip
Decoded = Mapping[str, pa.Table]


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
        attributes = IS_CONTROL * self.is_control | IS_TRANSACTIONAL * (
            self.producer_id != NO_PRODUCER and self.is_transactional
        )
        return batch_of(
            *body, base_offset=self.base_offset, last_delta=self.last_offset - self.base_offset, base_time=base_time,
            max_time=max(each.time for each in self.records), attributes=attributes, producer_id=self.producer_id,
            producer_epoch=self.producer_epoch if self.producer_id != NO_PRODUCER else -1,
            leader_epoch=self.leader_epoch,
        )  # fmt: skip


def marker(outcome: int) -> tuple[bytes, bytes]:
    return struct.pack(">hh", 0, outcome), struct.pack(">hi", 0, 3)


@dataclass(frozen=True)
class Op:
    """A record of one type. `value` None: a tombstone. `words`: members as a case has them."""

    number: int
    key: Mapping[str, Any]
    value: Mapping[str, Any] | None
    version: int
    words: str = ""
    # Its last byte is missing.
    is_cut: bool = False
    # Milliseconds after the first record of its batch.
    later: int = 0

    def __iter__(self) -> Iterator[bytes | None]:
        """Key and value in bytes."""
        return iter(self.encoded())

    def but(self, **changes: Any) -> "Op":
        return replace(self, **changes)

    def encoded(self, prefix: str = "", shift: int = 0, now: int = T0) -> tuple[bytes, bytes | None]:
        """With another name of the group, and times that are later by so much. `now`: of the record."""
        kind = REGISTRY[self.number]
        name = "group" if self.number <= 2 else "group_id"
        key = encode_key(kind, {**self.key, name: prefix + self.key[name]})
        if self.value is None:
            return key, None
        times = {name: self.value[name] for name in TIMES if name in self.value}
        moved = {name: now if at == NOW else at + shift if at > 0 else at for name, at in times.items()}
        shape = kind.value.shapes_of(self.version)[0]
        value = encode_value(shape, self.version, {**self.value, **moved})
        return key, value[:-1] if self.is_cut else value

    def text(self) -> str:
        if self.value is None:
            return f"{self.number:>2} {list(self.key.values())} tombstone"
        fields = {name: each for name, each in self.value.items() if name != "members" or not self.words}
        fields |= {name: at - T0 for name in TIMES if isinstance(at := fields.get(name), int) and at > 0}
        return f"{self.number:>2} {list(self.key.values())} {self.words} {fields}"


def op(number: int, key: Mapping[str, Any], value: Mapping[str, Any] | None, version: int | None = None) -> Op:
    """In the form of today's release unless a version is named."""
    return Op(number, key, value, REGISTRY[number].value.highest_version if version is None else version)


def at(time: int | str | None) -> int | str:
    """A time of a value as Kafka writes it."""
    return -1 if time is None else time if isinstance(time, str) else T0 + time


@dataclass(frozen=True)
class Batch:
    """`ops`: None where the cleaner took one. `outcome` of a marker. `skipped`: missing offsets before it; `unseen`: of
    these, the first so many were not even seen."""

    first: int
    time: int | None
    ops: tuple[Op | None, ...]
    epoch: int = 0
    producer: int = NO_PRODUCER
    outcome: int | None = None
    skipped: int = 0
    unseen: int = 0
    producer_epoch: int = 0
    is_transactional: bool = True

    @property
    def last(self) -> int:
        return self.first + max(len(self.ops), 1) - 1

    def logged(self, first: int, prefix: str = "", shift: int = 0, producers: int = 0) -> LoggedBatch:
        """Its bytes, from another offset on."""
        time = -1 if self.time is None else T0 + shift + self.time
        is_marker = self.outcome is not None
        if is_marker:
            kept = [Kept(first, time, *marker(self.outcome))]
        else:
            kept = [Kept(first + place, time + each.later, *each.encoded(prefix, shift, time))
                    for place, each in enumerate(self.ops) if each is not None]  # fmt: skip
        producer = self.producer if self.producer == NO_PRODUCER else self.producer + producers
        return LoggedBatch(
            first, first + self.last - self.first, tuple(kept), producer, is_control=is_marker, leader_epoch=self.epoch,
            producer_epoch=self.producer_epoch, is_transactional=self.is_transactional,
        )  # fmt: skip


# An operation as `write` takes it, with its keywords as a dictionary at the end.
Entry = int | str | Batch | tuple[Any, ...]
TOPICS: Final = {-1: {"t": 4, "u": 4, "v": 4, "w": 4}}


class Log:
    """`entries`: operations, batches of another log, numbers of missing offsets; "5": so many that no run has seen.

    What a replay knows beside the log: `topics` of snapshots, by time and name the number of partitions; `slices`, into
    how many its groups are cut; `lacks`, columns that an archive does not have; other `rules`.
    """

    def __init__(
        self, *entries: Entry, topics: Mapping[int, Mapping[str, int]] = TOPICS, slices: int = 1,
        lacks: Sequence[str] = (), **rules: Any,
    ) -> None:  # fmt: skip
        self.batches: list[Batch] = []
        self.offset, self.gap, self.unseen = 0, 0, 0
        self.known: dict[str, Any] = {"topics": topics, "slices": slices, "lacks": lacks, **rules}
        self.add(*entries)

    def add(self, *entries: Entry) -> "Log":
        for entry in entries:
            if isinstance(entry, int):
                self.skip(entry)
            elif isinstance(entry, str):
                self.hole(int(entry))
            elif isinstance(entry, Batch):
                self.append(entry)
            elif isinstance(entry[-1], dict):
                self.write(*entry[:-1], **entry[-1])
            else:
                self.write(*entry)
        return self

    def write(self, time: int | None, *ops: Op | Sequence[Op], **more: Any) -> "Log":
        """One operation. `more`: fields of the batch."""
        flat = tuple(each for some in ops for each in ([some] if isinstance(some, Op) else some))
        return self.append(Batch(0, time, flat, **more))

    def append(self, batch: Batch) -> "Log":
        first = self.offset + batch.skipped + self.gap
        self.batches.append(replace(batch, first=first, skipped=batch.skipped + self.gap,
                                    unseen=batch.unseen + self.unseen))  # fmt: skip
        self.offset, self.gap, self.unseen = self.batches[-1].last + 1, 0, 0
        return self

    def skip(self, count: int) -> "Log":
        self.gap += count
        return self

    def hole(self, count: int) -> "Log":
        self.gap += count
        self.unseen += count
        return self

    @property
    def company(self) -> str | None:
        """Logs of which it is equal may stand side by side in an offsets partition; None: no other may."""
        is_alone = any(each.skipped or each.epoch or None in each.ops for each in self.batches)
        return None if is_alone else repr(self.known)

    @property
    def missing(self) -> set[int]:
        """Offsets below the last record that have none."""
        between = {each.first - step for each in self.batches for step in range(1, each.skipped + 1)}
        return between | {
            each.first + place for each in self.batches for place, one in enumerate(each.ops) if one is None
        }

    def without(self, places: set[int]) -> "Log":
        """Without these batches, and the offsets as if they had never been written."""
        return Log(*(each for place, each in enumerate(self.batches) if place not in places), **self.known)

    def damaged(self, chance: Random, share: float = 0.1) -> "Log":
        """So many of its batches are not there any more, seen by no run, or lack a record, or have one that is cut."""
        result = Log(**self.known)
        for each in self.batches:
            place, kind = chance.randrange(max(len(each.ops), 1)), chance.random() / share
            if kind < 1 / 2 or (kind < 1 and (len(each.ops) < 2 or each.ops[place] is None)):
                result.add(each.skipped + max(len(each.ops), 1) if kind < 1 / 4 else str(max(len(each.ops), 1)))
            elif kind < 1:
                ops = list(each.ops)
                ops[place] = None if kind < 3 / 4 else ops[place].but(is_cut=True)
                result.append(replace(each, ops=tuple(ops)))
            else:
                result.append(each)
        return result

    def logged(self) -> list[LoggedBatch]:
        return [each.logged(each.first) for each in self.batches]

    def text(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        for each in self.batches:
            if each.skipped:
                yield f"   …  {each.skipped} offsets are missing" + (", which no run has seen" if each.unseen else "")
            beside = f" epoch {each.epoch}" * bool(each.epoch) + f" producer {each.producer}" * (each.producer >= 0)
            if each.outcome is not None:
                yield f"{each.first:>4}  {each.time}{beside} {'ABORT' if each.outcome == ABORT else 'COMMIT'}"
            for place, one in enumerate(each.ops):
                text = "missing" if one is None else one.text()
                yield f"{each.first + place:>4}  {each.time if place == 0 else '  |'}{beside} {text}"


def ended(time: int | None, producer: int = 7, outcome: int = COMMIT, epoch: int = 0) -> Batch:
    """A marker."""
    return Batch(0, time, (), 0, producer, outcome, producer_epoch=epoch)


def write(folder: Path, partition: int, batches: Iterable[LoggedBatch]) -> None:
    """Into one segment."""
    home = folder / f"__consumer_offsets-{partition}"
    home.mkdir(parents=True)
    batches = list(batches)
    name = f"{0:020}.log"
    (home / name).write_bytes(b"".join(batch.bytes() for batch in batches))


def decoded(logs: Sequence[Sequence[LoggedBatch]]) -> list[Decoded]:
    """The tables of each log, as an ingest makes them. One call of the decoder costs the same for one log as for
    hundreds."""
    tables = tables_of(logs)
    return [{name: of_log(rows, number) for name, rows in tables.items()} for number in range(len(logs))]


def tables_of(logs: Sequence[Sequence[LoggedBatch]]) -> dict[str, pa.Table]:
    """Of all logs, with offsets that begin at as many times ROOM as a log's place."""
    content = b"".join(moved(each.bytes(), number) for number, log in enumerate(logs) for each in log)
    data = np.frombuffer(bytearray(content + bytes(PADDING)), np.uint8)
    framed = frame(data, len(content))
    assert not framed.rejected
    records = framed.records
    answers = decode(records.keys, records.values, records.is_control)
    return Shaper().tables(records, answers, Origin(CLUSTER, PARTITION, ""))


def moved(batch: bytes, number: int) -> bytes:
    """The checksum does not cover the base offset."""
    return (int.from_bytes(batch[:8], "big") + number * ROOM).to_bytes(8, "big") + batch[8:]


def of_log(rows: pa.Table, number: int) -> pa.Table:
    result = between(rows, number * ROOM, (number + 1) * ROOM - 1)
    for name in OFFSETS:
        place = result.schema.get_field_index(name)
        result = result.set_column(place, result.schema.field(place), pc.subtract(result.column(name), number * ROOM))
    return result


def between(rows: pa.Table, first: int, last: int) -> pa.Table:
    offsets = rows.column("record_offset").to_numpy()
    return rows.filter(pa.array((offsets >= first) & (offsets <= last)))


def without_columns(rows: pa.Table, names: Sequence[str] = NOT_ARCHIVED) -> pa.Table:
    """The same with NULL in these columns."""
    for name in names:
        place = rows.schema.get_field_index(name)
        if place >= 0:
            field = rows.schema.field(place)
            rows = rows.set_column(place, field, pa.nulls(rows.num_rows, field.type))
    return rows
