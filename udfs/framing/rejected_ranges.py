"""Rejected ranges of bytes, the offsets that they may hold, and how many records they held.

The definition, for all ranges between two good batches together (adjacent ones lie in one gap of the offsets):

- The offsets that may be lost are those between the batch before and the batch after, or the bounds of the segment.
- Headers are believed when their lengths fill the range exactly and their offsets rise and lie between these bounds. A
  header that names fewer records than offsets is believed only when no range of the gap is unreadable and the headers
  leave offsets out: both show that the cleaner has been here. In a log that was never compacted every batch is full.
- Believed: the header's number of records. Not believed: the offsets that the others leave, `is_num_records_estimated`.
- Where a bound is not known (nothing follows; the file's name says no first offset), 1 in place of these.

So of a log that was never compacted, records read + records of rejected ranges = all offsets, exactly.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from udfs.framing.log_bytes.framed_records import Batches, Claim, Rejected


@dataclass
class RejectedRange:
    """Bytes that made no batch, and the offsets that they may hold, as far as the batches around them say."""

    source_file: str
    rejected: Rejected
    from_record_offset: int | None = None
    to_record_offset: int | None = None
    num_records: int = 1
    is_num_records_estimated: bool = True


@dataclass
class RejectedRanges:
    """Takes the batches and the rejected ranges of a log in order. `before`: the last offset before what comes; None:
    not known."""

    before: int | None = None
    closed: list[RejectedRange] = field(default_factory=list)
    waiting: list[RejectedRange] = field(default_factory=list)

    def begin(self, first: int) -> None:
        """No offset of what comes is below, as its name says."""
        if not self.waiting:
            self.before = first - 1 if self.before is None else max(first - 1, self.before)

    def may_hold(self, last: int) -> bool:
        """Whether offsets up to this one are missing."""
        return self.before is None or self.before < last

    def wait(self, rejected: Rejected, source_file: str) -> None:
        self.waiting.append(RejectedRange(source_file, rejected))

    def take(self, batches: Batches, rejected: Sequence[Rejected], source_file: str) -> None:
        done = 0
        for each in rejected:
            end = int(np.searchsorted(batches.position, each.byte_position))
            self.pass_batches(batches, done, end)
            self.wait(each, source_file)
            done = end
        self.pass_batches(batches, done, len(batches))

    def pass_batches(self, batches: Batches, first: int, end: int) -> None:
        if first < end:
            self.close(int(batches.base_offset[first]) - 1)
            self.before = int(batches.last_offset[end - 1])

    def close(self, last: int | None) -> None:
        """Nothing above `last` can be in the ranges that wait; None: nothing follows them."""
        if self.waiting:
            note_offsets(self.waiting, None if self.before is None else self.before + 1, last)
            self.closed += self.waiting
            self.waiting = []


def note_offsets(ranges: Sequence[RejectedRange], first: int | None, last: int | None) -> None:
    """Of the ranges between two good batches."""
    total = None if first is None or last is None else max(last - first + 1, 0)
    believed = believed_of(ranges, first, last, total)
    for each in believed:
        each.num_records = sum(claim.num_records for claim in each.rejected.claims)
        each.is_num_records_estimated = False
    if total is not None:
        are_believed = set(map(id, believed))
        left = total - sum(map(num_offsets, claims_of(believed)))
        share_out(left, [each for each in ranges if id(each) not in are_believed])
    if first is None:
        first = lowest_offset(ranges, believed, last)
    for each in ranges:
        each.from_record_offset, each.to_record_offset = first, last
        # Of no more use, and they may be many.
        each.rejected = replace(each.rejected, claims=())


def believed_of(
    ranges: Sequence[RejectedRange], first: int | None, last: int | None, total: int | None
) -> Sequence[RejectedRange]:
    """Those whose headers are believed."""
    readable = [each for each in ranges if lie_between(each.rejected.claims, first, last)]
    claimed = claims_of(readable)
    leaves_out = total is None or sum(map(num_offsets, claimed)) < total
    if len(readable) == len(ranges) and leaves_out and is_rising(claimed):
        return readable
    full = [each for each in readable if all(map(is_full, each.rejected.claims))]
    return full if is_rising(claims_of(full)) else []


def claims_of(ranges: Iterable[RejectedRange]) -> list[Claim]:
    return [claim for each in ranges for claim in each.rejected.claims]


def lie_between(claims: Sequence[Claim], first: int | None, last: int | None) -> bool:
    return bool(claims) and all(
        max(first or 0, 0) <= claim.base_offset
        and (last is None or claim.last_offset <= last)
        and 0 < claim.num_records <= num_offsets(claim)
        for claim in claims
    )


def is_rising(claims: Sequence[Claim]) -> bool:
    return all(one.last_offset < other.base_offset for one, other in pairwise(claims))


def is_full(claim: Claim) -> bool:
    return claim.num_records == num_offsets(claim)


def num_offsets(claim: Claim) -> int:
    return claim.last_offset - claim.base_offset + 1


def share_out(number: int, ranges: Sequence[RejectedRange]) -> None:
    """One for each as far as they suffice, the rest for the first: nothing shows where in the bytes they were."""
    for place, each in enumerate(ranges):
        each.num_records = int(place < number)
    if ranges and number > len(ranges):
        ranges[0].num_records += number - len(ranges)


def lowest_offset(ranges: Sequence[RejectedRange], believed: Sequence[RejectedRange], last: int | None) -> int | None:
    """Where no bound is known below."""
    if last is not None:
        return max(last - sum(each.num_records for each in ranges) + 1, 0)
    return believed[0].rejected.claims[0].base_offset if len(believed) else None
