"""Record batches of magic 2 around given records, with their checksums, markers and compression."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import google_crc32c
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.byte_columns import ZIGZAG_OF_NULL, chosen, joined, lengths, packed, zigzags
from benchmarks.traffic import Numbers, Records

COMMIT_MARKER_KEY = bytes.fromhex("00000001")
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
TRANSACTIONAL, CONTROL = 0x10, 0x20
# Bytes of a batch that its length does not count, and those before the part that its checksum covers.
UNCOUNTED, UNCHECKED = 12, 21
MARKER_DELAY = 3


@dataclass(frozen=True)
class Headers:
    """One row a batch, in log order."""

    base_offset: Numbers
    num_records: Numbers
    leader_epoch: Numbers
    attributes: Numbers
    time: Numbers
    max_time: Numbers
    producer_id: Numbers
    producer_epoch: Numbers
    base_sequence: Numbers


def record_bodies(records: Records, offset_delta: Numbers, time_delta: Numbers) -> pa.BinaryArray:
    """Each record with its own length in front."""
    is_null = np.asarray(records.value.is_null())
    value_size = chosen(is_null, ZIGZAG_OF_NULL, zigzags(lengths(records.value.fill_null(b""))))
    inner = joined(
        b"\0", zigzags(time_delta), zigzags(offset_delta),
        zigzags(lengths(records.key)), records.key, value_size, records.value.fill_null(b""), b"\0",
    )  # fmt: skip
    return joined(zigzags(lengths(inner)), inner)


def marker_body(coordinator_epoch: int) -> bytes:
    value = b"\0\0" + coordinator_epoch.to_bytes(4, "big")
    inner = b"\0\0\0" + bytes([2 * 4]) + COMMIT_MARKER_KEY + bytes([2 * len(value)]) + value + b"\0"
    return bytes([2 * len(inner)]) + inner


def framed(headers: Headers, bodies: pa.BinaryArray) -> pa.BinaryArray:
    last = headers.num_records - 1
    checked = joined(
        packed(
            (">i2", headers.attributes), (">i4", last), (">i8", headers.time), (">i8", headers.max_time),
            (">i8", headers.producer_id), (">i2", headers.producer_epoch), (">i4", headers.base_sequence),
            (">i4", headers.num_records),
        ),
        bodies,
    )  # fmt: skip
    front = packed(
        (">i8", headers.base_offset), (">i4", lengths(checked) + UNCHECKED - UNCOUNTED),
        (">i4", headers.leader_epoch), ("i1", 2), (">u4", checksums(checked)),
    )  # fmt: skip
    return joined(front, checked)


def checksums(column: pa.BinaryArray) -> Numbers:
    ends, data = offsets_and_data(column)
    bounds = ends.tolist()
    raw = data.tobytes()
    return np.array([google_crc32c.value(raw[a:b]) for a, b in pairwise(bounds)], np.int64)


def offsets_and_data(column: pa.BinaryArray) -> tuple[Numbers, memoryview]:
    _, ends, data = column.buffers()
    bounds = np.frombuffer(ends, np.int32, len(column) + 1, column.offset * 4).astype(np.int64)
    return bounds, memoryview(data)


def compressed(bodies: pa.BinaryArray, codec: Numbers) -> pa.BinaryArray:
    """The bodies with those of a codec other than 0 compressed."""
    rows = np.flatnonzero(codec)
    if not len(rows):
        return bodies
    changed = [COMPRESSORS[int(codec[row])](bodies[int(row)].as_py()) for row in rows]
    return pc.replace_with_mask(bodies, pa.array(codec != 0), pa.array(changed, pa.binary()))


def gzipped(raw: bytes) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(raw) + packer.flush()


def snappy_java(raw: bytes) -> bytes:
    """One block of the stream that snappy-java writes; batches are smaller than its blocks of 32 KiB or more."""
    block = by_arrow("snappy")(raw)
    return b"\x82SNAPPY\0" + bytes([0, 0, 0, 1, 0, 0, 0, 1]) + len(block).to_bytes(4, "big") + block


def by_arrow(name: str) -> Callable[[bytes], bytes]:
    codec = pa.Codec(name)
    return lambda raw: codec.compress(raw, asbytes=True)


COMPRESSORS: dict[int, Callable[[bytes], bytes]] = {
    GZIP: gzipped,
    SNAPPY: snappy_java,
    LZ4: by_arrow("lz4"),
    ZSTD: by_arrow("zstd"),
}
