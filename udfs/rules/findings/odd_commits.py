"""Finds unusual commits: by a member that should not commit, or of an offset that cannot be right. One row per
partition, kind and day.

The kinds about who commits (`group_empty`, `rewind`, `after_move`) leave out commits that offset_resets has, so that
nothing is reported twice. The kinds about the offset itself (`negative`, `beyond_end`, `below_start`) also apply to the
commits of a reset: they say that its target is not in the log.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.lag import OddCommitKind
from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.lag.as_of import NOWHERE
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.at_offset import codes_in
from udfs.rules.facts.effective_commits import DAY_US, Commits, counted_commits
from udfs.rules.facts.group_states import StatesAt
from udfs.rules.findings.day_rows import Findings, day_rows, in_order
from udfs.rules.findings.odd_owners import odd_owners
from udfs.rules.findings.odd_values import Odd, odd_values
from udfs.rules.findings.steps_back import rewind_findings
from udfs.rules.measure import Measure
from udfs.rules.offset_resets.choose_resets import Judge
from udfs.rules.offset_resets.offset_moves import Moves


class OddCommits(Measure):
    """Of the UTC day of `settled_from`, in microseconds, and of later days; None: of all. A day is counted as a whole,
    so the history must hold it as a whole. Columns of odd_commits without those that the job adds."""

    def __init__(self, settled_from: int | None, judge: Judge) -> None:
        self.since, self.judge = day_of(settled_from), judge
        self.day_rows: list[pa.Table] = []

    def take(self, history: PartitionHistory) -> None:
        commits = counted_commits(history, self.since)
        odd = chain(odd_committers(history, commits, self.judge.resets(history)), odd_values(history, commits))
        findings = [odd_commits(history, *each) for each in odd if len(each[1].time)]
        findings += rewind_findings(history, self.judge.rewinds(history))
        self.day_rows.append(day_rows(findings, history.offsets_partition))

    def rows(self, history: PartitionHistory) -> pa.Table:
        return in_order(pa.concat_tables(self.day_rows))


def day_of(time: int | None) -> int | None:
    """When its UTC day begins."""
    return None if time is None else time // DAY_US * DAY_US


def odd_committers(history: PartitionHistory, commits: Commits, resets: Moves) -> Iterator[Odd]:
    states = StatesAt.of(history, commits.rows.column("group_id"), commits.offset)
    place = np.flatnonzero(states.is_empty & states.has_had_members)
    place = place[~are_of_resets(commits.take(place), resets)]
    nothing = np.full(len(place), NONE)
    yield OddCommitKind.GROUP_EMPTY, commits.take(place), states.from_record_offset[place], nothing
    for kind, odd, num_members in odd_owners(history, commits, states):
        yield kind, odd, num_members, np.full(len(odd.time), NONE)


def odd_commits(
    history: PartitionHistory, kind: OddCommitKind, commits: Commits, compared: Numbers, num_messages: Numbers
) -> Findings:
    row = StatesAt.of(history, commits.rows.column("group_id"), commits.offset).row
    group_types = history.table("group_state_intervals").column("group_type")
    return Findings(
        kind=kind,
        rows=commits.rows,
        group_type=group_types.take(pa.array(row, mask=row == NOWHERE)),
        time=commits.time,
        offset=commits.offset,
        committed=commits.committed,
        is_possible=commits.is_possible,
        compared=compared,
        num_messages=num_messages,
    )


def are_of_resets(commits: Commits, resets: Moves) -> Flags:
    """Commits of one request have one commit time, those that moved nothing too."""
    names = pc.unique(resets.rows.column("group_id"))
    group, own = codes_in(names, commits.rows.column("group_id")), codes_in(names, resets.rows.column("group_id"))
    times, reset_times = numbers(commits.rows.column("commit_time")), numbers(resets.rows.column("commit_time"))
    distinct = np.unique(reset_times)
    size = len(distinct) + 1
    place = np.searchsorted(distinct, times)
    is_known = (np.append(distinct, NONE)[place] == times) & (group != NOWHERE) & (times != NONE)
    return np.asarray(
        is_known & np.isin(group * size + place, own * size + np.searchsorted(distinct, reset_times)), np.bool_
    )
