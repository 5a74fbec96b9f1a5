"""Decompresses record batches: every codec with the container that Kafka puts around it, and never more output than
allowed."""

from collections.abc import Iterator
from enum import IntEnum

import pyarrow as pa

from schemas.words.records import RejectReason
from udfs.framing.log_bytes.framed_records import Wrong


class Codec(IntEnum):
    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


# A few kilobytes can decompress to gigabytes. No broker writes batches of this size.
LARGEST_OUTPUT = 128 << 20
PIECE = 1 << 18

# What snappy-java writes before its blocks: a magic, its version, and the oldest version that can read it.
XERIAL_MAGIC = bytes.fromhex("82534e4150505900")
XERIAL_HEADER_SIZE = 16

STREAM_CODECS = {Codec.GZIP: "gzip", Codec.LZ4: "lz4", Codec.ZSTD: "zstd"}


class Source:
    """The input of a stream: one payload after the other, each followed by an end of file."""

    closed = False

    def __init__(self) -> None:
        self.payload = pa.BufferReader(b"")

    def read(self, size: int = -1) -> bytes:
        read: bytes = self.payload.read(size)
        return read

    def close(self) -> None:
        """Arrow calls it when the stream is deleted."""


class Decompressor:
    """Opening a stream takes longer than reading an ordinary batch, so streams are reused."""

    def __init__(self) -> None:
        self.streams: dict[str, tuple[Source, pa.CompressedInputStream]] = {}

    def decompressed(self, codec: Codec, payload: bytes, magic: int) -> bytes:
        """The decompressed payload. Raises Wrong."""
        pieces, size = [], 0
        try:
            for piece in self.pieces(codec, payload, magic):
                pieces.append(piece)
                size += len(piece)
                if size > LARGEST_OUTPUT:
                    line = f"more than {LARGEST_OUTPUT} bytes when decompressed"
                    raise Wrong(RejectReason.TOO_LARGE, "records", line)
        except (OSError, pa.ArrowException) as error:
            raise Wrong(RejectReason.BAD_COMPRESSION, "records", f"{codec.name.lower()}: {error}") from error
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def pieces(self, codec: Codec, payload: bytes, magic: int) -> Iterator[bytes]:
        if codec is Codec.SNAPPY:
            return snappy_blocks(payload)
        if codec is Codec.LZ4 and magic == 0:
            payload = with_right_header_checksum(payload)
        return self.stream(STREAM_CODECS[codec], payload)

    def stream(self, name: str, payload: bytes) -> Iterator[bytes]:
        # Removed until the read succeeds: a stream that failed, or stopped in the middle, cannot be used again.
        source, stream = self.streams.pop(name) if name in self.streams else opened(name)
        source.payload = pa.BufferReader(payload)
        while piece := stream.read(PIECE):
            yield piece
        self.streams[name] = source, stream


def opened(name: str) -> tuple[Source, pa.CompressedInputStream]:
    source = Source()
    return source, pa.CompressedInputStream(pa.PythonFile(source, "r"), name)


def snappy_blocks(payload: bytes) -> Iterator[bytes]:
    """Decompresses snappy-java's stream of blocks, or one bare block, as librdkafka and others write it."""
    if not payload.startswith(XERIAL_MAGIC):
        if payload:
            yield snappy_block(payload)
        return
    position = 0
    while position < len(payload):
        # The header may appear again where streams were concatenated. Read as a length it would be negative.
        if payload.startswith(XERIAL_MAGIC, position):
            position += XERIAL_HEADER_SIZE
            continue
        size = int.from_bytes(payload[position : position + 4], "big", signed=True)
        position += 4
        if not 0 <= size <= len(payload) - position:
            raise Wrong(
                RejectReason.BAD_COMPRESSION,
                "records",
                f"snappy: a block of {size} bytes is negative or larger than the {len(payload) - position} left",
            )
        if size:
            yield snappy_block(payload[position : position + size])
        position += size


def snappy_block(block: bytes) -> bytes:
    """A raw block starts with its decompressed size. That much memory is allocated at once, so the size is checked
    first."""
    size = 0
    for place, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            break
    else:
        size = 0  # no size: the codec rejects the block
    if size > LARGEST_OUTPUT:
        raise Wrong(RejectReason.TOO_LARGE, "records", f"snappy: block claims to hold {size} bytes")
    decompressed: bytes = pa.Codec("snappy").decompress(block, size, asbytes=True)
    return decompressed


LZ4_MAGIC = bytes.fromhex("04224d18")
LZ4_CONTENT_SIZE_FLAG = 0x08


def with_right_header_checksum(frame: bytes) -> bytes:
    """In messages of magic 0 Kafka wrote a wrong checksum of the frame header (it included the frame's magic), and
    still must. The codec would reject it."""
    if not frame.startswith(LZ4_MAGIC) or len(frame) < 7:
        return frame
    end = 14 if frame[4] & LZ4_CONTENT_SIZE_FLAG else 6
    checksum = xxh32_of_few(frame[4:end]) >> 8 & 0xFF
    return frame[:end] + bytes((checksum,)) + frame[end + 1 :]


def xxh32_of_few(data: bytes) -> int:
    """xxHash32 with seed 0 of fewer than 16 bytes: the header checksum of the LZ4 frame format."""
    prime1, prime2, prime3, prime4, prime5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1

    def turned(value: int, bits: int) -> int:
        value &= 0xFFFFFFFF
        return (value << bits | value >> 32 - bits) & 0xFFFFFFFF

    whole = len(data) & ~3
    state = prime5 + len(data)
    for position in range(0, whole, 4):
        state = turned(state + int.from_bytes(data[position : position + 4], "little") * prime3, 17) * prime4
    for byte in data[whole:]:
        state = turned(state + byte * prime5, 11) * prime1
    state &= 0xFFFFFFFF
    state = (state ^ state >> 15) * prime2 & 0xFFFFFFFF
    state = (state ^ state >> 13) * prime3 & 0xFFFFFFFF
    return state ^ state >> 16
