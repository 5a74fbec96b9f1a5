"""What the verdicts of partitions need of their groups: type, members, subscriptions, whether anybody uses them."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.history_words import MemberChange
from schemas.vocabulary import GroupType
from udfs.lag.partition_history import PartitionHistory
from udfs.replay.nullable import numbers

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
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
    # Intervals of states, for `members_at`.
    state_group: Numbers
    state_from: Numbers
    state_members: Numbers

    def code(self, group_ids: pa.ChunkedArray) -> Numbers:
        return np.asarray(pc.index_in(group_ids, value_set=self.groups).to_numpy(), np.int64)

    def members_at(self, group: int, record_offset: int) -> int:
        """Members right before a record; -1 is not known."""
        found = np.flatnonzero((self.state_group == group) & (self.state_from < record_offset))
        return int(self.state_members[found[np.argmax(self.state_from[found])]]) if len(found) else -1


def group_facts(history: PartitionHistory, group_ids: pa.ChunkedArray, since: int) -> GroupFacts:
    """Of these groups at `as_of_time`; `since`: from when members count as recent."""
    as_of, groups = history.as_of_time, pc.unique(group_ids)
    states = of_groups(history.table("group_state_intervals"), groups)
    from_time = numbers(states.column("from_time"))
    states, from_time = states.filter(pa.array(from_time <= as_of)), from_time[from_time <= as_of]
    to_time = np.where(states.column("to_time").is_valid(), numbers(states.column("to_time")), NEVER)
    group = np.asarray(pc.index_in(states.column("group_id"), value_set=groups).to_numpy(), np.int64)
    members = pc.fill_null(states.column("num_members"), -1).to_numpy().astype(np.int64)
    from_offset = states.column("from_offset").to_numpy()
    holding = np.flatnonzero(to_time > as_of)
    holding = holding[np.argsort(from_offset[holding], kind="stable")]
    num_members = np.full(len(groups), -1)
    num_members[group[holding]] = members[holding]
    had_members = np.zeros(len(groups), np.bool_)
    had_members[group[(members != 0) & (to_time > since)]] = True
    return GroupFacts(
        groups, group_types(history, states, groups), num_members, had_members, subscriptions(history, groups),
        group, from_offset, members,
    )  # fmt: skip


def of_groups(table: pa.Table, groups: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table.column("group_id"), value_set=groups))


def group_types(history: PartitionHistory, states: pa.Table, groups: pa.Array) -> list[str]:
    """The newest that is recorded. A group of which nothing but offsets is known counts as classic, as for Kafka."""
    found = dict.fromkeys(groups.to_pylist(), str(GroupType.CLASSIC))
    columns = ["group_id", "group_type", "from_offset"]
    owned = of_groups(history.table("ownership_intervals"), groups)
    owned = owned.filter(pa.array(numbers(owned.column("from_time")) <= history.as_of_time))
    rows = pa.concat_tables([states.select(columns), owned.select(columns)])
    rows = rows.filter(rows.column("group_type").is_valid())
    newest = rows.group_by(["group_id", "group_type"]).aggregate([("from_offset", "max")])
    for row in newest.sort_by("from_offset_max").to_pylist():
        found[row["group_id"]] = row["group_type"]
    return list(found.values())


def subscriptions(history: PartitionHistory, groups: pa.Array) -> list[frozenset[str] | None]:
    """Topics of the members of each group's newest assignment not after the time."""
    members = of_groups(history.table("generation_members"), groups)
    members = members.filter(pa.array(members.column("assignment_offset").to_numpy() <= newest_offset(history)))
    newest = members.group_by("group_id").aggregate([("assignment_offset", "max")])
    at = dict(zip(newest.column("group_id").to_pylist(), newest.column("assignment_offset_max").to_numpy(),
                  strict=True))  # fmt: skip
    wanted = np.array([at.get(group, -1) for group in groups.to_pylist()], np.int64)
    group = np.asarray(pc.index_in(members.column("group_id"), value_set=groups).to_numpy(), np.int64)
    is_newest = members.column("assignment_offset").to_numpy() == wanted[group]
    is_there = pc.not_equal(members.column("change"), str(MemberChange.LEFT)).to_numpy()
    rows = members.filter(pa.array(is_newest & is_there))
    topics: dict[str, set[str] | None] = {}
    for group_id, subscribed in zip(*(rows.column(name).to_pylist() for name in ("group_id", "subscribed_topics")),
                                    strict=True):  # fmt: skip
        known = topics.setdefault(group_id, set())
        topics[group_id] = None if known is None or subscribed is None else known | set(subscribed)
    found = (topics.get(group_id) for group_id in groups.to_pylist())
    return [None if each is None else frozenset(each) for each in found]


def newest_offset(history: PartitionHistory) -> int:
    """The newest record that is known not to be after the time."""
    newest = -1
    for name, offset, time in (
        ("group_state_intervals", "from_offset", "from_time"),
        ("ownership_intervals", "from_offset", "from_time"),
        ("offset_history", "from_offset", "from_time"),
    ):
        table = history.table(name)
        is_past = numbers(table.column(time)) <= history.as_of_time
        newest = max(newest, int(table.column(offset).to_numpy()[is_past].max(initial=-1)))
    is_past = numbers(history.commits.column("record_time")) <= history.as_of_time
    return max(newest, int(history.commits.column("record_offset").to_numpy()[is_past].max(initial=-1)))
