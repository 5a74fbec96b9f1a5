"""How a live log is cut: every offset in one range, ranges of about equal size, whatever the cleaner left."""

from bisect import bisect_left

import numpy as np
import pytest

import jobs.ingestion.task.live_cuts
from jobs.ingestion.task.live_cuts import MOST_TIMES, Sample, cuts, lacking, without

LEAST, BYTES = 64, 4_000
BATCH_BYTES = 100


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.ingestion.task.live_cuts, "LEAST_OFFSETS", LEAST)
    monkeypatch.setattr(jobs.ingestion.task.live_cuts, "RANGE_BYTES", BYTES)


class Log:
    """Batches of one record each; each look sees some of them."""

    def __init__(self, offsets: list[int], end: int) -> None:
        self.offsets, self.end, self.num_looks = offsets, end, 0

    def look(self, offset: int) -> Sample:
        self.num_looks += 1
        at = bisect_left(self.offsets, offset)
        seen = self.offsets[at : at + 5]
        return Sample(seen[0], seen[-1] + 1, len(seen) * BATCH_BYTES) if seen else Sample(self.end, self.end, 0)

    def size(self, start: int, end: int) -> int:
        return (bisect_left(self.offsets, end) - bisect_left(self.offsets, start)) * BATCH_BYTES


def random_log(rng: np.random.Generator, sparse: int, dense: int) -> Log:
    """Cleaned up to an offset, whole from there on."""
    left = np.flatnonzero(rng.random(sparse) < rng.choice([0.0, 0.001, 0.05, 0.5]))
    end = sparse + dense
    return Log([*left.tolist(), *range(sparse, end)], end)


@pytest.mark.parametrize("dense", [1, 63, 500, 20_000])
@pytest.mark.parametrize("sparse", [0, 100, 30_000])
def test_ranges_follow_each_other_and_none_is_large(rng: np.random.Generator, sparse: int, dense: int) -> None:
    log = random_log(rng, sparse, dense)
    result = list(cuts(0, log.end, BATCH_BYTES, log.look))
    assert [each.start for each in result] == [0, *(each.end for each in result[:-1])]
    assert result[-1].end == log.end
    assert max(log.size(each.start, each.end) for each in result) <= 3 * MOST_TIMES * max(BYTES, LEAST * BATCH_BYTES)
    assert log.num_looks < 20 * (len(result) + 1)


def test_what_is_lacking(rng: np.random.Generator) -> None:
    for _ in range(200):
        start, end = sorted(rng.integers(0, 60, 2).tolist())
        known = [tuple(sorted(rng.integers(0, 60, 2).tolist())) for _ in range(rng.integers(0, 5))]
        held = {offset for first, last in known for offset in range(first, last + 1)}
        result = [offset for first, last in lacking(known, start, end) for offset in range(first, last + 1)]
        assert result == [offset for offset in range(start, end) if offset not in held]


def test_ranges_without_others() -> None:
    taken = [(3, 5), (9, 20)]
    assert list(without([(0, 4), (7, 8), (10, 12), (18, 30)], taken)) == [(0, 2), (7, 8), (21, 30)]
