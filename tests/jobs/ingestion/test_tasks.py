"""How an ingest groups its units into tasks: each unit once, and workers that end at about the same time."""

import heapq
from pathlib import Path

import numpy as np
import pytest

from jobs.ingestion.task.plan import LARGEST_TASK, CopySpan, PartitionSpan, size_of, tasks
from jobs.sources.segment_files import Span
from jobs.storage.places.local_place import LocalPlace

MB = 1 << 20


def units_of(sizes: list[int]) -> list[PartitionSpan]:
    return [
        PartitionSpan(
            number,
            ((CopySpan(Span(LocalPlace(Path(f"{number}.log")), 0, size), 0, None, is_newest=True),),),
            0,
            1,
            False,
        )
        for number, size in enumerate(sizes)
    ]


def busy_bytes(sizes: list[int], num_workers: int) -> list[int]:
    """What each worker has read in the end, when the one that is free takes the next task."""
    workers = [0] * num_workers
    for size in sizes:
        heapq.heapreplace(workers, workers[0] + size)
    return workers


@pytest.mark.parametrize("num_workers", [2, 3, 4, 8])
@pytest.mark.parametrize("largest_mb", [5, 40, 100])
def test_no_worker_waits_long_for_another(rng: np.random.Generator, num_workers: int, largest_mb: int) -> None:
    for _ in range(50):
        sizes = (rng.integers(1, largest_mb, 400) * MB).tolist()
        planned = [size_of(task) for task in tasks(units_of(sizes), num_workers)]
        busy = busy_bytes(planned, num_workers)
        # The smallest tasks come last: no worker is ahead of another by more than the smallest and one unit.
        assert max(busy) - min(busy) <= max(16, largest_mb) * MB, planned
        assert max(planned) <= max(LARGEST_TASK, largest_mb * MB)
        assert len(planned) <= 2 * sum(sizes) // LARGEST_TASK + 16 * num_workers


def test_each_unit_is_in_one_task_beside_its_neighbors(rng: np.random.Generator) -> None:
    planned = tasks(units_of((rng.integers(1, 60, 200) * MB).tolist()), 2)
    numbers = [[unit.partition for unit in task] for task in planned]
    assert sorted(number for task in numbers for number in task) == list(range(200))
    assert all(task == list(range(task[0], task[-1] + 1)) for task in numbers)


def test_a_small_log_is_one_task_and_an_empty_one_none() -> None:
    assert len(tasks(units_of([MB] * 16), 8)) == 1
    assert tasks([], 2) == []
