"""Members of classic groups that went without the log telling how: a leave, a removal or a timeout.

Each heartbeat and each commit begins a session anew, so that the coordinator drops a member no sooner than a session
timeout after its last commit. Somewhat later is as usual: the member lived on until about its next commit, and the
others learn of the round by their next heartbeats. Who leaves by itself has mostly committed just before.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from udfs.replay.nullable import NONE, Flags, Numbers

# The coordinator may have moved since the commit: clocks of a healthy cluster differ by less.
CLOCK_STEP_MS = 1_000
# The default of auto.commit.interval.ms.
COMMIT_INTERVAL_MS = 5_000
# Clients are to send as many in a session timeout.
HEARTBEATS = 3


class Departure(NamedTuple):
    """`to_offset`: the record without the member."""

    group_id: str
    member_id: str
    to_offset: int
    session_timeout_ms: int
    rebalance_timeout_ms: int | None


SCHEMA = pa.schema(
    [
        pa.field("group_id", pa.string()),
        pa.field("member_id", pa.string()),
        pa.field("to_offset", pa.int64()),
        pa.field("session_timeout_ms", pa.int64()),
        pa.field("rebalance_timeout_ms", pa.int64()),
    ]
)


def departures_table(departures: Sequence[Departure]) -> pa.Table:
    columns = zip(*departures, strict=True) if departures else [()] * len(SCHEMA)
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)], SCHEMA)


def are_session_timeouts(silent_ms: Numbers, session_timeout_ms: Numbers, rebalance_timeout_ms: Numbers) -> Flags:
    """`silent_ms`: from a member's last commit to the end of the join phase that it missed."""
    earliest = session_timeout_ms - CLOCK_STEP_MS
    latest = session_timeout_ms + COMMIT_INTERVAL_MS + session_timeout_ms // HEARTBEATS
    # A client that does not poll any more leaves by itself after its rebalance timeout. The oldest have no such, and
    # stand there with their session timeout.
    has_poll_timeout = (rebalance_timeout_ms != NONE) & (rebalance_timeout_ms != session_timeout_ms)
    stood_still = has_poll_timeout & (rebalance_timeout_ms <= silent_ms)
    return np.asarray((silent_ms >= earliest) & (silent_ms <= latest) & ~stood_still, np.bool_)
