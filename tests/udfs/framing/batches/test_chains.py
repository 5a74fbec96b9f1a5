"""Chains against a loop over their elements."""

from typing import NamedTuple

import numpy as np
import pytest

from udfs.arrays.big_endian import Positions, Views
from udfs.arrays.slices import padded
from udfs.framing.batches.chains import lengths_of_elements, walk


def prefixed(length: int) -> bytes:
    raw = 2 * length if length >= 0 else -2 * length - 1
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


def written(rng: np.random.Generator, chains: int, has_nulls: bool) -> Written:
    out = bytearray()
    starts, counts, ends, elements = [], [], [], []
    for _ in range(chains):
        starts.append(len(out))
        counts.append(int(rng.choice([0, 1, 2, 5, 30])))
        for _ in range(counts[-1]):
            length = int(rng.integers(-1 if has_nulls else 0, 30))
            if rng.random() < 0.05:
                length = int(rng.choice([63, 64, 126, 127, 128, 8191, 8192, 16382, 16383, 32767]))
            elements.append((len(out), length))
            out += prefixed(length)
            out += b"x" * length
        ends.append(len(out))
        out += b"\xff" * int(rng.choice([0, 0, 3]))
    columns = [np.array(column, np.int64) for column in (starts, counts, ends)]
    return Written(Views(padded(bytes(out))), *columns, elements)


@pytest.mark.parametrize("has_nulls", [False, True])
def test_elements_are_found(rng: np.random.Generator, has_nulls: bool) -> None:
    for chains in (0, 1, 5, 23, 24, 25, 200):
        for _ in range(10):
            views, start, count, end, elements = written(rng, chains, has_nulls)
            walked = walk(views, start, count, end, lowest=-1 if has_nulls else 0)
            length = lengths_of_elements(views, walked, lowest=-1 if has_nulls else 0)
            assert list(zip(walked.position.tolist(), length.tolist(), strict=True)) == elements
            assert not walked.is_bad.any()
            assert walked.after.tolist() == end.tolist()


def test_a_chain_that_runs_over_its_end_is_bad_and_no_other(rng: np.random.Generator) -> None:
    for chains in (5, 100):
        views, start, count, end, _ = written(rng, chains, has_nulls=False)
        is_cut = rng.random(chains) < 0.3
        walked = walk(views, start, count, end - is_cut, lowest=0)
        assert walked.is_bad.tolist() == is_cut.tolist()
        assert walked.after[~is_cut].tolist() == end[~is_cut].tolist()


@pytest.mark.parametrize("chains", [1, 100])
def test_nulls_are_bad_where_they_are_not_allowed(chains: int) -> None:
    raw = prefixed(3) + b"abc" + prefixed(-1) + prefixed(0)
    start = np.arange(chains) * len(raw)
    count = np.full(chains, 3)
    views = Views(padded(raw * chains))
    assert not walk(views, start, count, start + len(raw), lowest=-1).is_bad.any()
    assert walk(views, start, count, start + len(raw), lowest=0).is_bad.all()


def test_a_prefix_of_too_many_bytes_is_bad() -> None:
    raw = b"\x80\x80\x80\x80\x80\x00" + bytes(10)
    for chains in (1, 100):
        start = np.arange(chains) * len(raw)
        walked = walk(Views(padded(raw * chains)), start, np.full(chains, 2), start + 16, lowest=-1)
        assert walked.is_bad.all()
