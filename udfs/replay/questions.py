"""What the fold of groups asks about commits: what was committed when a member got or lost a partition, and how long
the commits of a partition paused when it changed hands."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# Stands for NULL among times and offsets: below every real one.
NONE = -(2**63)


@dataclass(frozen=True)
class Questions:
    """Each about a key as of the record at `offset`, which counts. Any order."""

    group_id: pa.Array
    topic: pa.Array
    partition: NDArray[np.int32]
    offset: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offset)

    @classmethod
    def none(cls) -> "Questions":
        names = pa.array([], pa.string())
        return cls(names, names, np.empty(0, np.int32), np.empty(0, np.int64))


@dataclass
class Answers:
    """One of each question, in its place; NONE where there is nothing. Times are microseconds: of a commit the
    broker's clock, else the time of its record. Commits count for the times whether they hold in the end or not."""

    committed: NDArray[np.int64]
    last_commit_time: NDArray[np.int64]
    next_commit_time: NDArray[np.int64]
    # False: it is about a time before the state that this replay went on from, and the state does not tell any more.
    is_told: NDArray[np.bool_]

    @classmethod
    def open(cls, count: int) -> "Answers":
        return cls(*(np.full(count, NONE) for _ in range(3)), np.zeros(count, np.bool_))
