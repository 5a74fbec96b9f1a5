"""Whether lag grows over a window of snapshots, by a test that one high or low value does not change."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.arrays.nullable import Numbers


@dataclass(frozen=True)
class Trend:
    """`begin`, `end`: the median of the first and of the last third of the lags, at least one each; of an even number
    the upper of the two in the middle at the begin and the lower one at the end, so that one peak is no growth.
    `noise`: the median distance of the lags from the straight line through these two. `is_falling`: in the second half
    of the window, the median of its later half is below that of its earlier half."""

    begin: int
    end: int
    noise: float
    is_falling: bool

    def grows(self, allowed: int) -> bool:
        return self.end - self.begin > max(self.noise, allowed) and not self.is_falling


@dataclass(frozen=True)
class WindowLags:
    """The known lags of a partition in the window: how many, from when to when, in microseconds. `trend`: None: one
    lag shows none."""

    number: int
    first_time: int
    last_time: int
    trend: Trend | None


def lag_trends(lags: Numbers) -> list[Trend]:
    """Of each row of lags: two or more, in the order of time."""
    size = lags.shape[1]
    third = -(-size // 3)
    begin = np.sort(lags[:, :third], axis=1)[:, third // 2]
    end = np.sort(lags[:, -third:], axis=1)[:, (third - 1) // 2]
    # Each median belongs to the middle of its third.
    middle = (third - 1) / 2
    places = (np.arange(size) - middle) / (size - 1 - 2 * middle)
    noise = medians(np.abs(lags - (begin[:, None] + (end - begin)[:, None] * places)))
    second = lags[:, size // 2 :]
    half = second.shape[1] // 2
    is_falling = medians(second[:, half:]) < medians(second[:, :half]) if half else np.zeros(len(lags), np.bool_)
    columns = (column.tolist() for column in (begin, end, noise, is_falling))
    return [Trend(*row) for row in zip(*columns, strict=True)]


def medians(rows: NDArray[Any]) -> NDArray[Any]:
    """Of each row, as np.median, which looks for values that are no numbers first."""
    ordered, half = np.sort(rows, axis=1), rows.shape[1] // 2
    # Each half for itself: their sum may not fit into 64 bits.
    return ordered[:, half] if rows.shape[1] % 2 else ordered[:, half - 1] / 2 + ordered[:, half] / 2
