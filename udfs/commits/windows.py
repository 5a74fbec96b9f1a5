"""A window of the log as arrays for the loop that links commits, and room for the rows that it makes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import Flags, Numbers, flags, numbers
from udfs.codes.kernels import columns_at, counting_order
from udfs.commits.effects.fields import (
    DELETION,
    MEMBER_FIELDS,
    NONE,
    NUM_ENDED_FIELDS,
    PENDING,
    PLAIN,
    A,
    E,
    M,
    N,
    O,
    R,
    S,
    T,
)
from udfs.commits.key_states import KeyStates

# The columns of commits that a replay reads from the decoded table.
COMMIT_COLUMNS = (
    "record_offset", "record_time", "group_id", "topic", "partition", "topic_id", "committed_offset", "leader_epoch",
    "commit_time", "expire_time", "is_tombstone", "is_transactional", "producer_id", "producer_epoch", "metadata",
)  # fmt: skip
MARKER_COLUMNS = ("record_offset", "record_time", "producer_id", "marker")
NUMBERS = {"record_offset": R.offset, "record_time": R.time, "committed_offset": R.committed,
           "leader_epoch": R.leader_epoch, "commit_time": R.commit_time, "expire_time": R.expire_time,
           "producer_epoch": R.producer_epoch}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """Room for the largest possible number of rows; the system provides memory only for those that are made."""

    ended: Numbers
    alive: Numbers
    steps: Numbers
    overruled: Numbers
    transactions: Numbers
    members: Numbers

    @classmethod
    def room(cls, num_records: int, num_markers: int, num_pending: int) -> "Made":
        num_commits = num_records + num_pending
        sizes = (
            (NUM_ENDED_FIELDS, num_commits), (num_commits, len(A)), (num_records, len(S)), (num_pending, len(O)),
            (num_markers, len(T)), (num_pending, MEMBER_FIELDS),
        )  # fmt: skip
        return cls(*(np.empty(size, np.int64) for size in sizes))


class Window:
    def __init__(self, states: KeyStates, commits: pa.Table, markers: pa.Table, num_asked: int) -> None:
        self.records = records_of(states, commits)
        is_pending = self.records[R.kind] == PENDING
        num_held = states.pending.shape[1]
        num_pending = num_held + int(np.count_nonzero(is_pending))
        self.pending = np.empty((len(R), num_pending), np.int64)
        self.pending[:, :num_held] = states.pending
        # Without commits that wait, no marker matters.
        self.markers = markers_of(markers if num_pending else markers.slice(0, 0))
        self.last_pending = self.code_producers(num_held, is_pending)
        self.made = Made.room(self.records.shape[1], self.markers.shape[1], num_pending)
        self.counts = np.zeros(len(N), np.int64)
        self.counts[N.pending], self.counts[N.asked] = num_held, num_asked

    def code_producers(self, num_held: int, is_pending: Flags) -> Numbers:
        """Gives producers codes. Returns for each code that nothing waits yet."""
        held = self.pending[R.producer_id, :num_held]
        new = self.records[R.producer_id, is_pending]
        known, codes = np.unique(np.concatenate([held, new, self.markers[M.producer]]), return_inverse=True)
        self.pending[R.producer, :num_held] = codes[:num_held]
        self.records[R.producer, is_pending] = codes[num_held : num_held + len(new)]
        self.markers[M.producer] = codes[num_held + len(new) :]
        return np.full(len(known), -1)

    def arguments(
        self, states: KeyStates, questions: Numbers, gaps: Numbers, last_commits: Numbers, upto: int
    ) -> tuple[Any, ...]:
        """Of the loop `link`."""
        made = self.made
        return (
            self.records, self.markers, self.pending, states.keys, states.groups, states.pairs, questions, gaps,
            last_commits, made.ended, made.alive, made.steps, made.overruled, made.transactions, made.members,
            self.last_pending, self.counts, upto,
        )  # fmt: skip

    def keep_pending(self, states: KeyStates) -> None:
        pending = self.pending[:, : self.counts[N.pending]]
        states.pending = np.ascontiguousarray(pending[:, pending[R.key] >= 0])

    def rows(self, rows: Numbers, count: int) -> Numbers:
        return rows[: self.counts[count]]

    def ended_by_key(self, states: KeyStates) -> Numbers:
        """Columns of `fields.E`, sorted by key, the rows of a key as they were made."""
        key = self.made.ended[E.key, : self.counts[N.ended]]
        return columns_at(self.made.ended, counting_order(states.ranks()[key], len(states.keys)))


def records_of(states: KeyStates, commits: pa.Table) -> Numbers:
    records = np.empty((len(R), commits.num_rows), np.int64)
    for name, place in NUMBERS.items():
        records[place] = numbers(commits[name])
    records[R.key] = states.codes(commits)
    records[R.topic_id], records[R.text] = (
        states.topic_ids.codes(commits["topic_id"]),
        states.texts.codes(commits["metadata"]),
    )
    is_deletion = flags(commits["is_tombstone"])
    is_pending, records[R.is_certain] = transactional(commits)
    records[R.kind] = np.where(is_deletion, DELETION, np.where(is_pending, PENDING, PLAIN))
    # Outside of a transaction a producer has no meaning.
    records[R.producer_id] = NONE
    if is_pending.any():
        records[R.producer_id, is_pending] = numbers(commits["producer_id"])[is_pending]
    records[R.is_lost] = 0
    return records


def transactional(commits: pa.Table) -> tuple[Flags, Flags]:
    """Which commits wait for a marker, and for which of them that is certain. If an archive lacks the flag, a producer
    id shows it, as it does to the coordinator. A deletion never waits."""
    flag = commits["is_transactional"]
    has_producer = commits["producer_id"].is_valid().to_numpy()
    has_flag = flag.is_valid().to_numpy()
    is_pending = np.where(has_flag, flags(flag), has_producer) & ~flags(commits["is_tombstone"])
    return is_pending, has_flag | has_producer


def markers_of(rows: pa.Table) -> Numbers:
    markers = np.empty((len(M), rows.num_rows), np.int64)
    markers[M.offset], markers[M.time] = numbers(rows["record_offset"]), numbers(rows["record_time"])
    markers[M.producer] = numbers(rows["producer_id"])
    markers[M.is_commit] = pc.equal(rows["marker"], "COMMIT").to_numpy()
    return markers
