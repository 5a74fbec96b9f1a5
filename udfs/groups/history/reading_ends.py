"""When the owner of a partition stopped reading it, and when the next one can read it: the bounds that timeouts give.

A member that leaves or gives up a partition may have read until then, and has polled within its rebalance timeout. A
member that the coordinator removes after a timeout sent its last heartbeat that much earlier, and died within one
heartbeat interval after it. A static member that went away said so. The next owner learns of the record that gives it
the partition within one heartbeat interval, in classic groups at once. Commits narrow these bounds when they are linked
(`jobs.replaying.partition.unread_times`).
"""

from functools import cache
from typing import NamedTuple

from schemas.words.history import LeaveKind

# Kafka's defaults in consumer, share and streams groups, and the heartbeat interval of clients of classic groups.
DEFAULT_SESSION_MS = 45_000
DEFAULT_HEARTBEAT_MS = 5_000
CLASSIC_HEARTBEAT_MS = 3_000
# Kafka recommends that clients send at least this many heartbeats per session timeout. By default, those of classic
# groups send 15: every 3 s of 45 s, since 3.0.
HEARTBEATS = 3
# SyncGroup is answered as soon as the assignment is written.
CLASSIC_DELIVERY_MS = 500
# Of members of which nothing says when they polled last.
ANY_MS = 1 << 42

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
    """The timeouts of one member. `join_ms`: longest time from its removal to the record that shows it.
    `is_restarted`: a new coordinator began to count anew."""

    session_ms: int
    session_source: str
    heartbeat_ms: int
    heartbeat_source: str
    rebalance_ms: int
    join_ms: int = 0
    is_restarted: bool = False


class Delivery(NamedTuple):
    """The longest time from the record that gives a partition to its reader, and where it comes from."""

    delivery_ms: int | None
    delivery_basis: str | None


class ReadingEnd(NamedTuple):
    """Microseconds. Reading ended between `first_time` and `last_time`, and never before a commit of the owner. The
    `silent_…` fields replace these if commits show that the member was silent before the record at `silent_offset`."""

    # Since then the partition has had no owner.
    stopped_time: int | None
    # None: only a commit bounds it.
    first_time: int | None
    last_time: int | None
    basis: str | None = None
    silent_offset: int | None = None
    silent_first_time: int | None = None
    silent_last_time: int | None = None
    silent_basis: str | None = None
    # That member.
    silent_id: str | None = None
    # If nothing was committed, it ended no earlier than this; of a member that may have timed out, the second one if it
    # left instead. None: as `first_time`.
    alone_time: int | None = None
    left_time: int | None = None
    # The owner was asked to give the partition up. What it commits then, it read before.
    is_told: bool = False

    @property
    def is_grown(self) -> bool:
        """The partition is new. How long it may have been without a reader rests on how often snapshots are taken, so
        it is no cost of a rebalance."""
        return self.basis == GROWN_BASIS

    def settle(self, kind: str | None) -> "ReadingEnd":
        """Once commits show how the member left, or that they do not show it."""
        if kind == LeaveKind.SESSION_TIMEOUT_LIKELY:
            return UNKNOWN_END._replace(
                stopped_time=self.stopped_time, first_time=self.silent_first_time, last_time=self.silent_last_time,
                basis=self.silent_basis, is_told=self.is_told,
            )  # fmt: skip
        alone = self.left_time if kind == LeaveKind.LEFT else self.alone_time
        return UNKNOWN_END._replace(
            stopped_time=self.stopped_time, first_time=self.first_time, last_time=self.last_time, basis=self.basis,
            alone_time=alone, is_told=self.is_told,
        )  # fmt: skip


# Nothing bounds when it was.
UNKNOWN_END = ReadingEnd(None, None, None)
NO_DELIVERY = Delivery(None, None)


@cache
def timeouts_of_record(session_ms: int, rebalance_ms: int | None) -> Timeouts:
    """For a member whose record has its session timeout. In these groups the client sets its own heartbeat interval.
    Cached, since the members of a group mostly have the same."""
    rebalance = session_ms if rebalance_ms is None or rebalance_ms < 0 else rebalance_ms
    heartbeat = min(CLASSIC_HEARTBEAT_MS, session_ms // HEARTBEATS)
    return Timeouts(session_ms, RECORD, heartbeat, ASSUMED, rebalance)


def timeouts_of_setting(setting: Setting, rebalance_ms: int | None) -> Timeouts:
    session, source = setting.session_ms, setting.session_source
    if session is None:
        session, source = DEFAULT_SESSION_MS, ASSUMED
    heartbeat, heartbeat_source = setting.heartbeat_ms, setting.heartbeat_source
    if heartbeat is None:
        heartbeat, heartbeat_source = DEFAULT_HEARTBEAT_MS, ASSUMED
    rebalance = session if rebalance_ms is None or rebalance_ms < 0 else rebalance_ms
    return Timeouts(session, source, heartbeat, heartbeat_source, rebalance)


class Begin(NamedTuple):
    """Since when an owner has a partition, or since when it has been asked to give it up: reading cannot have ended
    before. None: unknown, or the owner was away."""

    time: int | None
    is_told: bool = False


# -- when reading ended, by how the owner lost the partition


def known_end(stop: int | None) -> ReadingEnd:
    """An end at a known time: reading before it is counted elsewhere, or there was none."""
    return ReadingEnd(stop, stop, stop)


def unbounded(stop: int | None, *, is_told: bool = False) -> ReadingEnd:
    """Records before the stop may be missing."""
    return ReadingEnd(stop, None, stop, is_told=is_told)


def given_up(stop: int | None, of: Timeouts, begin: Begin) -> ReadingEnd:
    if stop is None:
        return UNKNOWN_END
    bounds = within(stop, of.rebalance_ms, 0, begin.time)
    # It is taken to read until the record that takes the partition from it.
    return ReadingEnd(stop, *bounds, alone_time=stop, is_told=begin.is_told)


def left_or_timed_out(stop: int | None, of: Timeouts, begin: Begin, member_id: str, offset: int) -> ReadingEnd:
    """The log does not show whether the member left or timed out: commits may."""
    if stop is None:
        return UNKNOWN_END
    expired, (first, last) = session_expired(stop, of, begin), within(stop, longest_of_gone(of), 0, begin.time)
    silent = expired.first_time, expired.last_time, expired.basis
    # The others of a classic group hear within a heartbeat interval that it left.
    heartbeat = of.heartbeat_ms * 1000
    alone = stop - of.session_ms * 1000 - heartbeat
    return ReadingEnd(
        stop, first, last, None, offset, *silent, member_id, max(alone, first), max(stop - heartbeat, first),
        begin.is_told,
    )  # fmt: skip


def longest_of_gone(of: Timeouts) -> int:
    return max(of.rebalance_ms, of.session_ms + of.join_ms)


def session_expired(stop: int | None, of: Timeouts, begin: Begin) -> ReadingEnd:
    if stop is None:
        return UNKNOWN_END
    first, last = within(stop, of.session_ms + of.join_ms, of.session_ms - of.heartbeat_ms, begin.time)
    return ReadingEnd(
        stop, None if of.is_restarted else first, last, basis("session", of.session_ms, of.session_source, of),
        is_told=begin.is_told,
    )  # fmt: skip


def went_away(stop: int | None, of: Timeouts, away: int | None, begin: Begin) -> ReadingEnd:
    """A static member announced that it leaves. It had given up its partitions before. `begin`: when it joined."""
    if stop is None or away is None:
        return session_expired(stop, of, begin)
    at = min(away, stop)
    first, last = within(at, of.rebalance_ms, 0, begin.time)
    return ReadingEnd(stop, first, last, AWAY_BASIS, alone_time=last, is_told=begin.is_told)


def overdue(stop: int | None, of: Timeouts, begin: Begin) -> ReadingEnd:
    """The member did not give up partitions within its rebalance timeout."""
    if stop is None:
        return UNKNOWN_END
    bounds = within(stop, of.rebalance_ms, of.rebalance_ms - of.heartbeat_ms, begin.time)
    return ReadingEnd(stop, *bounds, basis("rebalance", of.rebalance_ms, RECORD, of), is_told=begin.is_told)


def grown(at: int | None, unseen: int, seen: int | None) -> ReadingEnd:
    """A partition that a snapshot before shows to be new: nobody had it."""
    if at is None:
        return UNKNOWN_END
    return ReadingEnd(at, min(unseen, at), at if seen is None else min(seen, at), GROWN_BASIS)


def within(stop: int, longest_ms: int, shortest_ms: int, since: int | None) -> tuple[int, int]:
    """From `longest_ms` to `shortest_ms` before the stop, but not before the owner got the partition."""
    earliest = stop if since is None else min(since, stop)
    first, last = stop - longest_ms * 1000, stop - max(shortest_ms, 0) * 1000
    return (first, last) if since is None else (max(first, earliest), max(last, earliest))


AWAY_BASIS = "the member said that it goes away"
GROWN_BASIS = "not there yet in a snapshot"


def basis(kind: str, timeout_ms: int, source: str, of: Timeouts) -> str:
    return basis_text(kind, timeout_ms, source, of.heartbeat_ms, of.heartbeat_source)


@cache
def basis_text(kind: str, timeout_ms: int, source: str, heartbeat_ms: int, heartbeat_source: str) -> str:
    """Cached, since many rows have the same text."""
    heartbeat = f"heartbeat interval {heartbeat_ms / 1000:,.1f} s {heartbeat_source}"
    return f"{kind} timeout {timeout_ms / 1000:,.1f} s {source}, {heartbeat}"


# -- when the next owner can read


@cache
def delivery(ms: int, source: str) -> Delivery:
    return Delivery(ms, f"delivery {ms / 1000:,.1f} s {source}")


CLASSIC_DELIVERY = delivery(CLASSIC_DELIVERY_MS, ASSUMED)
