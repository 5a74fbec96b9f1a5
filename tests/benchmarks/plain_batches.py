"""Reads uncompressed record batches one by one, apart from the project's own framing."""

import struct
from dataclasses import dataclass

HEADER = struct.Struct(">qiibIhiqqqhii")


@dataclass(frozen=True)
class Batch:
    base_offset: int
    crc: int
    attributes: int
    producer_id: int
    num_records: int
    checked: bytes
    body: bytes

    @property
    def is_transactional(self):
        return bool(self.attributes & 0x10)

    @property
    def is_control(self):
        return bool(self.attributes & 0x20)

    def records(self):
        at = 0
        for _ in range(self.num_records):
            size, at = zigzag(self.body, at)
            after = at + size
            _, at = zigzag(self.body, at + 1)
            _, at = zigzag(self.body, at)
            key, at = slice_at(self.body, at)
            value, at = slice_at(self.body, at)
            assert key is not None
            assert self.body[at : at + 1] == b"\0"
            assert at + 1 == after
            at = after
            yield key, value
        assert at == len(self.body)


def zigzag(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return number >> 1 ^ -(number & 1), at


def slice_at(data, at):
    size, at = zigzag(data, at)
    return (None, at) if size < 0 else (data[at : at + size], at + size)


def read_batches(data):
    at = 0
    while at < len(data):
        base, length, _, magic, crc, attributes, _, _, _, producer, _, _, count = HEADER.unpack_from(data, at)
        assert magic == 2
        end = at + 12 + length
        checked = data[at + 21 : end]
        yield Batch(base, crc, attributes, producer, count, checked, data[at + HEADER.size : end])
        at = end
