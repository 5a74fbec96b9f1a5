"""When the owner of a partition stopped reading it: the bounds that timeouts give.

A member that leaves or gives up a partition may have read until then, and has polled within its rebalance timeout. A
member that the coordinator removes after a timeout sent its last heartbeat that much earlier, and died within one
heartbeat interval after it. Commits narrow these bounds when they are linked (`jobs.replaying.partition.unread_times`).
"""

from functools import cache
from typing import NamedTuple

# Kafka's default session timeout of consumer, share and streams groups.
DEFAULT_SESSION_MS = 45_000
# Kafka recommends that clients send this many heartbeats per session timeout.
HEARTBEATS = 3

RECORD, SNAPSHOT, ASSUMED = "from the record", "from a snapshot", "assumed"
GROUP_SETTINGS = "from the group's settings"


class Setting(NamedTuple):
    """Timeouts of one group type, or of one group, from snapshots; None: not in any."""

    session_ms: int | None = None
    heartbeat_ms: int | None = None
    session_source: str = SNAPSHOT
    heartbeat_source: str = SNAPSHOT

    def with_own(self, session_ms: int | None, heartbeat_ms: int | None) -> "Setting":
        """With the values that a group sets for itself."""
        setting = self
        if session_ms is not None:
            setting = setting._replace(session_ms=session_ms, session_source=GROUP_SETTINGS)
        if heartbeat_ms is not None:
            setting = setting._replace(heartbeat_ms=heartbeat_ms, heartbeat_source=GROUP_SETTINGS)
        return setting


class Timeouts(NamedTuple):
    """The timeouts of one member. `join_ms`: longest time from its removal to the record that shows it."""

    session_ms: int
    session_source: str
    heartbeat_ms: int
    heartbeat_source: str
    rebalance_ms: int
    join_ms: int = 0


class ReadingEnd(NamedTuple):
    """Microseconds. Reading ended between `first_time` and `last_time`, and never before a commit of the owner. The
    `silent_…` fields replace these if commits show that the member was silent before the record at `silent_offset`."""

    # Since then the partition has had no owner.
    stopped_time: int
    first_time: int
    last_time: int
    basis: str | None = None
    silent_offset: int | None = None
    silent_first_time: int | None = None
    silent_last_time: int | None = None
    silent_basis: str | None = None

    def settle(self, is_silent: bool) -> "ReadingEnd":
        """Once commits show whether the member was silent."""
        if is_silent and self.silent_first_time is not None and self.silent_last_time is not None:
            return ReadingEnd(self.stopped_time, self.silent_first_time, self.silent_last_time, self.silent_basis)
        return ReadingEnd(self.stopped_time, self.first_time, self.last_time, self.basis)


# Nothing bounds when it was.
UNKNOWN_END = ReadingEnd._make([None] * len(ReadingEnd._fields))


def timeouts_of_record(session_ms: int, rebalance_ms: int | None) -> Timeouts:
    """For a member whose record has its session timeout. In these groups the client sets its own heartbeat interval."""
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
    """An end at a known time: reading before it is counted elsewhere, or there was none."""
    return None if stop is None else ReadingEnd(stop, stop, stop)


def given_up(stop: int | None, of: Timeouts, since: int | None) -> ReadingEnd | None:
    """`since`: when the owner got the partition; None: unknown."""
    return None if stop is None else ReadingEnd(stop, *within(stop, of.rebalance_ms, 0, since))


def left_or_timed_out(stop: int | None, of: Timeouts, since: int | None, offset: int) -> ReadingEnd | None:
    """The log does not show whether the member left or timed out: commits may."""
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


def went_away(
    stop: int | None, of: Timeouts, away: int | None, deserted: int | None, joined: int | None
) -> ReadingEnd | None:
    """A static member announced that it leaves, and did not come back within its session. `deserted`: since when no
    other member was there either. A group that was stopped as a whole has no member that waits. Before it `joined` it
    cannot have stopped reading, however long its session is assumed to be."""
    expired = session_expired(stop, of, joined)
    if expired is None or away is None:
        return expired
    until = expired.stopped_time if deserted is None else min(deserted, expired.stopped_time)
    at = min(away, until)
    return expired._replace(stopped_time=until, first_time=min(expired.first_time, at), last_time=at)


def overdue(stop: int | None, of: Timeouts, since: int | None) -> ReadingEnd | None:
    """The member did not give up partitions within its rebalance timeout."""
    if stop is None:
        return None
    heartbeat = of.rebalance_ms // HEARTBEATS if of.heartbeat_source == ASSUMED else of.heartbeat_ms
    of = of._replace(heartbeat_ms=heartbeat)
    bounds = within(stop, of.rebalance_ms, of.rebalance_ms - heartbeat, since)
    return ReadingEnd(stop, *bounds, basis("rebalance", of.rebalance_ms, RECORD, of))


def within(stop: int, longest_ms: int, shortest_ms: int, since: int | None) -> tuple[int, int]:
    """From `longest_ms` to `shortest_ms` before the stop, but not before the owner got the partition."""
    earliest = stop if since is None else min(since, stop)
    first, last = stop - longest_ms * 1000, stop - max(shortest_ms, 0) * 1000
    return (first, last) if since is None else (max(first, earliest), max(last, earliest))


def basis(kind: str, timeout_ms: int, source: str, of: Timeouts) -> str:
    return basis_text(kind, timeout_ms, source, of.heartbeat_ms, of.heartbeat_source)


@cache
def basis_text(kind: str, timeout_ms: int, source: str, heartbeat_ms: int, heartbeat_source: str) -> str:
    """Cached, since many rows have the same text."""
    heartbeat = f"heartbeat interval {heartbeat_ms / 1000:,.1f} s {heartbeat_source}"
    return f"{kind} timeout {timeout_ms / 1000:,.1f} s {source}, {heartbeat}"
