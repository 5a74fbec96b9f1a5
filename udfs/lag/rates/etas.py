"""When a group will have caught up, at the rates of a bucket."""

import numpy as np
import pyarrow as pa

from schemas.words.lag import EtaUnknown
from udfs.arrays.nullable import NONE, Flags, Numbers, integers


def etas(consumed: np.ndarray, produced: np.ndarray, lag: Numbers, is_doubtful: Flags) -> dict[str, pa.Array]:
    """At these rates, by second."""
    net = consumed - produced
    is_done = lag == 0
    is_known = (lag != NONE) & ~np.isnan(net)
    low = time_to_read(lag, consumed, (lag != NONE) & (consumed > 0) & ~is_done)
    high = time_to_read(lag, net, is_known & (net > 0) & ~is_done)
    reason = np.select(
        [is_doubtful, is_done, ~is_known, ~(net > 0)],
        [
            EtaUnknown.CLOCK_WENT_BACK.value,
            EtaUnknown.NOTHING_TO_READ.value,
            EtaUnknown.NO_SNAPSHOTS.value,
            EtaUnknown.NOT_CATCHING_UP.value,
        ],
        "",
    )
    return {
        "eta_low_ms": integers(low),
        "eta_high_ms": integers(high),
        "eta_unknown_reason": pa.array(reason, pa.string(), mask=reason == ""),
    }


def time_to_read(lag: Numbers, per_s: np.ndarray, is_known: np.ndarray) -> Numbers:
    """Milliseconds. A rate of a message a century is none: what no number can hold is not known."""
    ms = np.where(is_known, lag / np.where(is_known, per_s, 1) * 1000, np.inf)
    return np.where(ms < 1 << 62, ms, NONE).astype(np.int64)
