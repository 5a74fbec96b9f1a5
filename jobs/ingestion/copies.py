"""One copy of a stretch of an offsets partition, read in log order: records, what could not be framed, and counts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from jobs.failure import Failure
from jobs.ingestion.log_span import SpanFacts
from jobs.ingestion.plan import Part
from schemas.exit_codes import ExitCode
from udfs.framing.framed import Batches, Framed, Records, Rejected


@dataclass
class RejectedRange:
    """Bytes that made no batch, and the offsets that they may hold, as far as the batches around them tell."""

    source_file: str
    rejected: Rejected
    from_offset: int
    to_offset: int | None = None


@dataclass
class Copy:
    """Reads its spans one after the other; `records` gives them a piece at a time, offsets rising."""

    spans: Iterable[Part]
    piece_bytes: int
    facts: list[SpanFacts] = field(default_factory=list)
    ranges: list[RejectedRange] = field(default_factory=list)
    last_offset: int | None = None
    end_of_batches: int = -1

    def records(self) -> Iterator[Records]:
        for part in self.spans:
            facts = part.span.facts()
            self.facts.append(facts)
            self.end_of_batches = max(self.end_of_batches, part.first - 1)
            for framed in part.span.framed_pieces(self.piece_bytes):
                self.note_ranges(framed, part, facts)
                note(framed, facts)
                if len(framed.records):
                    self.check_rising(framed.records, facts.source_file)
                    yield framed.records
            if part.last is not None:
                self.close_ranges(part.last + 1)
            part.span.complete(facts)

    def check_rising(self, records: Records, source_file: str) -> None:
        offsets = records.offset
        before = self.last_offset if self.last_offset is not None else int(offsets[0]) - 1
        steps = np.diff(offsets, prepend=before)
        if (steps <= 0).any():
            row = int(np.flatnonzero(steps <= 0)[0])
            follows = before if row == 0 else int(offsets[row - 1])
            told = f"offset {offsets[row]} follows {follows}, rising offsets were expected: copies lie in one folder?"
            raise Failure(ExitCode.UNREADABLE_INPUT, f"{source_file}: {told}")
        self.last_offset = int(offsets[-1])

    def note_ranges(self, framed: Framed, part: Part, facts: SpanFacts) -> None:
        """Ranges lie between batches: the one before may have come with an earlier piece, the one after is awaited."""
        batches = framed.batches
        if len(batches):
            self.close_ranges(int(batches.base_offset[0]))
        for rejected in framed.rejected:
            if part.is_newest and part.span.is_torn_end(rejected):
                facts.torn_tail_bytes, facts.read_to = rejected.size_bytes, rejected.byte_position
                continue
            before, after = neighbours(batches, rejected.byte_position)
            first = (self.end_of_batches if before is None else before) + 1
            self.ranges.append(RejectedRange(facts.source_file, rejected, first, None if after is None else after - 1))
        if framed.zero_tail_bytes:
            facts.read_to -= framed.zero_tail_bytes
        if len(batches):
            self.end_of_batches = int(batches.last_offset[-1])

    def close_ranges(self, base_offset: int) -> None:
        for waiting in self.ranges:
            if waiting.to_offset is None:
                waiting.to_offset = base_offset - 1


def neighbours(batches: Batches, position: int) -> tuple[int | None, int | None]:
    """Last offset of the batch before the position, first offset of the one behind it."""
    after = int(np.searchsorted(batches.position, position))
    before_offset = int(batches.last_offset[after - 1]) if after else None
    return before_offset, int(batches.base_offset[after]) if after < len(batches) else None


def note(framed: Framed, facts: SpanFacts) -> None:
    records, batches = framed.records, framed.batches
    facts.num_records += len(records)
    facts.num_tombstones += int(np.count_nonzero((records.values.length < 0) & ~records.is_control))
    facts.num_batches += len(batches)
    facts.num_delete_horizon_batches += int(np.count_nonzero(batches.has_delete_horizon))
    if len(records):
        facts.first_offset = int(records.offset[0]) if facts.first_offset is None else facts.first_offset
        facts.last_offset = int(records.offset[-1])
    if len(batches):
        facts.last_batch_position = int(batches.position[-1])
