"""Infers how members left when the log does not say it: by leave request, removal or timeout.

In a classic group each heartbeat and each commit restarts the session. So the coordinator removes a member at the
earliest one session timeout after its last commit. In other groups only heartbeats do: the last commit may come up to a
heartbeat interval after the last heartbeat. It is normal that the removal is somewhat later: the member lived until
about its next commit, and the other members of a classic group learn of the rebalance by their next heartbeats. A
member that leaves by itself has mostly committed just before: then no timeout can explain its end. Neither can one if
the member had joined just before.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.groups.history.reading_ends import HEARTBEATS, Timeouts

# The coordinator may have moved since the commit. Clocks of a healthy cluster differ by less than this.
CLOCK_STEP_MS = 1_000
# The default of auto.commit.interval.ms.
COMMIT_INTERVAL_MS = 5_000
# The default of commit.interval.ms of Kafka Streams.
STREAMS_COMMIT_INTERVAL_MS = 30_000


class Departure(NamedTuple):
    """`from_time`: since when it was a member. `to_record_offset`: the first record without it. `to_time`: until when
    it was a member. Its session timed out if it was silent for a session timeout, minus up to `early_ms` or plus up to
    `late_ms`."""

    group_id: str
    member_id: str
    from_time: int | None
    to_record_offset: int
    to_time: int | None
    session_timeout_ms: int
    rebalance_timeout_ms: int | None
    early_ms: int
    late_ms: int


SCHEMA = pa.schema(
    [
        pa.field("group_id", pa.string()),
        pa.field("member_id", pa.string()),
        pa.field("from_time", pa.int64()),
        pa.field("to_record_offset", pa.int64()),
        pa.field("to_time", pa.int64()),
        pa.field("session_timeout_ms", pa.int64()),
        pa.field("rebalance_timeout_ms", pa.int64()),
        pa.field("early_ms", pa.int64()),
        pa.field("late_ms", pa.int64()),
    ]
)


NONE_LEFT = SCHEMA.empty_table()


def departures_table(departures: Sequence[Departure]) -> pa.Table:
    if not departures:
        return NONE_LEFT
    return pa.table({name: [getattr(each, name) for each in departures] for name in Departure._fields}, SCHEMA)


def classic_departure(
    group_id: str, member_id: str, from_time: int | None, to_record_offset: int, to_time: int | None, session_ms: int,
    rebalance_ms: int | None,
) -> Departure:  # fmt: skip
    late = COMMIT_INTERVAL_MS + session_ms // HEARTBEATS
    return Departure(
        group_id=group_id,
        member_id=member_id,
        from_time=from_time,
        to_record_offset=to_record_offset,
        to_time=to_time,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=rebalance_ms,
        early_ms=CLOCK_STEP_MS,
        late_ms=late,
    )


def modern_departure(
    group_id: str, member_id: str, from_time: int | None, to_record_offset: int, to_time: int | None, of: Timeouts, *,
    is_streams: bool,
) -> Departure:  # fmt: skip
    late = (STREAMS_COMMIT_INTERVAL_MS if is_streams else COMMIT_INTERVAL_MS) + CLOCK_STEP_MS
    early = of.heartbeat_ms + CLOCK_STEP_MS
    return Departure(
        group_id=group_id,
        member_id=member_id,
        from_time=from_time,
        to_record_offset=to_record_offset,
        to_time=to_time,
        session_timeout_ms=of.session_ms,
        rebalance_timeout_ms=of.rebalance_ms,
        early_ms=early,
        late_ms=late,
    )


def are_session_timeouts(silent_ms: Numbers, gone: pa.Table) -> Flags:
    """`silent_ms`: from each member's last commit to the end of its membership."""
    session, rebalance = timeouts(gone)
    early, late = (numbers(gone.column(f"{each}_ms")) for each in ("early", "late"))
    # Where heartbeats are about as rare as sessions are long, a silence proves nothing.
    early = np.minimum(early, session // HEARTBEATS)
    # A client that no longer polls leaves by itself after its rebalance timeout. The oldest clients have none; here it
    # is their session timeout.
    stood_still = (rebalance != session) & (rebalance <= silent_ms)
    return np.asarray((silent_ms >= session - early) & (silent_ms <= session + late) & ~stood_still, np.bool_)


def are_too_short(known_ms: Numbers, gone: pa.Table) -> Flags:
    """Whether no timeout of the member ends in such a time before the end of its membership: since it joined, or since
    its last commit."""
    session, rebalance = timeouts(gone)
    shortest = np.minimum(session, rebalance) - numbers(gone.column("early_ms"))
    return np.asarray(known_ms < shortest, np.bool_)


def timeouts(gone: pa.Table) -> tuple[Numbers, Numbers]:
    """Of the session, and of a rebalance."""
    session, rebalance = (numbers(gone.column(f"{each}_timeout_ms")) for each in ("session", "rebalance"))
    return session, np.where((rebalance == NONE) | (rebalance <= 0), session, rebalance)
