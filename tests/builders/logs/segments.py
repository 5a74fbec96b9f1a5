"""Small segment files, written by kafka-python's record builder."""

import struct
from collections.abc import Sequence
from pathlib import Path

from kafka.record import MemoryRecordsBuilder

COMMIT_KEY = bytes.fromhex("000100016700017400000003")
COMMIT_V3 = bytes.fromhex("000300000000000000050000000700016d00000000000003e8")
GROUP_KEY = bytes.fromhex("0002000167")
GROUP_V3 = bytes.fromhex("0003000000000000ffffffff00000000000003e800000000")
T0 = 1_700_000_000_000


def batch(first_offset: int, records: Sequence[tuple[bytes | None, bytes | None]]) -> bytes:
    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 24)
    for number, (key, value) in enumerate(records):
        builder.append(T0 + first_offset + number, key, value)
    builder.close()
    raw = bytearray(builder.buffer())
    struct.pack_into(">q", raw, 0, first_offset)
    return bytes(raw)


def segment(folder: Path, content: bytes, partition: int = 7) -> Path:
    path = folder / f"__consumer_offsets-{partition}" / "00000000000000000000.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
