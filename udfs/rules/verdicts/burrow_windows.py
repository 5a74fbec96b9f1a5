"""Burrow's windows for a whole log at once: those of a Burrow that has read the log up to a given time.

`end`: the end offset in the newest snapshot that is not after a commit's record, as Burrow knew it then. A commit
before the first snapshot is dropped."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import StateEnd
from schemas.words.records import GroupType
from udfs.arrays.nullable import Flags, Numbers, numbers
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.watermarks import Watermarks
from udfs.rules.facts.verdict_keys import KeyedCommits, Keys
from udfs.rules.verdicts.burrow_evaluation import NO_END, UNKNOWN_LAG, BurrowRules, Windows, lags_of

EVER = np.iinfo(np.int64).min
MILLISECOND, SECOND = 1_000, 1_000_000


@dataclass(frozen=True)
class SnapshotRows:
    """For each key the rows of its snapshots in `Watermarks.rows` not after the time: from `first` to `last`; with
    none of them `last` is before `first`."""

    first: Numbers
    last: Numbers

    @property
    def are_known(self) -> Flags:
        return np.asarray(self.last >= self.first)


def snapshot_rows(watermarks: Watermarks, keys: Keys, as_of_time: int) -> SnapshotRows:
    first = watermarks.oldest(keys.places)
    last = watermarks.at(keys.places, np.full(keys.size, as_of_time))
    is_known = (first >= 0) & (last >= 0)
    return SnapshotRows(np.where(is_known, first, 0), np.where(is_known, last, -1))


@dataclass(frozen=True)
class BurrowWindows:
    """`first_offsets`, `last_offsets`: the records of the oldest and newest entry; 0 without one."""

    windows: Windows
    first_offsets: Numbers
    last_offsets: Numbers


def burrow_windows(
    history: PartitionHistory, keys: Keys, commits: KeyedCommits, snapshots: SnapshotRows, rules: BurrowRules
) -> BurrowWindows:
    has_end, is_admitted = admit_commits(history, keys, commits, snapshots, rules)
    rows = np.flatnonzero(has_end & is_admitted)
    entry = entry_rows(commits.key[rows], commits.commit_time[rows] // MILLISECOND, rules)
    # The time is that of the entry's first commit, everything else that of its last.
    key, first, last = commits.key[rows[entry.first]], rows[entry.first], rows[entry.last]
    num_entries = np.bincount(key, minlength=keys.size)
    rank = np.cumsum(num_entries)[key] - 1 - np.arange(len(key))  # 0: the newest
    is_newest = rank < rules.intervals
    key, first, last, rank = key[is_newest], first[is_newest], last[is_newest], rank[is_newest]
    sizes = np.minimum(num_entries, rules.intervals)

    def laid_out(values: Numbers, filler: int) -> Numbers:
        cells = np.full((keys.size, rules.intervals), filler, np.int64)
        cells[key, rules.intervals - 1 - rank] = values
        return cells

    orders = laid_out(commits.record_offset[last], 0)
    offsets = commits.committed_offset[last]
    windows = Windows(
        offsets=laid_out(offsets, 0),
        times_ms=laid_out(commits.commit_time[first] // MILLISECOND, 0),
        lags=laid_out(lags_of(ends_then(history, keys, key, commits.record_time[last]), offsets), UNKNOWN_LAG),
        sizes=sizes,
        ends=newest_ends(history.watermarks, snapshots, rules.intervals),
        lacks_ends=~snapshots.are_known | (np.bincount(commits.key[is_admitted & ~has_end], minlength=keys.size) > 0),
    )
    oldest = orders[np.arange(keys.size), rules.intervals - np.maximum(sizes, 1)]
    return BurrowWindows(windows, oldest, orders[:, -1])


def admit_commits(
    history: PartitionHistory, keys: Keys, commits: KeyedCommits, snapshots: SnapshotRows, rules: BurrowRules
) -> tuple[Flags, Flags]:
    """Whether an end was known when the commit came, and whether nothing else keeps it out."""
    times = numbers(history.watermarks.rows.column("captured_time"))
    first_end = np.where(snapshots.are_known, times[snapshots.first] if len(times) else 0, NO_END)
    groups = pc.unique(keys.rows.column("group_id"))
    of_key = pc.index_in(keys.rows.column("group_id"), value_set=groups).to_numpy().astype(np.int64)
    allowed = np.array([rules.admit(group) for group in groups.to_pylist()], np.bool_)[of_key]
    deleted = deletions(history, groups)[of_key]
    oldest = rules.oldest_ms(history.as_of_time // SECOND) * MILLISECOND
    is_admitted = (commits.commit_time >= oldest) & (commits.record_offset > deleted[commits.key])
    return commits.record_time >= first_end[commits.key], is_admitted & allowed[commits.key]


def deletions(history: PartitionHistory, groups: pa.Array) -> Numbers:
    """For each group the newest tombstone of its classic metadata, the only kind that Burrow reads: of a deletion, or
    of a conversion to another type. Groups of offsets alone never had any metadata."""
    states = history.table("group_state_intervals")
    is_deleted = pc.and_(
        pc.and_(
            pc.equal(states.column("group_type"), str(GroupType.CLASSIC)),
            pc.is_in(states.column("ended_by"), pa.array([str(StateEnd.DELETED), str(StateEnd.CONVERTED)])),
        ),
        pc.and_(
            states.column("generation_or_epoch").is_valid(),
            pc.less_equal(states.column("to_time").cast(pa.int64()), history.as_of_time),
        ),
    )
    rows = states.filter(pc.fill_null(is_deleted, False))
    newest = np.full(len(groups), EVER)
    group = pc.fill_null(pc.index_in(rows.column("group_id"), value_set=groups), -1).to_numpy()
    np.maximum.at(newest, group[group >= 0], rows.column("to_record_offset").to_numpy()[group >= 0])
    return newest


@dataclass(frozen=True)
class EntryRows:
    first: Numbers
    last: Numbers


def entry_rows(key: Numbers, time_ms: Numbers, rules: BurrowRules) -> EntryRows:
    """Commits that share an entry of the ring: each that comes less than min-distance after the entry's first one,
    by commit time, goes over the one before, which with min-distance 0 happens where that time steps back."""
    is_first = np.ones(len(key), np.bool_)
    is_first[1:] = key[1:] != key[:-1]
    distance = rules.min_distance_s * 1000
    if not distance and (is_first[1:] | (time_ms[1:] >= time_ms[:-1])).all():
        everything = np.arange(len(key))
        return EntryRows(everything, everything)
    # An entry begins at the first commit whose time is far enough from the begin before; that is also the first at
    # which the largest time so far is, so binary search finds each commit's next begin, and doubling steps follow.
    moments = np.unique(time_ms)
    width = len(moments) + 1
    largest = np.maximum.accumulate(key * width + np.searchsorted(moments, time_ms)) if len(key) else key
    if distance:
        far_enough = key * width + np.searchsorted(moments, moments[largest % width] + distance)
        # After the last of a key comes the first of the next one, which begins an entry anyway.
        jump = np.append(np.searchsorted(largest, far_enough), len(key))
        begins = np.append(is_first, False)
        while (jump < len(key)).any():
            begins[jump[begins]] = True
            jump = jump[jump]
        is_first = begins[:-1]
    else:
        is_first |= key * width + np.searchsorted(moments, time_ms) == largest
    first = np.flatnonzero(is_first)
    return EntryRows(first, np.append(first, len(key))[1:] - 1)


def ends_then(history: PartitionHistory, keys: Keys, key: Numbers, times: Numbers) -> Numbers:
    ends = history.watermarks.rows.column("log_end_offset").to_numpy()
    rows = history.watermarks.at(keys.places[key], times)
    return np.asarray(ends[rows] if len(ends) else np.zeros(len(key), np.int64))


def newest_ends(watermarks: Watermarks, snapshots: SnapshotRows, intervals: int) -> Numbers:
    ends = watermarks.rows.column("log_end_offset").to_numpy()
    rows = snapshots.last[:, None] - np.arange(intervals - 1, -1, -1)
    is_known = rows >= snapshots.first[:, None]
    if not len(ends):
        return np.full(rows.shape, NO_END)
    # A broker may report the very number that means here: no end.
    return np.where(is_known, np.minimum(ends[np.where(is_known, rows, 0)], NO_END - 1), NO_END)
