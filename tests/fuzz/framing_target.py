"""Framing: any bytes end as batches, rejected ranges or a tail, each byte once. An input is one batch."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import google_crc32c
import numpy as np

from schemas.words.records import RejectReason
from tests.builders.logs.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, compressed, message, random_log, wrapper
from tests.fuzz.logs import batches
from tests.fuzz.mutations import WIDE, mutate_bytes
from tests.fuzz.target import Target
from tests.oracles.log.framing import read_log
from tests.oracles.log.framing_answers import log_of
from udfs.arrays.slices import padded
from udfs.framing.frame import Framed, frame

HEADER = 61
# Where the fields of a batch's header begin, and their sizes.
FIELDS = ((0, 8), (8, 4), (12, 4), (16, 1), (21, 2), (23, 4), (27, 8), (35, 8), (43, 8), (51, 2), (53, 4), (57, 4))
# The slow framing takes seconds for long logs.
SLOW_BYTES = 3000
UNLIKE = {RejectReason.BAD_COMPRESSION, RejectReason.TOO_LARGE}


@dataclass
class FramingTarget(Target):
    logs: Sequence[bytes]
    name = "framing"
    longest = 8192
    inputs_a_call = 500

    def seeds(self) -> list[bytes]:
        drawn = random_log(np.random.default_rng(5), 80, legacy_share=0.4)
        return [each for log in self.logs for each in batches(log)] + drawn

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        kind = chance.randrange(6)
        if kind == 0 or len(raw) < HEADER + 1 or raw[16] != 2:
            return legacy_entry(raw, chance) if kind == 1 else mutate_bytes(raw, others, chance)
        if kind == 1:
            return with_checksum(packed_again(raw, chance))
        if kind == 2:
            return with_checksum(with_field(raw, chance))
        # What a checksum protects is reached only with the right one.
        return with_checksum(raw[:HEADER] + mutate_bytes(raw[HEADER:], [b"\x00", *others[:50]], chance))

    def check(self, inputs: Sequence[bytes]) -> None:
        raw = b"".join(inputs)
        at = 0
        while at < len(raw):
            framed = frame(padded(raw[at:]), len(raw) - at)
            check_every_byte_has_one_place(framed)
            assert framed.consumed > 0, "nothing consumed"
            assert framed.consumed <= len(raw) - at
            at += framed.consumed
        if len(raw) <= SLOW_BYTES:
            check_beside_slow_framing(raw)


def check_every_byte_has_one_place(framed: Framed) -> None:
    batch_ends = zip(framed.batches.position.tolist(), framed.batches.size_bytes.tolist(), strict=True)
    ranges = sorted([*batch_ends, *((each.byte_position, each.size_bytes) for each in framed.rejected)])
    at = 0
    for position, size in ranges:
        assert position == at, f"bytes {at} to {position} have no place, or two"
        at = position + size
    assert at + framed.zero_tail_bytes == framed.consumed
    assert int(framed.batches.num_records.sum()) == len(framed.records)


def check_beside_slow_framing(raw: bytes) -> None:
    ours = log_of(raw)
    # Inside of compressed bytes the slow one looks at no checksum and no limit, so it reads some that we reject.
    if not UNLIKE.intersection(each.reason for each in ours.rejected):
        assert ours == read_log(raw), "the slow framing says otherwise"


def with_checksum(raw: bytes) -> bytes:
    """The length and the checksum of the header fit its body again."""
    if len(raw) < HEADER:
        return raw
    head = raw[:8] + struct.pack(">i", len(raw) - 12) + raw[12:17]
    return head + struct.pack(">I", google_crc32c.value(raw[21:])) + raw[21:]


def with_field(raw: bytes, chance: Random) -> bytes:
    at, size = chance.choice(FIELDS)
    return raw[:at] + (chance.choice(WIDE) % 2 ** (8 * size)).to_bytes(size, "big") + raw[at + size :]


def packed_again(raw: bytes, chance: Random) -> bytes:
    """The body in another codec, or said to be in one."""
    codec = chance.choice((NONE, GZIP, SNAPPY, LZ4, ZSTD, 5, 7))
    body = raw[HEADER:]
    if not raw[22] & 7 and codec <= ZSTD and chance.random() < 0.8:
        body = compressed(codec, body, is_xerial=chance.random() < 0.5)
        if chance.random() < 0.6:
            body = mutate_bytes(body, [body], chance)
    return raw[:22] + bytes([raw[22] & 0xF8 | codec]) + body


def legacy_entry(raw: bytes, chance: Random) -> bytes:
    """A message of the older formats around these bytes, compressed or not."""
    magic, offset = chance.randrange(2), chance.choice((0, 5, -1, 2**62))
    inner = message(magic, offset, raw[:20], raw[20:400], chance.choice((-1, 0, 1_700_000_000_000)))
    if chance.random() < 0.4:
        return inner
    if chance.random() < 0.5:
        inner = mutate_bytes(inner, [inner], chance)
    return wrapper(magic, offset, inner, chance.choice((GZIP, SNAPPY, LZ4)), is_xerial=chance.random() < 0.5)
