"""A run of whole batches of an offsets partition with its counts, from any source."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from udfs.framing.framed import Framed, Rejected


@dataclass
class SpanFacts:
    """What `source_files` says of a file or a fetched range, for the part that one task read. `start` and `read_to` are
    positions of bytes."""

    source_file: str
    start: int
    read_to: int
    partition: int | None = None
    num_records: int = 0
    num_batches: int = 0
    num_tombstones: int = 0
    num_delete_horizon_batches: int = 0
    torn_tail_bytes: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    first_batch_crc: int | None = None
    last_batch_position: int | None = None
    last_batch_crc: int | None = None
    # Of a live log: its first offset, where that has moved into the range meanwhile.
    log_start: int | None = None


class LogSpan(Protocol):
    @property
    def name(self) -> str:
        """As `source_files` has it."""
        ...

    @property
    def size(self) -> int:
        """Bytes, as far as it is known before they are read."""
        ...

    def facts(self) -> SpanFacts:
        """What is known of it before it is read."""
        ...

    def framed_pieces(self, piece_bytes: int) -> Iterator[Framed]:
        """Its records, about so many bytes at a time."""
        ...

    def is_torn_end(self, rejected: Rejected) -> bool:
        """Whether it is the batch that a broker was still writing."""
        ...

    def complete(self, facts: SpanFacts) -> None:
        """What shows only when it has been read."""
        ...
