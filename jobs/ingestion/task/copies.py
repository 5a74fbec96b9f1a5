"""Reads one copy of a span of an offsets partition in log order: records, bytes that could not be framed, and
counts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from jobs.ingestion.task.damaged_bytes import without_damaged
from jobs.ingestion.task.plan import CopySpan
from jobs.output.failure import Failure
from jobs.sources.log_span import SpanFacts
from jobs.sources.segment_files import Span, chunks
from schemas.words.exit_codes import ExitCode
from schemas.words.records import RejectReason
from udfs.framing.log_bytes.framed_records import Framed, Records, Rejected
from udfs.framing.offset_order import with_rising_offsets
from udfs.framing.rejected_ranges import RejectedRange, RejectedRanges
from udfs.log.offset_ranges import Range

MOST_RECORDS = 262_144
MOST_BYTES = 48 << 20


@dataclass
class Copy:
    """Reads its spans one after the other; `records` yields them in pieces, with ascending offsets."""

    spans: Iterable[CopySpan]
    piece_bytes: int
    facts: list[SpanFacts] = field(default_factory=list)
    rejected: RejectedRanges = field(default_factory=RejectedRanges)
    last_offset: int | None = None
    # The offsets that were read.
    covered: list[Range] = field(default_factory=list)

    @property
    def ranges(self) -> list[RejectedRange]:
        return self.rejected.closed

    def chunks(self) -> Iterator[Records]:
        """Chunks with as many records as decode efficiently together."""
        for records in self.records():
            yield from chunks(records, MOST_RECORDS, MOST_BYTES)

    def records(self) -> Iterator[Records]:
        for part in self.spans:
            facts = part.span.facts()
            self.facts.append(facts)
            if part.is_first_known:
                self.rejected.begin(part.first)
            for framed in self.framed_pieces(part, facts):
                note(framed, facts)
                if len(framed.records):
                    self.check_rising(framed.records, facts.source_file)
                    yield framed.records
            if part.last is not None:
                self.rejected.close(part.last)
            self.note_covered(part, facts)
            part.span.complete(facts)
        self.rejected.close(None)
        self.go_back_to_open_end()

    def go_back_to_open_end(self) -> None:
        """Reads damage at the end again once something follows it: then its offsets are known."""
        for facts in self.facts[-1:]:
            for each in self.ranges:
                if each.source_file == facts.source_file and each.to_record_offset is None:
                    facts.read_to = min(facts.read_to, each.rejected.byte_position)

    def note_covered(self, part: CopySpan, facts: SpanFacts) -> None:
        first = part.first if part.is_first_known else facts.first_offset
        last = self.rejected.before if part.last is None else part.last
        if first is not None and last is not None and first <= last:
            self.covered.append((first, last))

    def intact(self) -> list[Range]:
        """Offsets that this copy has, or whose absence shows that compaction removed them."""
        return without_damaged(self.covered, self.ranges)

    def framed_pieces(self, part: CopySpan, facts: SpanFacts) -> Iterator[Framed]:
        """Without faulty parts, which are noted."""
        bounds = (part.first - 1, part.last) if isinstance(part.span, Span) else (-1, None)
        zeros, before = 0, bounds[0]
        for piece in part.span.framed_pieces(self.piece_bytes):
            framed = with_rising_offsets(piece, before, bounds[1])
            torn = [each for each in framed.rejected if part.is_newest and part.span.is_torn_end(each)]
            for each in torn:
                facts.torn_tail_bytes, facts.read_to = each.size_bytes, each.byte_position
            rejected = [each for each in framed.rejected if each not in torn]
            self.rejected.take(framed.batches, rejected, facts.source_file)
            if len(framed.batches):
                before = int(framed.batches.last_offset[-1])
            # Zeros at the end of a piece may continue in the next one, and end there.
            zeros = framed.zero_tail_bytes + (zeros if is_nothing(framed) else 0)
            yield framed
        facts.read_to -= zeros
        if zeros and part.last is not None and self.rejected.may_hold(part.last):
            # Brokers truncate preallocated space when a segment is full. So these zeros were batches.
            facts.read_to += zeros
            wrong = Rejected(
                facts.read_to - zeros, zeros, RejectReason.BAD_LENGTH, "batch_length", "only zero bytes to the end"
            )
            self.rejected.wait(wrong, facts.source_file)

    def check_rising(self, records: Records, source_file: str) -> None:
        offsets = records.offset
        before = self.last_offset if self.last_offset is not None else int(offsets[0]) - 1
        steps = np.diff(offsets, prepend=before)
        if (steps <= 0).any():
            row = int(np.flatnonzero(steps <= 0)[0])
            follows = before if row == 0 else int(offsets[row - 1])
            line = (
                f"offset {offsets[row]} comes after {follows}; offsets must rise: does the folder mix two "
                "brokers' copies?"
            )
            raise Failure(ExitCode.UNREADABLE_INPUT, f"{source_file}: {line}")
        self.last_offset = int(offsets[-1])


def is_nothing(framed: Framed) -> bool:
    return not len(framed.batches) and not framed.rejected


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
