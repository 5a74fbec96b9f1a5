"""A run of whole batches of an offsets partition with its counts, from any source."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from udfs.framing.log_bytes.framed_records import Framed, Rejected


@dataclass
class SpanFacts:
    """The row of `source_files` of a file or a fetched range, for the span that one task read. `start` and `read_to`
    are byte positions."""

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
    # For a live log: its first offset, if it has moved into the range since the plan was made.
    log_start: int | None = None


class LogSpan(Protocol):
    @property
    def name(self) -> str:
        """The name in `source_files`."""
        ...

    @property
    def size(self) -> int:
        """Size in bytes, as far as it is known before reading."""
        ...

    def facts(self) -> SpanFacts:
        """What is known before reading."""
        ...

    def framed_pieces(self, piece_bytes: int) -> Iterator[Framed]:
        """Yields its records, about this many bytes at a time."""
        ...

    def is_torn_end(self, rejected: Rejected) -> bool:
        """Whether this is the batch that a broker was still writing."""
        ...

    def complete(self, facts: SpanFacts) -> None:
        """Adds what is known only after reading."""
        ...
