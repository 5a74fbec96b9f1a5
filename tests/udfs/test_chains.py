"""Chains against a loop over their elements."""

from typing import NamedTuple

import numpy as np
import pytest

from udfs.chains import Prefix, slices_of_elements, string_chain, walk
from udfs.slices import padded
from udfs.views import Positions, Views


def prefixed(prefix: Prefix, length: int) -> bytes:
    if prefix is Prefix.INT16:
        return length.to_bytes(2, "big", signed=True)
    raw = length + 1 if prefix is Prefix.COMPACT else 2 * length if length >= 0 else -2 * length - 1
    out = bytearray()
    while raw >= 128:
        out.append(raw % 128 + 128)
        raw //= 128
    return bytes((*out, raw))


class Written(NamedTuple):
    views: Views
    start: Positions
    count: Positions
    end: Positions
    elements: list[tuple[int, int]]


def written(rng: np.random.Generator, prefix: Prefix, chains: int, has_nulls: bool) -> Written:
    out = bytearray()
    starts, counts, ends, elements = [], [], [], []
    for _ in range(chains):
        starts.append(len(out))
        counts.append(int(rng.choice([0, 1, 2, 5, 30])))
        for _ in range(counts[-1]):
            length = int(rng.integers(-1 if has_nulls else 0, 30))
            if rng.random() < 0.05:
                length = int(rng.choice([63, 64, 126, 127, 128, 8191, 8192, 16382, 16383, 32767]))
            out += prefixed(prefix, length)
            elements.append((len(out), length))
            out += b"x" * length
        ends.append(len(out))
        out += b"\xff" * int(rng.choice([0, 0, 3]))
    columns = [np.array(column, np.int64) for column in (starts, counts, ends)]
    return Written(Views(padded(bytes(out))), *columns, elements)


@pytest.mark.parametrize("prefix", Prefix)
@pytest.mark.parametrize("has_nulls", [False, True])
def test_elements_are_found(rng: np.random.Generator, prefix: Prefix, has_nulls: bool) -> None:
    for chains in (0, 1, 5, 23, 24, 25, 200):
        for _ in range(10):
            views, start, count, end, elements = written(rng, prefix, chains, has_nulls)
            lowest = -1 if has_nulls else 0
            walked = walk(views, start, count, end, prefix=prefix, lowest=lowest)
            position, length = slices_of_elements(views, walked, prefix, lowest)
            assert list(zip(position.tolist(), length.tolist(), strict=True)) == elements
            assert not walked.is_bad.any()
            assert walked.after.tolist() == end.tolist()


@pytest.mark.parametrize("prefix", Prefix)
def test_a_chain_that_runs_over_its_end_is_bad_and_no_other(rng: np.random.Generator, prefix: Prefix) -> None:
    for chains in (5, 100):
        views, start, count, end, _ = written(rng, prefix, chains, has_nulls=False)
        is_cut = rng.random(chains) < 0.3
        walked = walk(views, start, count, end - is_cut, prefix=prefix, lowest=0)
        assert walked.is_bad.tolist() == is_cut.tolist()
        assert walked.after[~is_cut].tolist() == end[~is_cut].tolist()


@pytest.mark.parametrize("prefix", Prefix)
@pytest.mark.parametrize("chains", [1, 100])
def test_nulls_are_bad_where_they_are_not_allowed(prefix: Prefix, chains: int) -> None:
    raw = prefixed(prefix, 3) + b"abc" + prefixed(prefix, -1) + prefixed(prefix, 0)
    start = np.arange(chains) * len(raw)
    count = np.full(chains, 3)
    views = Views(padded(raw * chains))
    assert not walk(views, start, count, start + len(raw), prefix=prefix, lowest=-1).is_bad.any()
    assert walk(views, start, count, start + len(raw), prefix=prefix, lowest=0).is_bad.all()


def test_a_prefix_of_too_many_bytes_is_bad() -> None:
    for prefix in (Prefix.ZIGZAG, Prefix.COMPACT):
        raw = b"\x80\x80\x80\x80\x80\x00" + bytes(10)
        for chains in (1, 100):
            start = np.arange(chains) * len(raw)
            walked = walk(Views(padded(raw * chains)), start, np.full(chains, 2), start + 16, prefix=prefix, lowest=-1)
            assert walked.is_bad.all()


def test_string_chain_empties_the_strings_of_bad_arrays() -> None:
    raw = b"\x03ab\x04abc" + b"\x03ab\x09abc"
    start, count, end = np.array([0, 7]), np.array([2, 2]), np.array([7, 14])
    position, length, after, is_bad = string_chain(Views(padded(raw)), start, count, end, is_flexible=True)
    assert is_bad.tolist() == [False, True]
    assert length.tolist() == [2, 3, 0, 0]
    assert position.tolist()[:2] == [1, 4]
    assert after.tolist()[0] == 7
