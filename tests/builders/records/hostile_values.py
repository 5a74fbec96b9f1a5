"""Values that want to cost more than they are worth; run as a program it prints what decoding them costs."""

import json
import resource
import sys
import time

from jobs.spark.compiled_loops import keep_compiled_loops
from tests.builders.records.encoder import uvarint
from tests.oracles.decoding.both_decoders import Row, fast
from tests.oracles.decoding.vectors import T_HEX, key_of

T = bytes.fromhex(T_HEX)
MOST = 2**31 - 1
BIG_ENDIAN_MOST = MOST.to_bytes(4, "big")
HEAD_OF_GROUP = bytes.fromhex("0003 0000 00000000 ffff ffff 0000000000000000")
HEAD_OF_MEMBER = HEAD_OF_GROUP + bytes.fromhex("00000001 0000 ffff 0000 0000 00000000 00000000")


def repeated(head: str, element: bytes, size: int, tail: str) -> bytes:
    """As many elements as about `size` bytes hold, behind their number."""
    count = size // len(element)
    return bytes.fromhex(head) + uvarint(count + 1) + element * count + bytes.fromhex(tail)


def hostile_rows(size: int) -> dict[str, Row]:
    """Each value has about `size` bytes."""
    count = size // 10
    in_tag = uvarint(1) + bytes(4) + uvarint(size // 3 + 1) + b"\x01\x01\x00" * (size // 3) + b"\x00"
    values = {
        # Whole values, of as many elements as bytes allow.
        "empty strings": (16, repeated("0000", b"\x01", size, "00" * 17)),
        "empty subtopologies": (23, repeated("0000 00000000", b"\x01" * 7 + b"\x00", size, "00")),
        "partitions without racks": (
            4,
            repeated(f"0000 02 {T_HEX} 0274 00000000", bytes(4) + b"\x01\x00", size, "0000"),
        ),
        "topics of one partition each": (7, repeated("0000", T + b"\x02" + bytes(5), size, "00")),
        "numbers": (7, repeated(f"0000 02 {T_HEX}", bytes(4), size, "00 00")),
        "protocols inside a tag": (
            5,
            bytes.fromhex("0000 00 00 01 01 01 00 00000000 00 01 00") + uvarint(len(in_tag)) + in_tag,
        ),
        "unknown tags": (3, bytes.fromhex("0000 00000009") + uvarint(size // 2) + b"\x05\x00" * (size // 2)),
        "one tag again and again": (
            3,
            bytes.fromhex("0000 00000009") + uvarint(count) + (b"\x00\x08" + bytes(8)) * count,
        ),
        "a large unknown tag": (3, bytes.fromhex("0000 00000009 01 05") + uvarint(size) + bytes(size)),
        "a large subscription": (2, HEAD_OF_MEMBER + size.to_bytes(4, "big") + bytes(size) + bytes(4)),
        # Claims that the bytes do not bear out.
        "a string beyond the longest": (
            5,
            bytes.fromhex("0000 00 00") + uvarint(size + 40_000) + b"x" * (size + 40_000),
        ),
        "a count beyond the bytes": (7, bytes.fromhex("0000") + uvarint(MOST) + bytes(size)),
        "a count of as many as bytes": (16, bytes.fromhex("0000") + uvarint(size) + b"\x01" * size),
        "numbers beyond the bytes": (7, bytes.fromhex(f"0000 02 {T_HEX}") + uvarint(size) + bytes(size)),
        "tags beyond the bytes": (3, bytes.fromhex("0000 00000009") + uvarint(MOST) + b"\x01" * size),
        "a tag beyond the bytes": (3, bytes.fromhex("0000 00000009 01 05") + uvarint(MOST) + bytes(size)),
        "members beyond the bytes": (2, HEAD_OF_GROUP + BIG_ENDIAN_MOST + bytes(size)),
        "a subscription beyond the bytes": (2, HEAD_OF_MEMBER + BIG_ENDIAN_MOST + bytes(size)),
        "negative lengths all along": (2, bytes.fromhex("0003") + b"\xff" * size),
        "varints without an end": (5, bytes.fromhex("0000") + b"\x80" * size),
        "zeros": (22, bytes(size)),
    }
    return {name: (key_of(record_type), value) for name, (record_type, value) in values.items()}


def main(size: int) -> None:
    keep_compiled_loops()
    fast([hostile_rows(100)["zeros"]])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = {}
    for name, row in hostile_rows(size).items():
        start = time.process_time()
        fast([row])
        seconds[name] = round(time.process_time() - start, 3)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    sys.stdout.write(json.dumps({"seconds": seconds, "grown_mib": grown // 1024}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
