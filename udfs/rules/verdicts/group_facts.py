"""What the verdicts of partitions need to know about their group: type, members, subscriptions, and whether it is in
use."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.records import GroupType
from udfs.arrays.nullable import Flags, Numbers, numbers
from udfs.lag.as_of import at, newest_at
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.subscribed_topics import of_groups, subscribed_topics

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class GroupFacts:
    """A value for each of `groups`. `num_members`: -1 is not known; `topics`: None where not every member's
    subscription is known."""

    groups: pa.Array
    types: list[str]
    num_members: Numbers
    had_members: Flags
    topics: list[frozenset[str] | None]
    # Intervals of states, for `members_before`.
    state_group: Numbers
    state_from: Numbers
    state_members: Numbers

    def code(self, group_ids: pa.ChunkedArray) -> Numbers:
        return np.asarray(pc.index_in(group_ids, value_set=self.groups).to_numpy(), np.int64)

    def members_before(self, groups: Numbers, record_offsets: Numbers) -> Numbers:
        """Members right before each record; -1 is not known."""
        # Backwards, since of intervals that one record begins the first counts.
        rows = newest_at(self.state_group[::-1], self.state_from[::-1], groups, record_offsets - 1)
        return at(self.state_members[::-1], rows, -1)


def group_facts(history: PartitionHistory, group_ids: pa.ChunkedArray, since: int) -> GroupFacts:
    """Of these groups at `as_of_time`; `since`: from when members count as recent."""
    as_of, groups = history.as_of_time, pc.unique(group_ids)
    states = of_groups(history.table("group_state_intervals"), groups)
    from_time = numbers(states.column("from_time"))
    states, from_time = states.filter(pa.array(from_time <= as_of)), from_time[from_time <= as_of]
    to_time = np.where(states.column("to_time").is_valid(), numbers(states.column("to_time")), NEVER)
    group = np.asarray(pc.index_in(states.column("group_id"), value_set=groups).to_numpy(), np.int64)
    members = pc.fill_null(states.column("num_members"), -1).to_numpy().astype(np.int64)
    from_record_offset = states.column("from_record_offset").to_numpy()
    holding = np.flatnonzero(to_time > as_of)
    holding = holding[np.argsort(from_record_offset[holding], kind="stable")]
    num_members = np.full(len(groups), -1)
    num_members[group[holding]] = members[holding]
    had_members = np.zeros(len(groups), np.bool_)
    had_members[group[(members != 0) & (to_time > since)]] = True
    topics = subscribed_topics(history, groups)
    return GroupFacts(
        groups=groups,
        types=group_types(history, states, groups),
        num_members=num_members,
        had_members=had_members,
        topics=[topics.get(each) for each in groups.to_pylist()],
        state_group=group,
        state_from=from_record_offset,
        state_members=members,
    )


def group_types(history: PartitionHistory, states: pa.Table, groups: pa.Array) -> list[str]:
    """The newest that is recorded. A group of which nothing but offsets is known counts as classic, as for Kafka."""
    types = dict.fromkeys(groups.to_pylist(), str(GroupType.CLASSIC))
    columns = ["group_id", "group_type", "from_record_offset"]
    owned = of_groups(history.table("ownership_intervals"), groups)
    owned = owned.filter(pa.array(numbers(owned.column("from_time")) <= history.as_of_time))
    rows = pa.concat_tables([states.select(columns), owned.select(columns)])
    rows = rows.filter(rows.column("group_type").is_valid())
    newest = rows.group_by(["group_id", "group_type"]).aggregate([("from_record_offset", "max")])
    for row in newest.sort_by("from_record_offset_max").to_pylist():
        types[row["group_id"]] = row["group_type"]
    return list(types.values())
