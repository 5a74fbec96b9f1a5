"""When the owner of a partition stopped reading it: the bounds that timeouts give.

Whoever leaves or gives a partition up has read until then at most, and has polled within its rebalance timeout. Whoever
the coordinator removes after a timeout sent its last heartbeat that long before, and died within a heartbeat interval
of it. Commits narrow these bounds where they are linked (`jobs.replaying.unread_times`).
"""

from functools import cache
from typing import NamedTuple

# Kafka's default session timeout of consumer, share and streams groups.
DEFAULT_SESSION_MS = 45_000
# Clients are to send as many in a session timeout.
HEARTBEATS = 3

RECORD, SNAPSHOT, ASSUMED = "from the record", "from a snapshot", "assumed"
GROUP_SETTINGS = "from the group's settings"


class Setting(NamedTuple):
    """What snapshots tell of one type of group, or of one group; None: they do not."""

    session_ms: int | None = None
    heartbeat_ms: int | None = None
    session_source: str = SNAPSHOT
    heartbeat_source: str = SNAPSHOT

    def with_own(self, session_ms: int | None, heartbeat_ms: int | None) -> "Setting":
        """Of a group that sets one of them, or both, for itself."""
        found = self
        if session_ms is not None:
            found = found._replace(session_ms=session_ms, session_source=GROUP_SETTINGS)
        if heartbeat_ms is not None:
            found = found._replace(heartbeat_ms=heartbeat_ms, heartbeat_source=GROUP_SETTINGS)
        return found


class Timeouts(NamedTuple):
    """Of one member. `join_ms`: up to so long passed from its removal to the record that shows it."""

    session_ms: int
    session_source: str
    heartbeat_ms: int
    heartbeat_source: str
    rebalance_ms: int
    join_ms: int = 0


class ReadingEnd(NamedTuple):
    """Microseconds. Reading ended between `first_time` and `last_time`, and never before a commit of the owner.
    `silent_…` stand in their place if commits show that the member fell silent before the record at `silent_offset`."""

    # Nobody has owned the partition since.
    stopped_time: int
    first_time: int
    last_time: int
    basis: str | None = None
    silent_offset: int | None = None
    silent_first_time: int | None = None
    silent_last_time: int | None = None
    silent_basis: str | None = None


NOT_TOLD = (None,) * len(ReadingEnd._fields)


def timeouts_of_record(session_ms: int, rebalance_ms: int | None) -> Timeouts:
    """Of a member whose record has its session timeout: no broker sets the heartbeats of its client."""
    rebalance = session_ms if rebalance_ms is None or rebalance_ms < 0 else rebalance_ms
    return Timeouts(session_ms, RECORD, session_ms // HEARTBEATS, ASSUMED, rebalance)


def timeouts_of_setting(setting: Setting, rebalance_ms: int | None) -> Timeouts:
    session, source = setting.session_ms, setting.session_source
    if session is None:
        session, source = DEFAULT_SESSION_MS, ASSUMED
    heartbeat, heartbeat_source = setting.heartbeat_ms, setting.heartbeat_source
    if heartbeat is None:
        heartbeat, heartbeat_source = session // HEARTBEATS, ASSUMED
    rebalance = session if rebalance_ms is None or rebalance_ms < 0 else rebalance_ms
    return Timeouts(session, source, heartbeat, heartbeat_source, rebalance)


def known_end(stop: int | None) -> ReadingEnd | None:
    """What came before counts elsewhere, or nothing did."""
    return None if stop is None else ReadingEnd(stop, stop, stop)


def given_up(stop: int | None, of: Timeouts, since: int | None) -> ReadingEnd | None:
    """`since`: when the owner got the partition; None: not known."""
    return None if stop is None else ReadingEnd(stop, *within(stop, of.rebalance_ms, 0, since))


def left_or_timed_out(stop: int | None, of: Timeouts, since: int | None, offset: int) -> ReadingEnd | None:
    """The log does not tell how the member went: commits may."""
    if stop is None:
        return None
    longest = max(of.rebalance_ms, of.session_ms + of.join_ms)
    expired = session_expired(stop, of, since)
    assert expired is not None
    return ReadingEnd(
        stop, *within(stop, longest, 0, since), None, offset, expired.first_time, expired.last_time, expired.basis
    )


def session_expired(stop: int | None, of: Timeouts, since: int | None) -> ReadingEnd | None:
    if stop is None:
        return None
    bounds = within(stop, of.session_ms + of.join_ms, of.session_ms - of.heartbeat_ms, since)
    return ReadingEnd(stop, *bounds, basis("session", of.session_ms, of.session_source, of))


def went_away(stop: int | None, of: Timeouts, away: int | None, deserted: int | None) -> ReadingEnd | None:
    """A static member that said so, and did not come back within its session. `deserted`: since when nobody else was
    there either: a group that was stopped as a whole waits for nobody."""
    expired = session_expired(stop, of, None)
    if expired is None or away is None:
        return expired
    until = expired.stopped_time if deserted is None else min(deserted, expired.stopped_time)
    at = min(away, until)
    return expired._replace(stopped_time=until, first_time=min(expired.first_time, at), last_time=at)


def overdue(stop: int | None, of: Timeouts, since: int | None) -> ReadingEnd | None:
    """It did not give partitions up within its rebalance timeout."""
    if stop is None:
        return None
    heartbeat = of.rebalance_ms // HEARTBEATS if of.heartbeat_source == ASSUMED else of.heartbeat_ms
    of = of._replace(heartbeat_ms=heartbeat)
    bounds = within(stop, of.rebalance_ms, of.rebalance_ms - heartbeat, since)
    return ReadingEnd(stop, *bounds, basis("rebalance", of.rebalance_ms, RECORD, of))


def within(stop: int, longest_ms: int, shortest_ms: int, since: int | None) -> tuple[int, int]:
    """From so long before the stop to so long before it, but never before the owner had the partition."""
    earliest = stop if since is None else min(since, stop)
    first, last = stop - longest_ms * 1000, stop - max(shortest_ms, 0) * 1000
    return (first, last) if since is None else (max(first, earliest), max(last, earliest))


def basis(kind: str, timeout_ms: int, source: str, of: Timeouts) -> str:
    return basis_text(kind, timeout_ms, source, of.heartbeat_ms, of.heartbeat_source)


@cache
def basis_text(kind: str, timeout_ms: int, source: str, heartbeat_ms: int, heartbeat_source: str) -> str:
    """As one object: many rows have the same."""
    heartbeat = f"heartbeat interval {heartbeat_ms / 1000:,.1f} s {heartbeat_source}"
    return f"{kind} timeout {timeout_ms / 1000:,.1f} s {source}, {heartbeat}"
