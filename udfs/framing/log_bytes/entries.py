"""Finds the entries of a log (record batches and the older messages), and continues after bytes that are not
entries."""

from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct

import numpy as np

from schemas.words.records import RejectReason
from udfs.arrays.big_endian import Positions
from udfs.framing.log_bytes.checksums import Bytes, crc32, crc32c
from udfs.framing.log_bytes.framed_records import Fault, Rejected
from udfs.framing.log_bytes.kernels import good_entries
from udfs.framing.log_bytes.resync import (
    CHECKED_FROM,
    LARGEST_ENTRY,
    PREFIX_SIZE,
    SHORTEST_LOOK,
    SMALLEST_ENTRY,
    Resync,
)

read_batch_prefix = Struct(">i4xBI").unpack_from  # size, magic, checksum; skips the leader epoch
read_message_prefix = Struct(">iIB").unpack_from  # size, checksum, magic

# The first bytes of an entry may all be zero (offset 0, a small size). So this many zeros at the end are not treated as
# a tail of zeros while more bytes may follow.
ZEROS_THAT_MAY_BEGIN_AN_ENTRY = SHORTEST_LOOK - 1


@dataclass
class Entries:
    """Entries with the right checksum, and everything else in the bytes."""

    start: Positions = field(default_factory=lambda: np.zeros(0, np.int64))
    rejected: list[Rejected] = field(default_factory=list)
    consumed: int = 0
    zero_tail_bytes: int = 0
    torn_tail_bytes: int = 0


@dataclass(frozen=True)
class BadEntry:
    fault: Fault
    claimed_end: int | None = None
    is_incomplete: bool = False  # might be good if more bytes followed


def find_entries(data: Bytes, size: int, is_last: bool) -> Entries:
    return EntryWalk(data, size, is_last).run()


def is_entry(data: Bytes, size: int) -> bool:
    """Whether the bytes are exactly one good entry."""
    return EntryWalk(data, size, is_last=True).check(0) == size


class EntryWalk:
    def __init__(self, data: Bytes, size: int, is_last: bool) -> None:
        self.data = data
        self.size = size
        self.is_last = is_last
        self.entries = Entries()
        self.starts = np.empty(size // min(SMALLEST_ENTRY) + 1, np.int64)
        self.num_starts = 0
        self.resync = Resync(data, size)
        # Each wrong checksum wastes time, and hostile bytes can claim many long batches. Once this many bytes are
        # wasted, checksums come from `resync`, whose time does not grow with their lengths. Bytes that `good_entries`
        # wastes are checked again, and count once.
        self.bytes_to_waste = 4 * size

    def run(self) -> Entries:
        position: int | None = 0
        while position is not None:
            if self.bytes_to_waste >= 0:
                position = self.take_good(position)
            if position == self.size:
                self.entries.consumed = position
                break
            end = self.check(position)
            if isinstance(end, int):
                self.starts[self.num_starts] = position
                self.num_starts += 1
                position = end
            else:
                position = self.go_on_after(position, end)
        self.entries.start = self.starts[: self.num_starts].copy()
        return self.entries

    def take_good(self, position: int) -> int:
        """Entries as long as they are good. `check` says what is wrong with the next."""
        count, position = good_entries(self.data, position, self.size, self.starts[self.num_starts :])
        self.num_starts += int(count)
        return int(position)

    def check(self, position: int) -> int | BadEntry:
        """Where the entry at a position ends if it is good; else what is wrong."""
        left = self.size - position
        if left < SHORTEST_LOOK:
            torn = Fault(RejectReason.TORN_BATCH, "batch_length", f"{left} bytes left, fewer than any entry has")
            return BadEntry(torn, is_incomplete=True)
        length, _, magic = read_message_prefix(self.data.data, position + 8)
        size = PREFIX_SIZE + length
        if magic >= len(SMALLEST_ENTRY):
            return BadEntry(Fault(RejectReason.UNKNOWN_MAGIC, "magic", f"magic {magic}"))
        if size < SMALLEST_ENTRY[magic]:
            return BadEntry(
                Fault(RejectReason.BAD_LENGTH, "batch_length", f"batch length {length} is too small for magic {magic}")
            )
        if size > LARGEST_ENTRY:
            return BadEntry(Fault(RejectReason.TOO_LARGE, "batch_length", f"batch length {length}"))
        if size > left:
            torn = Fault(RejectReason.TORN_BATCH, "batch_length", f"{left} of {size} bytes")
            return BadEntry(torn, is_incomplete=True)
        end: int = position + size
        if not self.has_right_checksum(position, end, magic):
            return BadEntry(
                Fault(
                    RejectReason.BAD_CRC, "crc", f"batch of {size} bytes, magic {magic}: its checksum does not match"
                ),
                end,
            )
        return end

    def has_right_checksum(self, position: int, end: int, magic: int) -> bool:
        if self.bytes_to_waste < 0:
            return self.resync.is_good(position)
        checked = self.data[position + CHECKED_FROM[magic] : end]
        is_right: bool
        if magic == 2:
            is_right = crc32c(checked) == read_batch_prefix(self.data.data, position + 8)[2]
        else:
            is_right = crc32(checked) == read_message_prefix(self.data.data, position + 8)[1]
        if not is_right:
            self.bytes_to_waste -= end - position
        return is_right

    def go_on_after(self, position: int, bad: BadEntry) -> int | None:
        """Where to continue after a bad entry; None if nothing more can be said about these bytes."""
        if position > self.last_nonzero:
            self.stop_in_zeros(position)
            return None
        # Do not ask the caller for more bytes without end: bytes that could contain the largest entry are decided as
        # they are.
        may_wait = not self.is_last and (position > 0 or self.size < LARGEST_ENTRY)
        if may_wait and (bad.is_incomplete or self.is_end_unclear(bad.claimed_end)):
            self.entries.consumed = position
            return None
        if bad.claimed_end is not None and self.is_good_end(bad.claimed_end):
            return self.go_on_at(bad.claimed_end, position, bad.fault)
        hit = self.resync.next_entry(position + 1, with_incomplete=not self.is_last)
        if hit is not None and hit.is_complete:
            return self.go_on_at(hit.position, position, bad.fault)
        self.stop_in_damage(position, bad.fault, hit.position if hit is not None else None)
        return None

    def go_on_at(self, end: int, position: int, fault: Fault) -> int | None:
        self.reject(position, end, fault)
        if position > 0 or self.is_last:
            return end
        # A wrong length may have made the caller read far more than it wants in memory: it brings the rest again in
        # small spans.
        self.entries.consumed = end
        return None

    def is_good_end(self, end: int) -> bool:
        """Whether the length of a bad entry can be trusted. If so, the search skips the entry: a value in it might
        contain the bytes of a batch."""
        return end == self.size or end > self.last_nonzero or isinstance(self.check(end), int)

    def is_end_unclear(self, end: int | None) -> bool:
        if end is None:
            return False
        if end == self.size:
            return True
        following = self.check(end)
        return isinstance(following, BadEntry) and following.is_incomplete

    def stop_in_zeros(self, position: int) -> None:
        """Brokers may preallocate segments: the unwritten rest is zeros."""
        end = self.size if self.is_last else max(position, self.size - ZEROS_THAT_MAY_BEGIN_AN_ENTRY)
        self.entries.zero_tail_bytes = end - position
        self.entries.consumed = end

    def stop_in_damage(self, position: int, fault: Fault, hit: int | None) -> None:
        """No good entry follows, or (if more bytes may come) none that can be recognized yet."""
        end = self.size
        if not self.is_last:
            end = hit if hit is not None else max(position + 1, self.size - SHORTEST_LOOK + 1)
        elif fault.reason is RejectReason.TORN_BATCH:
            self.entries.torn_tail_bytes = end - position
        self.reject(position, end, fault)
        self.entries.consumed = end

    def reject(self, position: int, end: int, fault: Fault) -> None:
        rejected = Rejected(position, end - position, fault.reason, fault.field, fault.detail)
        self.entries.rejected.append(rejected)

    @cached_property
    def last_nonzero(self) -> int:
        end, step = self.size, 64
        while end > 0:
            first = max(end - step, 0)
            places = self.data[first:end].nonzero()[0]
            if len(places):
                return first + int(places[-1])
            end, step = first, min(2 * step, 1 << 16)
        return -1
