"""Commits of offsets that are no place in the log: negative ones, beyond its end, below its start."""

from collections.abc import Iterator

import numpy as np

from schemas.lag_words import CommitFindingKind
from udfs.lag.partition_history import PartitionHistory
from udfs.replay.nullable import NONE, Flags, Numbers, numbers
from udfs.rules.counted_commits import Commits
from udfs.rules.log_ends import SNAPSHOT_TAKES_US, Ends, EndsAround

Odd = tuple[CommitFindingKind, Commits, Numbers, Numbers]


def odd_values(history: PartitionHistory, commits: Commits) -> Iterator[Odd]:
    """Each kind with its commits, what they are compared with, and how many messages are out of reach."""
    negative = commits.take(commits.committed < 0)
    nothing = np.full(len(negative.time), NONE)
    yield CommitFindingKind.NEGATIVE, negative, nothing, nothing
    if not history.watermarks.rows.num_rows:
        return
    yield odd(CommitFindingKind.BEYOND_END, *beyond_end(history, commits))
    yield odd(CommitFindingKind.BELOW_START, *below_start(history, commits))


def odd(kind: CommitFindingKind, commits: Commits, bound: Numbers) -> Odd:
    return kind, commits, bound, np.abs(bound - commits.committed)


def beyond_end(history: PartitionHistory, commits: Commits) -> tuple[Commits, Numbers]:
    """An end only grows, but when the log loses records or is made anew. So it takes two snapshots between which
    neither happened: the same leader epoch, the same topic, and an end that is not lower."""
    after = history.watermarks.after(commits.rows, commits.time)
    end = Ends.of(history.watermarks, after).end
    suspects = commits.take((end != NONE) & (commits.committed > end))
    around = EndsAround.of(history.watermarks, suspects.rows, suspects.time)
    is_same_log = is_undisturbed(around)
    return suspects.take(is_same_log), around.after.end[is_same_log]


def is_undisturbed(around: EndsAround) -> Flags:
    before, after = around.before, around.after
    has_epoch = (before.leader_epoch != NONE) & (before.leader_epoch == after.leader_epoch)
    return np.asarray(has_epoch & (before.end != NONE) & (before.end <= after.end) & ~around.is_other_topic, np.bool_)


def below_start(history: PartitionHistory, commits: Commits) -> tuple[Commits, Numbers]:
    """A start never goes back, but when the topic is made anew: the next snapshot would have it lower."""
    highest = numbers(history.watermarks.rows.column("log_start_offset")).max()
    commits = commits.take((commits.committed >= 0) & (commits.committed < highest))
    times = commits.time - SNAPSHOT_TAKES_US
    start = Ends.of(history.watermarks, history.watermarks.at(commits.rows, times)).start
    suspects = commits.take((start != NONE) & (commits.committed < start))
    around = EndsAround.of(history.watermarks, suspects.rows, suspects.time, earlier_by=SNAPSHOT_TAKES_US)
    is_lower = (around.after.start != NONE) & (around.after.start < around.before.start)
    is_same_log = ~is_lower & ~around.is_other_topic & ~has_older_epoch(around)
    return suspects.take(is_same_log), around.before.start[is_same_log]


def has_older_epoch(around: EndsAround) -> Flags:
    has_epochs = (around.after.leader_epoch != NONE) & (around.before.leader_epoch != NONE)
    return np.asarray(has_epochs & (around.after.leader_epoch < around.before.leader_epoch), np.bool_)
