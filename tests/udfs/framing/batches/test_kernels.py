"""Loops over the records of batches: what they are run with, and records at the bounds of their numbers' sizes."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.builders.logs.batches import damaged_batch, random_bytes, random_record, record, zigzag
from udfs.framing.batches.headers import HEADER_SIZE
from udfs.framing.batches.kernels import BROKEN_CHAIN, NONE_BAD, read_records, repeat

# Where a zig-zag varint takes a byte more.
LENGTHS = [0, 1, 63, 64, 8191, 8192, 1_048_575, 1_048_576]


def arguments(batches: list[tuple[bytes, int]], *, slack: bytes = b"") -> tuple[Any, ...]:
    """Of `read_records`, for batches of the bytes of records and their number; `slack` follows each."""
    data = np.frombuffer(b"".join(body + slack for body, _ in batches), np.uint8)
    size = np.array([len(body) for body, _ in batches], np.int64)
    start = np.cumsum(size + len(slack)) - size - len(slack)
    count = np.array([number for _, number in batches], np.int64)
    base = np.arange(len(batches)) * 1000
    total = int(count.sum())
    fields = [np.zeros(total, np.int32 if place == 2 else np.int64) for place in range(7)]
    own_times = base % 2000 == 0
    return (data, start, start + size, count, base, base * 7, own_times, *fields, np.zeros(len(batches), np.int64))


def drawn(rng: np.random.Generator) -> tuple[bytes, int]:
    if rng.random() < 0.5:
        body = damaged_batch(rng)[HEADER_SIZE:]
        return body, int(rng.integers(0, 12))
    count = int(rng.integers(0, 12))
    return b"".join(random_record(rng, delta) for delta in range(count)), count


def inputs(rng: np.random.Generator) -> Mapping[str, Iterable[tuple[Any, ...]]]:
    counts = rng.integers(0, 4, 50)
    # Nothing follows these in the buffer.
    wholes = record(0, b"k", b"v"), record(0, b"key", b"value", 300, ((b"name", b"content"),))
    cut = [arguments([(whole[:end], 1)]) for whole in wholes for end in range(len(whole) + 1)]
    return {
        "read_records": cut
        + [arguments([drawn(rng) for _ in range(30)]) for _ in range(20)]
        + [arguments([(rng.bytes(int(rng.integers(0, 200))), 5) for _ in range(100)]), arguments([])],
        "repeat": [
            (rng.integers(0, 2, 50).astype(dtype), counts, np.zeros(counts.sum(), dtype))
            for dtype in (np.int64, np.int32, np.int16, np.bool_)
        ],
    }


def read(batches: list[tuple[bytes, int]]) -> tuple[list[list[int]], list[int]]:
    """The columns, and the first bad record of each batch."""
    # What follows would be read as the end of a number that is cut off.
    given = arguments(batches, slack=b"\0\0")
    read_records(*given)
    return [column.tolist() for column in given[7:14]], given[14].tolist()


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_where_numbers_take_a_byte_more(length: int) -> None:
    wanted = record(length, b"k" * length, b"v" * length, -length, ((b"h", None), (b"", b"x" * length)))
    (offset, time, size, key_start, key_length, value_start, value_length), bad = read([(wanted, 1), (wanted, 1)])
    assert bad == [NONE_BAD] * 2
    assert (offset, time) == ([length, 1000 + length], [-length, 7000])
    assert (size, key_length, value_length) == ([len(wanted)] * 2, [length] * 2, [length] * 2)
    second = len(wanted) + 2
    key_at = wanted.index(zigzag(length) + b"k" * length, 3 + len(zigzag(length))) + len(zigzag(length))
    assert key_start == [key_at, key_at + second]
    assert value_start == [key_at + length + len(zigzag(length)) + at for at in (0, second)]


def test_a_batch_that_is_cut_is_bad_and_no_other(rng: np.random.Generator) -> None:
    whole = [b"".join(random_record(rng, delta) for delta in range(5)) for _ in range(100)]
    is_cut = rng.random(100) < 0.3
    _, bad = read([(body[:-1] if cut else body, 5) for body, cut in zip(whole, is_cut, strict=True)])
    assert bad == [BROKEN_CHAIN if cut else NONE_BAD for cut in is_cut]


def test_the_first_of_two_bad_records_is_named(rng: np.random.Generator) -> None:
    good, null_name = record(0, random_bytes(rng), b""), b"\x10\0\0\0\0\0\x02\x01\x01"
    assert read([(good + null_name + good + null_name, 4), (good * 3, 3)])[1] == [1, NONE_BAD]


def test_a_number_of_too_many_bytes_is_bad() -> None:
    # A length, a time delta and an offset delta, each a byte longer than any that Kafka writes.
    bodies = [
        b"\x8e\x80\x80\x80\x80\x00" + bytes(7),
        b"\x1e\0" + b"\x80" * 10 + bytes(4),
        b"\x12\0\0" + b"\x80" * 5 + b"\0\0",
    ]
    assert read([(body, 1) for body in bodies])[1] == [BROKEN_CHAIN, 0, 0]


def test_values_are_repeated() -> None:
    out = np.zeros(4, np.int16)
    repeat(np.array([5, 6, 7], np.int16), np.array([3, 0, 1]), out)
    assert out.tolist() == [5, 5, 5, 7]
