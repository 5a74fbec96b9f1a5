"""A range of offsets of a live log. The task that decodes it fetches it.

The task opens the connection itself. The cluster's address and the credentials travel to it only inside the pickled
function.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from jobs.broker.client_properties import ClientProperties
from jobs.broker.fetch import FetchedBatches, fetch
from jobs.ingestion.task.plan import CopySpan, PartitionSpan
from jobs.sources.log_span import SpanFacts
from schemas.words.records import OFFSETS_TOPIC
from udfs.arrays.slices import PADDING
from udfs.framing.frame import frame
from udfs.framing.log_bytes.framed_records import Framed, Rejected

if TYPE_CHECKING:
    from jobs.broker.cluster import KafkaCluster
    from jobs.ingestion.task.task import Task

# Bytes assumed per offset, until the first response shows the real number.
BYTES_PER_OFFSET = 128
MOST_AT_ONCE = 8 << 20
LEAST_AT_ONCE = 64 << 10
BASE_OFFSET_BYTES, LENGTH_END, MAGIC_AT = 8, 12, 16


@dataclass(frozen=True)
class LiveLog:
    """Where the offsets topic is read."""

    servers: str
    properties: ClientProperties
    topic: str = OFFSETS_TOPIC

    @contextmanager
    def connect(self, is_known_to_answer: bool = False) -> "Iterator[KafkaCluster]":
        # Imported here: the client's library is optional, and slow to import.
        from jobs.broker.cluster import KafkaCluster

        with KafkaCluster(self.servers, self.properties, is_known_to_answer) as cluster:
            yield cluster

    def name(self, partition: int, start: int) -> str:
        """The name of a fetched range in `source_files`."""
        return f"kafka:{self.topic}-{partition}@{start}"


@dataclass
class LiveSpan:
    """Offsets from `start` to below `end`; `size`: their approximate number of bytes."""

    name: str
    topic: str
    partition: int
    start: int
    end: int
    size: int
    cluster: "KafkaCluster | None" = field(default=None, repr=False)
    num_bytes: int = 0
    log_start: int | None = None

    def facts(self) -> SpanFacts:
        return SpanFacts(self.name, 0, 0)

    def framed_pieces(self, piece_bytes: int) -> Iterator[Framed]:
        for answer in self.answers(min(piece_bytes, MOST_AT_ONCE)):
            if answer.log_start_offset > self.start:
                self.log_start = answer.log_start_offset
            content = below(answer.content, self.end) if answer.next_offset > self.end else answer.content
            for framed in frames(content, self.num_bytes):
                yield within(framed, self.start, self.end)
            self.num_bytes += len(content)

    def answers(self, most_bytes: int) -> Iterator[FetchedBatches]:
        """Requests only as much as the rest is likely to need, since the last response also has what follows the
        end."""
        assert self.cluster is not None
        position, size = self.start, self.size
        num_bytes = 0
        while position < self.end:
            most = min(most_bytes, max(size, LEAST_AT_ONCE))
            answer = next(fetch(self.cluster, self.topic, self.partition, position, self.end, most))
            yield answer
            num_bytes, position = num_bytes + len(answer.content), answer.next_offset
            density = num_bytes / max(position - self.start, 1)
            size = int(density * (self.end - position)) * 9 // 8 + LEAST_AT_ONCE

    def is_torn_end(self, rejected: Rejected) -> bool:
        """Brokers return only whole batches."""
        return False

    def complete(self, facts: SpanFacts) -> None:
        facts.read_to, facts.log_start = self.num_bytes, self.log_start


def live_steps(log: LiveLog, units: Iterable[PartitionSpan], task: "Task") -> Iterator[None]:
    with log.connect(is_known_to_answer=True) as cluster:
        for unit in units:
            copies = tuple(tuple(with_cluster(cluster, parts)) for parts in unit.copies)
            yield from task.take_on(replace(unit, copies=copies))


def with_cluster(cluster: "KafkaCluster", parts: Iterable[CopySpan]) -> Iterator[CopySpan]:
    for part in parts:
        assert isinstance(part.span, LiveSpan)
        yield replace(part, span=replace(part.span, cluster=cluster))


def below(content: bytes, end: int) -> bytes:
    """The batches that begin below an offset."""
    position = 0
    while position < len(content):
        is_legacy = content[position + MAGIC_AT] < 2
        # A compressed legacy message has the offset of its last message.
        if not is_legacy and int.from_bytes(content[position : position + BASE_OFFSET_BYTES], "big") >= end:
            break
        length = int.from_bytes(content[position + BASE_OFFSET_BYTES : position + LENGTH_END], "big")
        position += LENGTH_END + length
    return content[:position]


def frames(content: bytes, base_position: int) -> Iterator[Framed]:
    """Frames of whole batches; several for compressed ones that would be too large together."""
    position = 0
    while position < len(content):
        size = len(content) - position
        data = np.empty(size + PADDING + size // 2, np.uint8)
        data[:size] = np.frombuffer(content, np.uint8, size, position)
        data[size : size + PADDING] = 0
        framed = frame(data, size, base_position=base_position + position)
        yield framed
        if not framed.consumed:
            return
        position += framed.consumed


def within(framed: Framed, start: int, end: int) -> Framed:
    """A batch may extend past either end of the range."""
    offsets = framed.records.offset
    if len(offsets) and (offsets[0] < start or offsets[-1] >= end):
        rows = np.flatnonzero((offsets >= start) & (offsets < end))
        return replace(framed, records=framed.records.take(rows))
    return framed
