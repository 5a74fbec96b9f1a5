"""Logs that were never compacted, written batch by batch, and then damaged at random: what was written is known."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tests.builders.logs.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, batch_of, message, record, wrapper
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3

BASE_OFFSET_BYTES = 8
# Of every batch and message: its first or last offset, and its length.
HEADER = struct.Struct(">qi")
FOLDER = "__consumer_offsets-7"


@dataclass(frozen=True)
class WrittenSegment:
    base_offset: int
    entries: tuple[bytes, ...]

    @property
    def content(self) -> bytes:
        return b"".join(self.entries)

    @property
    def name(self) -> str:
        return f"{self.base_offset:020}.log"


@dataclass(frozen=True)
class WrittenLog:
    segments: tuple[WrittenSegment, ...]
    # Of its last record.
    last_offset: int

    @property
    def first_offset(self) -> int:
        return self.segments[0].base_offset

    @property
    def num_offsets(self) -> int:
        return self.last_offset - self.first_offset + 1


def random_entry(rng: np.random.Generator, offset: int, legacy_share: float, most: int) -> tuple[bytes, int]:
    """A batch without a gap, and how many records it has."""
    count = int(rng.integers(1, most + 1))
    pairs = [(COMMIT_KEY, None if rng.random() < 0.2 else COMMIT_V3) for _ in range(count)]
    if rng.random() >= legacy_share:
        records = [record(delta, key, value) for delta, (key, value) in enumerate(pairs)]
        codec = int(rng.choice([NONE, NONE, NONE, GZIP, SNAPPY, LZ4, ZSTD]))
        return batch_of(*records, codec=codec, base_offset=offset, leader_epoch=3), count
    magic = int(rng.integers(0, 2))
    if rng.random() < 0.5:
        return message(magic, offset, *pairs[0], 1000), 1
    inner = b"".join(
        message(magic, number + (0 if magic else offset), *pair, 1000) for number, pair in enumerate(pairs)
    )
    return wrapper(magic, offset + count - 1, inner, int(rng.choice([GZIP, SNAPPY, LZ4])), 1000), count


def random_log(
    rng: np.random.Generator, num_segments: int = 3, num_entries: int = 12, legacy_share: float = 0.0, most: int = 12
) -> WrittenLog:
    offset = int(rng.choice([0, 7, 40_000, 2**40]))
    segments = []
    for _ in range(num_segments):
        base, entries = offset, []
        for _ in range(int(rng.integers(3, num_entries + 1))):
            entry, count = random_entry(rng, offset, legacy_share, most)
            entries.append(entry)
            offset += count
        segments.append(WrittenSegment(base, tuple(entries)))
    return WrittenLog(tuple(segments), offset - 1)


def boundaries(entries: Sequence[bytes]) -> list[int]:
    return [0, *np.cumsum([len(entry) for entry in entries]).tolist()]


def damaged(rng: np.random.Generator, segment: WrittenSegment, is_newest: bool) -> bytes:
    """The content with bytes flipped, zeroed, written over or cut out. The last batches of the newest segment stay:
    where nothing follows, nothing says how far the log reached."""
    bounds = boundaries(segment.entries)
    content = bytearray(segment.content)
    end = bounds[-3] if is_newest else bounds[-1]
    at = int(rng.integers(0, end))
    behind = min(at + int(rng.choice([1, 3, 20, 100, 400])), end)
    match int(rng.integers(0, 6)):
        case 0:
            for place in rng.integers(0, end, int(rng.integers(1, 6))).tolist():
                content[place] ^= 1 << int(rng.integers(0, 8))
        case 1:
            content[int(rng.choice(bounds[:-3])) + int(rng.integers(0, BASE_OFFSET_BYTES))] ^= 1
        case 2:
            content[at:behind] = bytes(behind - at)
        case 3:
            content[at:behind] = rng.bytes(behind - at)
        case 4:
            del content[at:behind]
        case 5:
            if not is_newest:
                del content[at:]
    is_traceable = not leaves_no_trace(bytes(content), segment.entries)
    return bytes(content) if is_traceable and not moves_a_batch(bytes(content), segment.entries) else segment.content


def moves_a_batch(content: bytes, entries: Sequence[bytes]) -> bool:
    """Whether a batch has another first offset, which no checksum covers, beside other damage that may make room for
    it: nobody can see that."""
    bodies = [(content.find(entry[BASE_OFFSET_BYTES:]), entry) for entry in entries]
    is_moved = [at >= 0 and content[:at][-BASE_OFFSET_BYTES:] != entry[:BASE_OFFSET_BYTES] for at, entry in bodies]
    return any(is_moved) and (sum(is_moved) > 1 or any(at < 0 for at, _ in bodies))


def leaves_no_trace(content: bytes, entries: Sequence[bytes]) -> bool:
    """Whether as many bytes are gone as whole batches have, so that lengths still lead to the end, batch by batch: then
    nothing shows that there were more."""
    if len(content) == sum(map(len, entries)):
        return False
    num_left = position = 0
    while position + HEADER.size <= len(content):
        position += HEADER.size + max(int(HEADER.unpack_from(content, position)[1]), 0)
        num_left += 1
    return position == len(content) and num_left < len(entries)


def write(folder: Path, log: WrittenLog, contents: Sequence[bytes]) -> Path:
    into = folder / FOLDER
    into.mkdir(parents=True, exist_ok=True)
    for segment, content in zip(log.segments, contents, strict=True):
        (into / segment.name).write_bytes(content)
    return folder


def damaged_contents(rng: np.random.Generator, log: WrittenLog, share: float) -> list[bytes]:
    last = log.segments[-1]
    return [
        damaged(rng, segment, segment is last) if rng.random() < share else segment.content for segment in log.segments
    ]


def bounds_of(log: WrittenLog) -> list[tuple[int, int]]:
    """First and last offset of each segment."""
    firsts = [segment.base_offset for segment in log.segments] + [log.last_offset + 1]
    return [(first, following - 1) for first, following in pairwise(firsts)]
