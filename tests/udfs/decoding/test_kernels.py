"""Arguments for the loops over keys and values, and slices that look alike."""

from itertools import islice
from typing import Any

import numpy as np

from udfs.arrays.slices import PADDING
from udfs.decoding.kernels import FIRST_KIND, KINDS_OF_TYPE, NO_KIND, TOMBSTONE, hash_of, number_slices, read_kinds

VERSIONS = np.array([[0, 4], [1, 3]])


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    data = rng.integers(0, 4, 300 + PADDING, np.uint8)
    start, length = rng.integers(0, 250, 100), rng.integers(-1, 6, 100)
    some = np.flatnonzero(rng.random(100) < 0.7)
    alike = [rng.integers(0, 2, 120 + PADDING, np.uint8), rng.integers(0, 100, 60), rng.integers(0, 20, 60)]
    return {
        "read_kinds": [(data, start, length, data, start + 3, length[::-1].copy(), some, VERSIONS, some * 0)],
        "number_slices": [
            (*alike, np.arange(60), most, np.full(256, -1), np.zeros(most, np.int64), np.zeros(60, np.int32))
            for most in (60, 5)
        ],
    }


def numbers_of(raw: list[bytes], most: int = 100, slots: int = 256) -> list[int] | None:
    data = np.frombuffer(b"".join(raw) + bytes(PADDING), np.uint8)
    length = np.array([len(each) for each in raw])
    numbers, firsts = np.zeros(len(raw), np.int32), np.zeros(most, np.int64)
    start, rows = np.cumsum(length) - length, np.arange(len(raw))
    count = number_slices(data, start, length, rows, most, np.full(slots, -1), firsts, numbers)
    if count < 0:
        return None
    assert [raw[first] for first in firsts[:count]] == list(dict.fromkeys(raw))
    return numbers.tolist()


def test_slices_that_differ_in_one_byte_or_in_length_have_other_numbers() -> None:
    for size in (*range(1, 18), 63, 64, 65, 200):
        whole = bytes(range(1, size + 1))
        others = [whole[:place] + b"\0" + whole[place + 1 :] for place in range(size)]
        raw = [whole, *others, whole + b"\0", whole[:-1], whole, others[0]]
        assert numbers_of(raw, len(raw), 1024) == [*range(size + 3), 0, 1]


def test_bytes_after_a_slice_do_not_count(rng: np.random.Generator) -> None:
    raw = [bytes([65 + place]) * (1 + place % 13) for place in rng.integers(0, 26, 3_000)]
    distinct = list(dict.fromkeys(raw))
    assert numbers_of(raw) == [distinct.index(each) for each in raw]


def test_too_many_distinct_slices_have_no_numbers() -> None:
    assert numbers_of([b"a", b"b", b"c"], most=2, slots=8) is None
    assert numbers_of([b"a", b"b", b"a"], most=2, slots=8) == [0, 1, 0]


def test_slices_that_collide_too_often_have_no_numbers() -> None:
    every = [number.to_bytes(2, "big") for number in range(1 << 16)]
    place = place_of(every[0])
    alike = list(islice((each for each in every if place_of(each) == place), 64))
    assert len(alike) == 64
    assert numbers_of(every[:64]) == [*range(64)]
    assert numbers_of(alike) is None


def place_of(raw: bytes) -> int:
    """In a hash table of 256 places."""
    with np.errstate(over="ignore"):
        return int(hash_of(np.frombuffer(raw + bytes(PADDING), np.uint8), 0, len(raw))) % 256


def kind_of(key: str, value: str | None) -> int:
    data = np.frombuffer(bytes.fromhex(key) + bytes.fromhex(value or "") + bytes(PADDING), np.uint8)
    sizes = len(bytes.fromhex(key)), -1 if value is None else len(bytes.fromhex(value))
    kinds = np.zeros(1, np.int64)
    start, lengths = (np.array([0]), np.array([sizes[0]])), [np.array([size]) for size in sizes]
    read_kinds(data, start[0], lengths[0], data, start[1], lengths[1], np.array([0]), VERSIONS, kinds)
    return int(kinds[0])


def test_kinds_are_those_of_known_types_and_versions() -> None:
    assert kind_of("0001 00", "0003") == FIRST_KIND + KINDS_OF_TYPE + 3
    assert kind_of("0000 00", None) == FIRST_KIND + TOMBSTONE
    unknown = [("0002", "0001"), ("ffff", "0001"), ("00", "0001"), ("", None), ("0001", "0004"), ("0001", "0000")]
    unknown += [("0001", "ffff"), ("0001", "00"), ("0001", ""), ("0000", "0005")]
    assert {kind_of(key, value) for key, value in unknown} == {NO_KIND}
