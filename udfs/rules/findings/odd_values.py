"""Finds commits of offsets that cannot be right: negative, after the end of the log, or before its start.

A snapshot may give itself a wrong time. Which commits are older is certain only if it also has the end of the offsets
partition: a finding that this contradicts is none, and one that it does not confirm is only possible.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from schemas.words.lag import OddCommitKind
from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.lag.as_of import at
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.at_offset import NO_END
from udfs.rules.facts.effective_commits import Commits
from udfs.rules.facts.log_ends import SNAPSHOT_TAKES_US, EndsAround
from udfs.rules.facts.log_reach import own_ends

Odd = tuple[OddCommitKind, Commits, Numbers, Numbers]


def odd_values(history: PartitionHistory, commits: Commits) -> Iterator[Odd]:
    """Each kind with its commits, what they are compared with, and how many messages are out of reach."""
    negative = commits.take(commits.committed < 0)
    nothing = np.full(len(negative.time), NONE)
    yield OddCommitKind.NEGATIVE, negative, nothing, nothing
    if not history.watermarks.rows.num_rows:
        return
    # A commit whose time is in doubt may be older or younger than the snapshots that it would be compared with.
    commits = commits.take(~history.doubtful.at(commits.time)) if history.doubtful else commits
    places = history.watermarks.first_places(commits.rows)
    if len((suspects := beyond_an_end(history, commits, places)).time):
        yield odd(OddCommitKind.BEYOND_END, *beyond_end(history, suspects))
    if len((suspects := below_a_start(history, commits, places)).time):
        yield odd(OddCommitKind.BELOW_START, *below_start(history, suspects))


def odd(kind: OddCommitKind, commits: Commits, bound: Numbers) -> Odd:
    return kind, commits, bound, np.abs(bound - commits.committed)


def beyond_an_end(history: PartitionHistory, commits: Commits, places: Numbers) -> Commits:
    marks = history.watermarks
    following = marks.after(places, commits.time)
    is_beyond = commits.committed > np.append(marks.end_offsets, NO_END)[following]
    return commits.take(is_beyond & (np.append(marks.leader_epochs, NONE)[following] != NONE))


def beyond_end(history: PartitionHistory, suspects: Commits) -> tuple[Commits, Numbers]:
    """An end only grows, but when the log loses records or is made anew. So it takes two snapshots between which
    neither happened: the same leader epoch, the same topic, and an end that is not lower."""
    around = EndsAround.of(history.watermarks, suspects.rows, suspects.time)
    marks = history.watermarks
    own_end = own_ends(history, marks.after(marks.first_places(suspects.rows), suspects.time))
    is_odd = is_undisturbed(around) & ((own_end == NONE) | (suspects.offset < own_end))
    return confirmed(suspects, own_end).take(is_odd), around.after.end[is_odd]


def confirmed(suspects: Commits, own_end: Numbers) -> Commits:
    return replace(suspects, is_possible=suspects.is_possible | (own_end == NONE))


def is_undisturbed(around: EndsAround) -> Flags:
    before, after = around.before, around.after
    has_epoch = (before.leader_epoch != NONE) & (before.leader_epoch == after.leader_epoch)
    return np.asarray(has_epoch & (before.end != NONE) & (before.end <= after.end) & ~around.is_other_topic, np.bool_)


def below_a_start(history: PartitionHistory, commits: Commits, places: Numbers) -> Commits:
    marks = history.watermarks
    low = np.flatnonzero((commits.committed >= 0) & (commits.committed < marks.starts.max()))
    start = at(marks.starts, marks.at(places[low], commits.time[low] - SNAPSHOT_TAKES_US))
    return commits.take(low[(start != NONE) & (commits.committed[low] < start)])


def below_start(history: PartitionHistory, suspects: Commits) -> tuple[Commits, Numbers]:
    """A start never goes back, but when the topic is made anew: the next snapshot would have it lower."""
    around = EndsAround.of(history.watermarks, suspects.rows, suspects.time, earlier_by=SNAPSHOT_TAKES_US)
    is_lower = (around.after.start != NONE) & (around.after.start < around.before.start)
    is_same_log = ~is_lower & ~around.is_other_topic & ~has_older_epoch(around)
    marks = history.watermarks
    rows = marks.at(marks.first_places(suspects.rows), suspects.time - SNAPSHOT_TAKES_US)
    own_end = own_ends(history, rows)
    is_odd = is_same_log & ((own_end == NONE) | (own_end <= suspects.offset))
    return confirmed(suspects, own_end).take(is_odd), around.before.start[is_odd]


def has_older_epoch(around: EndsAround) -> Flags:
    has_epochs = (around.after.leader_epoch != NONE) & (around.before.leader_epoch != NONE)
    return np.asarray(has_epochs & (around.after.leader_epoch < around.before.leader_epoch), np.bool_)
