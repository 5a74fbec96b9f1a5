"""Finds commits for partitions that no member of the group owned, and for topics that no member subscribed to.

Members of a group may commit any offsets. For a while they may still commit for partitions that they lost in a
rebalance. So a partition must have been unowned for the longest time between two polls of a member. And the group must
have owned something at the beginning of that time, so that a new group is not reported."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import MemberChange
from schemas.words.lag import OddCommitKind
from udfs.arrays.nullable import Flags, Numbers, numbers
from udfs.lag.as_of import NOWHERE, key_codes
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.at_offset import codes_in, combine_columns, latest_end
from udfs.rules.facts.effective_commits import Commits
from udfs.rules.facts.group_states import StatesAt

# Kafka's default of max.poll.interval.ms, which is the rebalance timeout of a member too.
MAY_LINGER_US = 300_000_000

OddOwners = tuple[OddCommitKind, Commits, Numbers]


@dataclass(frozen=True)
class OwnershipRows:
    """Rows of ownership_intervals, looked up by group, by group and topic, or by these and the partition."""

    rows: pa.Table
    groups: pa.Array
    topics: pa.Array

    @classmethod
    def of(cls, rows: pa.Table) -> "OwnershipRows":
        return cls(rows, pc.unique(rows.column("group_id")), pc.unique(rows.column("topic")))

    @cached_property
    def from_times(self) -> Numbers:
        return numbers(self.rows.column("from_time"))

    @cached_property
    def to_times(self) -> Numbers:
        return numbers(self.rows.column("to_time"))

    def keys(self, rows: pa.Table, depth: int) -> Numbers:
        group = codes_in(self.groups, rows.column("group_id"))
        if depth == 1:
            return group
        topic = codes_in(self.topics, rows.column("topic"))
        key = group * (len(self.topics) + 1) + topic
        if depth == 3:
            # No topic has more partitions.
            key = key * (1 << 31) + numbers(rows.column("partition"))
        return np.where((group == NOWHERE) | (topic == NOWHERE), NOWHERE, key)

    def until(self, commits: Commits, depth: int, *, by_time_before: int | None = None) -> Numbers:
        """Until when the latest interval lasts that began before each commit: by records, or so long before its
        time. NONE: there is none."""
        have, want = self.keys(self.rows, depth), self.keys(commits.rows, depth)
        distinct, key = np.unique(have, return_inverse=True)
        place = np.minimum(np.searchsorted(distinct, want), max(len(distinct) - 1, 0))
        wanted = np.where((want != NOWHERE) & (distinct[place] == want), place, NOWHERE)
        if by_time_before is None:
            return latest_end(
                key, numbers(self.rows.column("from_record_offset")), self.to_times, wanted, commits.offset
            )
        return latest_end(key, self.from_times, self.to_times, wanted, commits.time - by_time_before)


def odd_owners(history: PartitionHistory, commits: Commits, states: StatesAt) -> list[OddOwners]:
    """Each kind with its commits and how many members the group had. `states`: at the commits."""
    owned = OwnershipRows.of(history.table("ownership_intervals"))
    if not owned.rows.num_rows:
        return []
    place = np.flatnonzero(states.is_stable)
    stable = commits.take(place)
    place = place[owned.until(stable, 3) < stable.time - MAY_LINGER_US]
    place = place[~is_partly_unnamed(owned, commits.take(place))]
    if not len(place):
        return []
    suspects = commits.take(place)
    begin = suspects.time - MAY_LINGER_US
    is_old_group = owned.until(suspects, 1, by_time_before=MAY_LINGER_US) > begin
    is_old_topic = owned.until(suspects, 2, by_time_before=MAY_LINGER_US) > begin
    is_owned_topic = owned.until(suspects, 2) >= begin
    topics = SubscriptionChecks.of(history.table("generation_members"), suspects, states.num_members[place])
    is_not_owned = topics.are_subscribed(True) & is_old_topic
    is_not_subscribed = topics.are_subscribed(False) & is_old_group & ~is_owned_topic
    return [
        (kind, suspects.take(which), states.num_members[place][which])
        for kind, which in (
            (OddCommitKind.PARTITION_NOT_OWNED, is_not_owned),
            (OddCommitKind.TOPIC_NOT_SUBSCRIBED, is_not_subscribed),
        )
    ]


def is_partly_unnamed(owned: OwnershipRows, commits: Commits) -> Flags:
    """Groups that own topics of which only ids are known: any of them may be the topic."""
    is_unnamed = ~owned.rows.column("topic").is_valid().to_numpy()
    groups = pc.unique(owned.rows.column("group_id").filter(pa.array(is_unnamed)))
    return np.asarray(codes_in(groups, commits.rows.column("group_id")) != NOWHERE, np.bool_)


@dataclass(frozen=True)
class SubscriptionChecks:
    """For each commit whether a member subscribes to its topic; None: not every member's subscription is known.
    `check`: which of the checks it is: many commits of a group ask the same."""

    checks: list[bool | None]
    check: Numbers

    @classmethod
    def of(cls, members: pa.Table, commits: Commits, num_members: Numbers) -> "SubscriptionChecks":
        by_group = subscriptions(members, set(pc.unique(commits.rows.column("group_id")).to_pylist()))
        assignments = np.unique([at for of_group in by_group.values() for at in of_group])
        names = commits.rows.select(["group_id", "topic"])
        (subject,) = key_codes(("group_id", "topic"), names)
        same = combine_columns(subject, np.searchsorted(assignments, commits.offset, side="right"), num_members)
        _, some, check = np.unique(same, return_index=True, return_inverse=True)
        asked = zip(
            *(names.column(name).take(pa.array(some)).to_pylist() for name in names.column_names),
            commits.offset[some].tolist(), num_members[some].tolist(), strict=True,
        )  # fmt: skip
        checks = [is_subscribed(by_group.get(group, {}), topic, at, number) for group, topic, at, number in asked]
        return cls(checks, check)

    def are_subscribed(self, value: bool) -> Flags:
        return np.array([each is value for each in self.checks], np.bool_)[self.check]


Assignments = dict[int, list[frozenset[str] | None]]


def subscriptions(members: pa.Table, groups: set[str]) -> dict[str, Assignments]:
    """By group and assignment, in their order, what each member subscribes to."""
    rows = members.filter(pc.is_in(members.column("group_id"), value_set=pa.array(groups, pa.string())))
    rows = rows.filter(pc.not_equal(rows.column("change"), MemberChange.LEFT)).sort_by("assignment_offset")
    by_group: defaultdict[str, Assignments] = defaultdict(dict)
    for row in rows.select(["group_id", "assignment_offset", "subscribed_topics"]).to_pylist():
        topics = row["subscribed_topics"]
        of_members = by_group[row["group_id"]].setdefault(row["assignment_offset"], [])
        of_members.append(None if topics is None else frozenset(topics))
    return by_group


def is_subscribed(assignments: Assignments, topic: str, offset: int, num_members: int) -> bool | None:
    newest = max((at for at in assignments if at <= offset), default=None)
    of_members = [] if newest is None else assignments[newest]
    if len(of_members) != num_members or None in of_members:
        return None
    return any(topics is not None and topic in topics for topics in of_members)
