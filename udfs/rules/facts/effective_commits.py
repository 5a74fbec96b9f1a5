"""Commits that count, in the order they were written: no tombstones, and only committed transactions."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from schemas.words.history import TransactionOutcome
from udfs.arrays.nullable import NONE, Flags, Numbers, flags, numbers
from udfs.arrays.texts import is_value
from udfs.lag.as_of import NOWHERE, holding_at
from udfs.lag.confidence import possible_commits
from udfs.lag.partition_history import PartitionHistory

COLUMNS = ("record_offset", "group_id", "topic", "topic_id", "partition", "committed_offset", "commit_time")
DAY_US = 86_400_000_000


@dataclass(frozen=True)
class Commits:
    """In the order of the log. `time`: of the record, in a transaction of the marker that made it count. `is_possible`:
    it may be of an aborted one."""

    rows: pa.Table
    time: Numbers
    offset: Numbers
    committed: Numbers
    is_possible: Flags

    def take(self, which: Numbers | Flags) -> "Commits":
        place = np.flatnonzero(which) if which.dtype == np.bool_ else which
        rows = self.rows.take(pa.array(place))
        return Commits(rows, self.time[place], self.offset[place], self.committed[place], self.is_possible[place])


def counted_commits(history: PartitionHistory, since: int | None) -> Commits:
    commits = history.commits
    time = numbers(commits.column("record_time"))
    is_counted = ~flags(commits.column("is_tombstone"))
    transactional = np.flatnonzero(flags(commits.column("is_transactional")) & is_counted)
    if len(transactional):
        time = np.array(time)
        time[transactional] = marker_times(history.table("transactions"), commits.take(pa.array(transactional)))
    # A commit without a time belongs to no day, nor does one of a transaction that is open or was aborted.
    is_counted &= (time != NONE) & (time <= history.as_of_time)
    if since is not None:
        is_counted &= time >= since
    place = np.flatnonzero(is_counted)
    rows = commits.select([*COLUMNS])
    rows = rows if len(place) == rows.num_rows else rows.take(pa.array(place))
    offset, committed = (numbers(rows.column(name)) for name in ("record_offset", "committed_offset"))
    return Commits(rows, time[place], offset, committed, possible_commits(commits)[place])


def marker_times(transactions: pa.Table, commits: pa.Table) -> Numbers:
    """When each was committed; NONE: it was not, or not yet. Transactions of one producer follow each other."""
    producers = np.unique(numbers(transactions.column("producer_id")))
    # One that began last before the record holds it: a producer has one transaction at a time.
    begins = numbers(transactions.column("first_offset"))
    rows = holding_at(
        codes(producers, transactions), begins, np.full(len(begins), NONE), codes(producers, commits),
        numbers(commits.column("record_offset")),
    )  # fmt: skip
    is_committed = is_value(transactions.column("outcome"), TransactionOutcome.COMMITTED)
    ends = np.append(np.where(is_committed, numbers(transactions.column("end_time")), NONE), NONE)
    return np.asarray(ends[np.where(rows == NOWHERE, len(begins), rows)])


def codes(producers: Numbers, rows: pa.Table) -> Numbers:
    wanted = numbers(rows.column("producer_id"))
    place = np.searchsorted(producers, wanted)
    is_known = np.append(producers, NONE)[place] == wanted
    return np.where(is_known & (wanted != NONE), place, NOWHERE)
