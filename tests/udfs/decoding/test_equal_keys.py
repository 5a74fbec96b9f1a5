"""Equal keys are decoded once, and every row still has its own."""

import struct

import numpy as np
import pyarrow as pa

from udfs.arrays.slices import slices_of
from udfs.decoding.decode import decode
from udfs.decoding.decoded import Decoded
from udfs.decoding.equal_keys import EqualKeys, equal_keys

VALUE = bytes.fromhex("0003000000000000002a0000000700000000018bcfe5682c")
NO_VALUE_VERSION = bytes.fromhex("0063")

Name = tuple[str, str, int]


def key_of(name: Name) -> bytes:
    """As Kafka writes the key of a commit: version 1, group, topic, partition."""
    group, topic, partition = name[0].encode(), name[1].encode(), name[2]
    form = f">hh{len(group)}sh{len(topic)}si"
    return struct.pack(form, 1, len(group), group, len(topic), topic, partition)


def random_names(rng: np.random.Generator, num_rows: int, num_keys: int) -> list[Name]:
    # The short ones begin alike, so that only lengths and last bytes distinguish them.
    keys = [
        ("g" * int(rng.integers(0, 12)), "é" * int(rng.integers(1, 8)), int(rng.integers(3))) for _ in range(num_keys)
    ]
    return [keys[place] for place in rng.integers(0, num_keys, num_rows)]


def decoded(keys: list[bytes], values: list[bytes | None], may_share_keys: bool = True) -> Decoded:
    sides = (slices_of(pa.array(each, pa.binary())) for each in (keys, values))
    return decode(*sides, np.zeros(len(keys), bool), may_share_keys=may_share_keys)


def names_by_row(result: Decoded) -> dict[int, Name]:
    rows = {}
    for part in result.parts:
        keys = part.key.to_pylist()
        places = range(len(part.rows)) if part.key_of_row is None else part.key_of_row
        for row, place in zip(part.rows.tolist(), places, strict=True):
            rows[row] = (keys[place]["group"], keys[place]["topic"], keys[place]["partition"])
    return rows


def test_every_row_has_its_own_key(rng: np.random.Generator) -> None:
    names = random_names(rng, 20_000, 300)
    values = [None if rng.random() < 0.1 else VALUE for _ in names]
    result = decoded([key_of(name) for name in names], values)
    assert names_by_row(result) == dict(enumerate(names))
    assert any(part.key_of_row is not None and len(part.key) <= 300 for part in result.parts)


def test_bad_values_beside_shared_keys_are_rejected_alone(rng: np.random.Generator) -> None:
    names = random_names(rng, 5_000, 20)
    bad = {17: VALUE[:-1], 400: NO_VALUE_VERSION, 4_999: VALUE + b"\0"}
    result = decoded([key_of(name) for name in names], [bad.get(row, VALUE) for row in range(len(names))])
    assert {reject.row for reject in result.rejects} == set(bad)
    assert names_by_row(result) == {row: name for row, name in enumerate(names) if row not in bad}


def test_a_bad_key_is_rejected_in_each_row_that_has_it(rng: np.random.Generator) -> None:
    names = random_names(rng, 5_000, 20)
    keys = [key_of(name) for name in names]
    for row in (3, 4_000):
        keys[row] += b"\0"
    result = decoded(keys, [VALUE] * len(keys))
    assert {reject.row for reject in result.rejects} == {3, 4_000}
    assert names_by_row(result) == {row: name for row, name in enumerate(names) if row not in (3, 4_000)}


def test_keys_stay_with_their_rows_unless_the_caller_asks(rng: np.random.Generator) -> None:
    names = random_names(rng, 5_000, 20)
    result = decoded([key_of(name) for name in names], [VALUE] * len(names), may_share_keys=False)
    assert all(part.key_of_row is None and len(part.key) == len(part.rows) for part in result.parts)


def test_few_rows_and_many_keys_are_left() -> None:
    assert looked_for([b"a"] * 100) is None
    assert looked_for([str(number).encode() for number in range(5_000)]) is None


def test_long_and_empty_keys_are_numbered_too() -> None:
    for key in (b"a" * 1000, b""):
        result = looked_for([key] * 5_000)
        assert result is not None
        assert (result.rows.tolist(), result.key_of_row.any()) == ([0], False)


def looked_for(keys: list[bytes]) -> EqualKeys | None:
    return equal_keys(slices_of(pa.array(keys, pa.binary())), np.arange(len(keys)))
