"""Segment files: which partition they belong to, and their bytes as framed records, a span at a time."""

import errno
import os
import re
import struct
from collections.abc import Container, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

import google_crc32c
import numpy as np

from jobs.output.failure import Failure, os_error_line
from jobs.sources.log_span import SpanFacts
from jobs.storage.places.place import Place
from schemas.words.exit_codes import ExitCode
from schemas.words.records import RejectReason
from udfs.arrays.slices import PADDING, padded
from udfs.framing.frame import frame
from udfs.framing.legacy.kernels import CODEC_BITS
from udfs.framing.log_bytes.entries import is_entry
from udfs.framing.log_bytes.framed_records import Framed, Records, Rejected
from udfs.framing.log_bytes.resync import LARGEST_ENTRY, SHORTEST_LOOK

PIECE_BYTES = 4 << 20
SMALLEST_LENGTH = 14
# Header fields that identify a batch: offsets, times, producer, and the checksum of its records.
HEADER_BYTES = 61
# Brokers accept no larger batch by default.
LARGEST_TORN_BATCH = 1 << 20
MAGIC_OF_BATCHES = 2
ENTRY_HEADER = struct.Struct(">qi")
# Skips a checksum, or the leader epoch: reads the magic, and the attributes of the older formats.
LONGER_HEADER = struct.Struct(">qi4xbB")
LAST_DELTA = struct.Struct(">23xi")
SUFFIX = ".log"
BASE_NAME = re.compile(r"\d{20}\.log")
# While the cleaner replaces segments, those that it has finished have such an ending.
SWAP = ".swap"
NAMED_BY_OFFSET = re.compile(r"(\d{20})\.log(\.swap)?")
FOLDER = re.compile(r"__consumer_offsets-(\d+)")
# Of a source without segments.
EXPECTED = "give a log dir, a folder with several of them, or __consumer_offsets-N"
# Kafka numbers partitions with 32 bits.
HIGHEST_PARTITION = 2**31 - 1


@dataclass(frozen=True)
class Span:
    """A run of whole batches of one file."""

    path: Place
    start: int
    end: int
    # Identity of the file when it was cut. Another file may take its name later, and a broker may continue to write.
    identity: int | None = None
    file_size: int | None = None
    # Of the next good batch in the file; None: there is none.
    next_offset: int | None = None

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def size(self) -> int:
        return self.end - self.start

    def facts(self) -> SpanFacts:
        return SpanFacts(self.name, self.start, self.end)

    def framed_pieces(self, piece_bytes: int) -> Iterator[Framed]:
        return framed_pieces(self, piece_bytes)

    def is_torn_end(self, rejected: Rejected) -> bool:
        return is_torn_end(rejected, self)

    def complete(self, facts: SpanFacts) -> None:
        with self.open() as file:
            if facts.start == 0:
                facts.first_batch_crc = batch_crc(file, 0)
            if facts.last_batch_position is not None:
                facts.last_batch_crc = batch_crc(file, facts.last_batch_position)

    def open(self) -> BufferedReader:
        return open_segment(self.path, self.identity)


def offsets_partition_of(path: Place) -> int | None:
    """The partition in the name of the file's folder."""
    folder = Path(str(path)).absolute().parent.name
    match = FOLDER.fullmatch(folder)
    if match is None:
        return None
    if int(match[1]) > HIGHEST_PARTITION:
        line = f"{folder} names no partition: a number from 0 to {HIGHEST_PARTITION} was expected"
        raise Failure(ExitCode.USAGE, f"{path}: {line}")
    return int(match[1])


def partition_in(path: str) -> int | None:
    """The partition that a folder is named after, or the folder that a file is in; None: they have other names."""
    for name in reversed(path.split("/")[-2:]):
        if (match := FOLDER.fullmatch(name)) is not None and int(match[1]) <= HIGHEST_PARTITION:
            return int(match[1])
    return None


def first_offset_of(path: Place) -> int | None:
    """No record of a segment has a lower offset. The name of the segment shows it, and is more reliable than bytes that
    may be damaged. None: it has another name."""
    match = NAMED_BY_OFFSET.fullmatch(path.name)
    return None if match is None else int(match[1])


def is_whole_swap(name: str, beside: Container[str]) -> bool:
    """Whether it has the records of a segment that is not there. A broker that starts then gives it the segment's name.
    It deletes `.cleaned`, which the cleaner had not finished, and `.deleted`, which the cleaner had replaced: so none
    of these is read."""
    segment = name.removesuffix(SWAP)
    return segment != name and BASE_NAME.fullmatch(segment) is not None and segment not in beside


def spans_of(path: Place, span_bytes: int, start: int = 0, most_bytes: int | None = None) -> Iterator[Span]:
    """Cuts a file between batches. Lengths lead from one batch to the next, but a wrong length leads into the middle of
    another. So a cut is made only before a good batch whose first offset is known; from the first implausible length
    on, everything is one span. No checksum covers the first offset: it must fit between those before and after it.
    `most_bytes`: what it grew by since it had this size is left to the next run."""
    position = start
    with open_segment(path) as file:
        status = os.fstat(file.fileno())
        size, identity = min(status.st_size, most_bytes or status.st_size), status.st_ino
        block, block_start = b"", 0
        while position + ENTRY_HEADER.size <= size:
            at = position - block_start
            if at + ENTRY_HEADER.size > len(block):
                file.seek(position)
                block, block_start, at = file.read(PIECE_BYTES), position, 0
                if len(block) < ENTRY_HEADER.size:
                    break
            length = ENTRY_HEADER.unpack_from(block, at)[1]
            if length < SMALLEST_LENGTH or position + ENTRY_HEADER.size + length > size:
                break
            before, position = position, position + ENTRY_HEADER.size + length
            if position - start < span_bytes:
                continue
            if (next_offset := offset_to_cut_at(file, before, position)) is not None:
                yield Span(path, start, position, identity, size, next_offset=next_offset)
                start = position
    if start < size:
        yield Span(path, start, size, identity, size)


def is_like_segment(head: bytes) -> bool:
    """By the first bytes of a file: no log has 2**56 records, and no other formats are known. Of a damaged segment they
    may be wrong."""
    magic = head[LONGER_HEADER.size - 2 : LONGER_HEADER.size - 1]
    return not head[:1].strip(b"\0") and magic <= bytes([MAGIC_OF_BATCHES])


def open_segment(path: Place, identity: int | None = None) -> BufferedReader:
    """Opens the file, and not another one that has taken its name since it was found."""
    try:
        opened, current = path.open_identified()
    except OSError as error:
        line = os_error_line(error, path)
        # What else a storage refuses already says what to do.
        remedy = "" if path.is_remote and error.errno != errno.ENOENT else "; give a readable segment file"
        raise Failure(ExitCode.UNREADABLE_INPUT, f"{line}{remedy}") from None
    file = cast(BufferedReader, opened)
    if identity not in (None, current):
        file.close()
        raise Failure(
            ExitCode.UNREADABLE_INPUT, f"{path}: another file replaced it while it was read; run the command again"
        )
    return file


def is_entry_at(file: BinaryIO, position: int) -> bool:
    file.seek(position)
    header = file.read(ENTRY_HEADER.size)
    if len(header) < ENTRY_HEADER.size:
        return False
    size = ENTRY_HEADER.size + ENTRY_HEADER.unpack(header)[1]
    if not ENTRY_HEADER.size < size <= LARGEST_ENTRY:
        return False
    raw = header + file.read(size - len(header))
    return len(raw) == size and is_entry(padded(raw), size)


def offset_to_cut_at(file: BinaryIO, before: int, position: int) -> int | None:
    """The first offset of a good entry, if it has one and its offsets are between those of the entry at `before` and of
    the next one. Compressed messages of the older formats have only their last offset."""
    if not is_entry_at(file, position):
        return None
    file.seek(position)
    header = file.read(HEADER_BYTES)
    _, length, magic, attributes = LONGER_HEADER.unpack_from(header)
    if magic != MAGIC_OF_BATCHES and attributes & CODEC_BITS:
        return None
    first, last = named_offsets(header)
    _, last_before = offsets_at(file, before) or (0, -1)
    next_first, _ = offsets_at(file, position + ENTRY_HEADER.size + length) or (last + 1, 0)
    return first if last_before < first <= last < next_first else None


def offsets_at(file: BinaryIO, position: int) -> tuple[int, int] | None:
    """None: the file ends before."""
    file.seek(position)
    header = file.read(HEADER_BYTES)
    return named_offsets(header) if len(header) >= LONGER_HEADER.size else None


def named_offsets(header: bytes) -> tuple[int, int]:
    """The first and the last offset in an entry's header."""
    offset, _, magic, _ = LONGER_HEADER.unpack_from(header)
    delta = LAST_DELTA.unpack_from(header)[0] if magic == MAGIC_OF_BATCHES and len(header) == HEADER_BYTES else 0
    return offset, offset + delta


def framed_pieces(span: Span, piece_bytes: int = PIECE_BYTES) -> Iterator[Framed]:
    """The span's records in pieces. If a batch is larger than a piece, the piece grows."""
    with span.open() as file:
        position, size = span.start, piece_bytes
        while position < span.end:
            size = min(size, span.end - position)
            file.seek(position)
            # With space for decompressed data, which costs nothing until it is written to.
            data = np.empty(size + PADDING + size // 2, np.uint8)
            data[size : size + PADDING] = 0
            got = file.readinto(data.data[:size])
            if got < size:
                left = f"{position + got} of {span.end} bytes are left"
                raise Failure(ExitCode.UNREADABLE_INPUT, f"{span.path}: has shrunk while it was read, {left}")
            is_last = position + got >= span.end
            framed = frame(data, got, base_position=position, is_last=is_last)
            if not framed.consumed and not is_last:
                size *= 2
                continue
            if not is_last and got - framed.consumed < SHORTEST_LOOK and has_gap_before_last(framed):
                size += SHORTEST_LOOK
                continue
            yield framed
            if not framed.consumed:
                return
            position, size = position + framed.consumed, piece_bytes


def has_gap_before_last(framed: Framed) -> bool:
    """Whether the last batch may have a wrong first offset: only the next batch shows that, so some of it is needed."""
    first, last = framed.batches.base_offset, framed.batches.last_offset
    return len(first) > 0 and (len(first) == 1 or bool(first[-1] != last[-2] + 1))


def batch_crc(file: BinaryIO, position: int) -> int:
    """CRC-32C of a batch's header, which includes the checksum of its records."""
    file.seek(position)
    return int(google_crc32c.value(file.read(HEADER_BYTES)))


def is_torn_end(rejected: Rejected, span: Span) -> bool:
    """The batch that a broker was still writing. A larger range, or one before the end, is damage."""
    reaches_end = rejected.byte_position + rejected.size_bytes == span.file_size
    return rejected.reason is RejectReason.TORN_BATCH and reaches_end and rejected.size_bytes <= LARGEST_TORN_BATCH


def chunks(records: Records, most_records: int, most_bytes: int) -> Iterator[Records]:
    """Records to decode together: fewer if they are compressed or very long."""
    ends = np.cumsum(records.record_bytes, dtype=np.int64)
    if 0 < len(records) <= most_records and ends[-1] <= most_bytes:
        yield records
        return
    start = 0
    while start < len(records):
        begun = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, begun + most_bytes, side="right"))
        stop = min(max(stop, start + 1), start + most_records)
        yield records.take(np.arange(start, stop))
        start = stop
