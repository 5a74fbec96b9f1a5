"""Framing: bytes of a log in, records out, for every format and codec.

    framed = frame(data, size)      # data: the log's bytes, then PADDING zero bytes; size: of the log's bytes;
                                    # decompressed data follows them as far as there is room
    framed.records                  # offset, time, producer, key, value … one row per record, in log order
    framed.rejected                 # ranges of bytes that are not batches, with the reason
    framed.consumed                 # the caller continues here, until everything is consumed

Total: for any input, each byte belongs to a batch, a rejected range or a tail. Nothing is raised.
"""

from dataclasses import replace

import numpy as np

from udfs.arrays.big_endian import Views, column
from udfs.framing.batches.headers import (
    CODEC_BITS,
    batches_of,
    count_faults,
    decompress,
    header_blocks,
    header_faults,
    read_headers,
)
from udfs.framing.batches.records import records_of
from udfs.framing.claims import claims, next_offset
from udfs.framing.legacy.columns import legacy_rows
from udfs.framing.legacy.messages import legacy_entries, read_inside
from udfs.framing.log_bytes.checksums import Bytes
from udfs.framing.log_bytes.entries import Entries, find_entries
from udfs.framing.log_bytes.framed_records import Batches, Claim, Fault, Framed, Records, Rejected, Wrong
from udfs.framing.log_bytes.resync import PREFIX_SIZE
from udfs.framing.log_bytes.room import Room

__all__ = ["Batches", "Framed", "Records", "Rejected", "frame"]

# Limits for the decompressed bytes and records of one call; the rest is left to the next call. So the memory of a call
# is bounded by the caller's bytes, these limits, and the largest batch.
DECOMPRESSED_AT_ONCE = 64 << 20
DECOMPRESSED_RECORDS_AT_ONCE = 1 << 20


def frame(data: Bytes, size: int, *, base_position: int = 0, is_last: bool = True) -> Framed:
    """Positions in the result count from the start of the buffer, plus `base_position`.

    If `consumed` is below `size`, the caller passes the rest again, with more bytes after it if there are any. With
    `is_last` that happens only if one call would have to decompress too much.
    """
    framing = Framing(data, size, find_entries(data, size, is_last))
    framing.decompress()
    return framing.framed(base_position)


class Framing:
    """Entries, numbered in log order, while they become records. Faulty entries go to `faults`."""

    def __init__(self, data: Bytes, size: int, entries: Entries) -> None:
        self.data = data
        self.size = size
        self.entries = entries
        self.room = Room(data, size)
        self.start = entries.start
        blocks = header_blocks(Views(data), self.start)
        self.end = self.start + PREFIX_SIZE + column(blocks, 8, ">i4")
        magic = column(blocks, 16, "u1").astype(np.int64)
        self.is_modern = magic == 2
        # The entry numbers of magic 2 batches.
        self.numbers = np.flatnonzero(self.is_modern)
        if len(self.numbers) == len(self.start):
            self.headers = read_headers(blocks, self.start, self.end)
        else:
            self.headers = read_headers(blocks[self.numbers], self.start[self.numbers], self.end[self.numbers])
        old = np.flatnonzero(~self.is_modern)
        self.legacy, self.faults = legacy_entries(self.room, old, magic[old], self.start[old], self.end[old])
        self.reject(header_faults(self.headers))

    def decompress(self) -> None:
        """Reads what must be read one by one: compressed batches and messages."""
        rows = np.flatnonzero(self.headers.attributes & CODEC_BITS)
        row_of = dict(zip(self.numbers[rows].tolist(), rows.tolist(), strict=True))
        wrappers = np.flatnonzero(self.legacy.codecs)
        place_of = dict(zip(self.legacy.numbers[wrappers].tolist(), wrappers.tolist(), strict=True))
        records = 0
        for number in sorted({*row_of, *place_of} - {*self.faults}):
            if self.room.decompressed_bytes() > DECOMPRESSED_AT_ONCE or records > DECOMPRESSED_RECORDS_AT_ONCE:
                self.cut(number)
                break
            try:
                if number in row_of:
                    decompress(self.room, self.headers, row_of[number])
                    records += int(self.headers.num_records[row_of[number]])
                else:
                    records += read_inside(self.room, self.legacy, place_of[number])
            except Wrong as wrong:
                self.faults[number] = wrong.fault
        self.reject({row: self.faults[number] for number, row in row_of.items() if number in self.faults})
        is_bad = np.isin(self.legacy.numbers, list(self.faults))
        self.legacy = self.legacy.take(np.flatnonzero(~is_bad))

    def cut(self, number: int) -> None:
        """Leaves this entry and all that follow to the next call."""
        position = int(self.start[number])
        kept = slice(int(np.searchsorted(self.numbers, number)))
        self.numbers, self.headers = self.numbers[kept], self.headers.slice(kept)
        self.legacy = self.legacy.take(np.flatnonzero(self.legacy.numbers < number))
        self.faults = {at: fault for at, fault in self.faults.items() if at < number}
        before = [rejected for rejected in self.entries.rejected if rejected.byte_position < position]
        self.entries = Entries(rejected=before, consumed=position)

    def reject(self, faults: dict[int, Fault]) -> None:
        """Removes batches, given by row."""
        if not faults:
            return
        self.faults.update({int(self.numbers[row]): fault for row, fault in faults.items()})
        kept = np.delete(np.arange(len(self.numbers)), list(faults))
        self.numbers, self.headers = self.numbers[kept], self.headers.take(kept)

    def framed(self, base_position: int) -> Framed:
        buffer = self.room.buffer()
        self.reject(count_faults(self.headers))
        records, faults = records_of(buffer, self.headers)
        self.reject(faults)
        batches = batches_of(self.headers)
        if len(self.legacy.numbers):
            records, batches = self.with_legacy(buffer, records, batches)
        if base_position:
            batches = replace(batches, position=batches.position + base_position)
        return Framed(
            records=records,
            batches=batches,
            rejected=self.all_rejected(base_position),
            consumed=self.entries.consumed,
            zero_tail_bytes=self.entries.zero_tail_bytes,
            torn_tail_bytes=self.entries.torn_tail_bytes,
            next_offset=next_offset(self.data, self.entries.consumed, self.size),
        )

    def with_legacy(self, buffer: Bytes, records: Records, batches: Batches) -> tuple[Records, Batches]:
        """A file may mix formats: merges the rows of both in log order."""
        numbers = self.legacy.numbers
        old_records, old_batches = legacy_rows(buffer, self.start[numbers], self.legacy)
        batches, records = Batches.concat(batches, old_batches), Records.concat(records, old_records)
        order = np.concatenate((self.numbers, numbers))
        record_order = np.repeat(order, batches.num_records)
        return records.take(np.argsort(record_order, kind="stable")), batches.take(np.argsort(order, kind="stable"))

    def all_rejected(self, base_position: int) -> list[Rejected]:
        ranges = self.entries.rejected + [
            Rejected(int(self.start[n]), int(self.end[n] - self.start[n]), fault.reason, fault.field, fault.detail)
            for n, fault in self.faults.items()
        ]
        ranges.sort(key=lambda rejected: rejected.byte_position)
        return [
            replace(each, byte_position=each.byte_position + base_position, claims=self.claims_of(each))
            for each in ranges
        ]

    def claims_of(self, rejected: Rejected) -> tuple[Claim, ...]:
        return claims(self.data, rejected.byte_position, rejected.byte_position + rejected.size_bytes)
