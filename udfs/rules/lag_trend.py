"""Whether lag grows over a window of snapshots, by a test that one high or low value does not change."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from udfs.replay.nullable import Numbers


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


def lag_trend(lags: Numbers) -> Trend:
    """Of two lags or more, in the order of time."""
    size = len(lags)
    third = -(-size // 3)
    begin, end = int(np.sort(lags[:third])[third // 2]), int(np.sort(lags[-third:])[(third - 1) // 2])
    # Each median belongs to the middle of its third.
    middle = (third - 1) / 2
    places = (np.arange(size) - middle) / (size - 1 - 2 * middle)
    noise = median(np.abs(lags - (begin + (end - begin) * places)))
    second = lags[size // 2 :]
    half = len(second) // 2
    is_falling = half > 0 and median(second[half:]) < median(second[:half])
    return Trend(begin, end, noise, is_falling)


def median(values: NDArray[Any]) -> float:
    """As np.median, which takes many times as long for the few values of one partition."""
    ordered, half = np.sort(values), len(values) // 2
    return float(ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2)
