"""Decompresses record batches, without any library where the format can be written out in a few lines."""

import gzip
import struct
from typing import Any

import pyarrow as pa

from tests.oracles.log.byte_reader import Bad


def decompress(codec: int, raw: bytes, magic: int) -> bytes:
    try:
        return [lambda r, _: r, gunzip, unsnappy, unlz4, unzstd][codec](raw, magic)
    except Bad:
        raise
    except Exception as error:
        raise Bad("bad_compression", "records") from error


def gunzip(raw: bytes, _: int) -> bytes:
    return gzip.decompress(raw)


def unsnappy(raw: bytes, _: int) -> bytes:
    if raw[:8] != b"\x82SNAPPY\x00":
        return unsnappy_block(raw) if raw else b""
    output, at = b"", 16
    while at < len(raw):
        if raw[at : at + 8] == b"\x82SNAPPY\x00":
            at += 16
            continue
        size = struct.unpack(">i", raw[at : at + 4])[0]
        if size < 0 or at + 4 + size > len(raw):
            raise Bad("bad_compression", "records")
        output += unsnappy_block(raw[at + 4 : at + 4 + size]) if size else b""
        at += 4 + size
    return output


def unsnappy_block(raw: bytes) -> bytes:
    """Snappy's own format: literals and copies, without any library."""
    size, shift, at = 0, 0, 0
    while True:
        byte = raw[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 128:
            break
    output = bytearray()
    while at < len(raw):
        at = snappy_element(raw, at, output)
    if len(output) != size:
        raise Bad("bad_compression", "records")
    return bytes(output)


def snappy_element(raw: bytes, at: int, output: bytearray) -> int:
    tag = raw[at]
    at += 1
    kind = tag & 3
    if kind == 0:
        length = tag >> 2
        if length >= 60:
            extra = length - 59
            length = int.from_bytes(raw[at : at + extra], "little")
            at += extra
        length += 1
        if at + length > len(raw):
            raise Bad("bad_compression", "records")
        output += raw[at : at + length]
        return at + length
    if kind == 1:
        length, distance, at = 4 + (tag >> 2 & 7), (tag >> 5) << 8 | raw[at], at + 1
    else:
        width = 2 if kind == 2 else 4
        length, distance, at = 1 + (tag >> 2), int.from_bytes(raw[at : at + width], "little"), at + width
    if not 0 < distance <= len(output):
        raise Bad("bad_compression", "records")
    for _ in range(length):
        output.append(output[-distance])
    return at


def unlz4(raw: bytes, magic: int) -> bytes:
    """LZ4 frames without any library; checksums are not looked at."""
    if not raw:
        return b""
    if raw[:4] != b"\x04\x22\x4d\x18":
        raise Bad("bad_compression", "records")
    flags = raw[4]
    at = 7 + (8 if flags & 8 else 0)
    output = bytearray()
    while True:
        if at + 4 > len(raw):
            raise Bad("bad_compression", "records")
        size = int.from_bytes(raw[at : at + 4], "little")
        at += 4
        if size == 0:
            return bytes(output)
        block = raw[at : at + (size & 0x7FFFFFFF)]
        if len(block) < size & 0x7FFFFFFF:
            raise Bad("bad_compression", "records")
        at += len(block) + (4 if flags & 16 else 0)
        output += block if size >> 31 else unlz4_block(block, output)


def unlz4_block(block: bytes, before: bytearray) -> bytes:
    output, at = bytearray(before), 0
    while at < len(block):
        token = block[at]
        at += 1
        length, at = lz4_length(block, at, token >> 4)
        output += block[at : at + length]
        at += length
        if at >= len(block):
            break
        distance = int.from_bytes(block[at : at + 2], "little")
        length, at = lz4_length(block, at + 2, token & 15)
        for _ in range(length + 4):
            output.append(output[-distance])
    return bytes(output[len(before) :])


def lz4_length(block: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            length += block[at]
            at += 1
            if block[at - 1] != 255:
                break
    return length, at


def unzstd(raw: bytes, _: int) -> bytes:
    """The one codec that is not written out here: no vector and no standard module reads it."""
    stream: Any = pa.CompressedInputStream(pa.BufferReader(raw), "zstd")
    return bytes(stream.read())
