"""What our own verdict rests on, gathered for all partitions at once."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import OffsetEnd, OwnershipPhase
from udfs.arrays.nullable import NONE, Flags, Numbers, known_only, numbers
from udfs.arrays.texts import codes_of, encoded, is_value
from udfs.lag.as_of import NOWHERE, at, newest_at
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.at_offset import combine_columns
from udfs.rules.facts.commit_cadence import own_cadences
from udfs.rules.facts.log_reach import known_until, own_ends
from udfs.rules.facts.verdict_keys import KeyedCommits, Keys, key_order
from udfs.rules.verdicts.burrow_windows import SnapshotRows
from udfs.rules.verdicts.group_facts import NEVER, GroupFacts, group_facts
from udfs.rules.verdicts.own_verdict import OwnRules
from udfs.rules.verdicts.snapshot_ends import Beyond, SnapshotEnds


@dataclass(frozen=True)
class OwnFacts:
    """`live`: for each key its row in `keys.offsets` that holds at the time; `owner`: likewise in `keys.owned`; NOWHERE
    is none. `is_in_hole`: which offset holds is lost in a hole of the log."""

    history: PartitionHistory
    keys: Keys
    commits: KeyedCommits
    ends: SnapshotEnds
    rules: OwnRules
    live: Numbers
    owner: Numbers
    is_in_hole: Flags

    @classmethod
    def of(
        cls, history: PartitionHistory, keys: Keys, commits: KeyedCommits, snapshots: SnapshotRows, rules: OwnRules
    ) -> "OwnFacts":
        as_of = history.as_of_time
        newest = newest_rows(keys.offsets, keys.of_offsets, keys.size)
        live = newest_rows(keys.offsets, keys.of_offsets, keys.size, ends_of(keys.offsets) > as_of)
        is_lost = is_value(keys.offsets.column("ended_by"), OffsetEnd.COVERAGE_HOLE)
        is_held = pc.equal(keys.owned.column("phase"), str(OwnershipPhase.HELD)).to_numpy()
        is_owned = (ends_of(keys.owned) > as_of) & ~is_held
        return cls(
            history, keys, commits, SnapshotEnds.of(history.watermarks, keys, snapshots), rules, live,
            newest_rows(keys.owned, keys.of_owned, keys.size, is_owned),
            (live < 0) & (newest >= 0) & at(is_lost, newest, False),
        )  # fmt: skip

    @cached_property
    def groups(self) -> GroupFacts:
        return group_facts(self.history, self.keys.rows.column("group_id"), self.since)

    @cached_property
    def group(self) -> Numbers:
        """Of each key, in `groups`."""
        return self.groups.code(self.keys.rows.column("group_id"))

    @cached_property
    def log_until(self) -> int:
        return known_until(self.history)

    @property
    def since(self) -> int:
        """Where the window begins."""
        return self.history.as_of_time - self.rules.window

    @cached_property
    def committed(self) -> Numbers:
        return self.of_live("committed_offset")

    @cached_property
    def held_since(self) -> Numbers:
        return self.of_live("from_time")

    @cached_property
    def last_commit(self) -> Numbers:
        """NONE: no record gives a time. Of a value that is committed again after the time: its newest commit before."""
        last, rows = self.of_live("last_commit_time"), self.commits.bounds[1:] - 1
        is_there = (rows >= self.commits.bounds[:-1]) & at(self.commits.is_effective, rows, False)
        newest = np.where(is_there, at(self.commits.commit_time, rows, NONE), self.held_since)
        is_known = (last != NONE) & (last <= self.history.as_of_time)
        return np.where(is_known, last, np.minimum(newest, self.history.as_of_time))

    def of_live(self, name: str) -> Numbers:
        return at(numbers(self.keys.offsets.column(name)), self.live, 0)

    @cached_property
    def lag_available(self) -> Numbers:
        """0 where an input is missing."""
        known = (self.live >= 0) & self.ends.are_known
        lags = self.ends.newest - np.maximum(self.committed, self.ends.newest_start)
        return np.where(known, np.maximum(lags, 0), 0)

    @cached_property
    def lag(self) -> Numbers:
        """NOWHERE is unknown."""
        is_known = (self.live >= 0) & self.ends.are_known & (self.committed >= 0) & ~self.is_recreated
        is_known &= ~self.is_now_doubtful
        return np.where(is_known, np.maximum(self.ends.newest - self.committed, 0), NOWHERE)

    @cached_property
    def is_recreated(self) -> Flags:
        """The commit is of another topic than the newest snapshot, or may be."""
        rows = np.flatnonzero((self.live >= 0) & self.ends.are_known)
        topic_ids = self.keys.offsets.column("topic_id").take(pa.array(self.live[rows]))
        is_recreated = np.zeros(self.keys.size, np.bool_)
        is_recreated[rows] = self.history.watermarks.are_of_other_topic(
            self.ends.rows.last[rows], topic_ids, self.held_since[rows]
        )
        return is_recreated

    @cached_property
    def is_beyond_end(self) -> Flags:
        """The newest snapshot was certainly taken after the commit: by the end of the offsets partition in it, or else
        by enough time, since clocks differ."""
        is_beyond = (self.live >= 0) & self.ends.are_known & (self.committed > self.ends.newest) & ~self.is_recreated
        suspects = np.flatnonzero(is_beyond)
        if not len(suspects):
            return is_beyond
        own_end = own_ends(self.history, self.ends.rows.last[suspects])
        is_long_after = self.ends.newest_time[suspects] - self.held_since[suspects] > self.rules.least_time_lag
        is_beyond[suspects] = np.where(own_end == NONE, is_long_after, self.from_record_offset[suspects] < own_end)
        return is_beyond

    @cached_property
    def is_clock_doubtful(self) -> Flags:
        """Whether its offset changed, was committed again, or got its owner while the clock was in doubt, within the
        window."""
        return self.doubtful_from(self.since)

    @cached_property
    def is_now_doubtful(self) -> Flags:
        return self.doubtful_from(self.history.as_of_time)

    def doubtful_from(self, since: int) -> Flags:
        """In doubts that reach beyond this time and begin before that which is asked about."""
        keys, is_doubtful = self.keys, np.zeros(self.keys.size, np.bool_)
        if not self.history.doubtful:
            return is_doubtful
        changes = [numbers(keys.offsets.column(name)) for name in ("from_time", "to_time", "last_commit_time")]
        of_offsets = self.history.doubtful.touched_keys(keys.of_offsets, *changes, size=keys.size)
        owned_since = numbers(keys.owned.column("from_time"))
        of_owned = self.history.doubtful.touched_keys(keys.of_owned, owned_since, size=keys.size)
        for doubt, is_touched in (*of_offsets, *of_owned):
            if doubt.begin < self.history.as_of_time and doubt.end > since:
                is_doubtful |= is_touched
        return is_doubtful

    @cached_property
    def is_unsubscribed(self) -> Flags:
        """A partition that a member still owns is not: it has subscribed after the newest assignment, or by a pattern
        that was resolved later."""
        topics, members = self.groups.topics, self.groups.num_members
        names = encoded(self.keys.rows.column("topic"))
        # Of each group and topic once: they have many partitions.
        _, some, subject = np.unique(
            combine_columns(self.group, codes_of(names)), return_index=True, return_inverse=True
        )
        is_missing = [
            members[group] > 0 and (subscribed := topics[group]) is not None and name not in subscribed
            for group, name in zip(self.group[some].tolist(), names.take(pa.array(some)).to_pylist(), strict=True)
        ]
        return np.array(is_missing, np.bool_)[subject] & (self.owner < 0)

    @cached_property
    def owned_since(self) -> Numbers:
        """NONE: no member owns it."""
        return at(numbers(self.keys.owned.column("from_time")), self.owner, NONE)

    @cached_property
    def beyond(self) -> Beyond:
        return self.ends.first_beyond(self.committed)

    @cached_property
    def written_since_commit(self) -> Numbers:
        return self.ends.written_since(self.last_commit, self.live >= 0)

    @cached_property
    def written_since_owned(self) -> Numbers:
        return self.ends.written_since(self.owned_since, self.owner >= 0)

    @cached_property
    def own_cadences(self) -> Numbers:
        return own_cadences(self.commits, self.keys.size, self.rules.silence_factor, self.rules.least_time_lag)

    @cached_property
    def have_committed(self) -> set[str]:
        """Groups with a commit within the window."""
        group = self.group[(self.live >= 0) & (self.last_commit >= self.since)]
        return {*self.groups.groups.take(pa.array(np.unique(group))).to_pylist()}

    def is_group_idle(self, have_committed: Collection[str]) -> Flags:
        """`have_committed`: of all keys."""
        has_commits = np.array([each in have_committed for each in self.groups.groups.to_pylist()], np.bool_)
        is_idle = (self.groups.num_members == 0) & ~self.groups.had_members & ~has_commits
        return np.asarray(is_idle[self.group])

    def time_lags(self) -> list[int | None]:
        """0 with nothing to read; None: unknown."""
        beyond = self.beyond
        is_known = (self.lag != NOWHERE) & (~beyond.is_there | beyond.is_written_known)
        lags = np.maximum(self.history.as_of_time - beyond.written, 0)
        return known_only(np.where(beyond.is_there, lags, 0), is_known)

    @cached_property
    def from_record_offset(self) -> Numbers:
        return self.of_live("from_record_offset")

    @cached_property
    def values(self) -> "Values":
        return Values.of(self.keys)


@dataclass(frozen=True)
class Values:
    """Rows of offset_history by key and in the order of the log."""

    rows: Numbers
    key: Numbers
    from_time: Numbers
    to_time: Numbers
    committed: Numbers

    @classmethod
    def of(cls, keys: Keys) -> "Values":
        offsets = keys.offsets.column("from_record_offset").to_numpy()
        rows = np.arange(len(offsets))
        if not is_by_key(keys.of_offsets, offsets):
            rows = np.argsort(offsets, kind="stable")
            rows = rows[key_order(keys.of_offsets[rows], keys.size)]
        return cls(
            rows, keys.of_offsets[rows], numbers(keys.offsets.column("from_time"))[rows], ends_of(keys.offsets)[rows],
            keys.offsets.column("committed_offset").to_numpy()[rows],
        )  # fmt: skip

    def at(self, key: Numbers, times: Numbers) -> tuple[Numbers, Flags]:
        """The value of each key at each time, and whether there is one."""
        rows = newest_at(self.key, self.from_time, key, times)
        is_known = (rows != NOWHERE) & (at(self.to_time, rows, 0) > times)
        return at(self.committed, rows, 0), is_known


def ends_of(rows: pa.Table) -> Numbers:
    """NULL is never."""
    return np.where(rows.column("to_time").is_valid(), numbers(rows.column("to_time")), NEVER)


def newest_rows(rows: pa.Table, key: Numbers, size: int, of: Flags | None = None) -> Numbers:
    """For each key its row with the largest from_record_offset, of those in `of`."""
    newest = np.full(size, NOWHERE)
    places = np.arange(len(key)) if of is None else np.flatnonzero(of)
    offsets = rows.column("from_record_offset").to_numpy()[places]
    if not is_by_key(key[places], offsets):
        places = places[np.argsort(offsets, kind="stable")]
    newest[key[places]] = places
    return newest


def is_by_key(keys: Numbers, offsets: Numbers) -> bool:
    """Whether rows are in the order of keys and offsets already, as those of a table are."""
    step = np.diff(keys)
    return bool(((step > 0) | ((step == 0) & (np.diff(offsets) >= 0))).all())
