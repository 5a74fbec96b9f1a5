"""Topics that the members of groups subscribe to at a given time, from each group's newest assignment up to then."""

import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import MemberChange
from udfs.lag.partition_history import RECORD_AND_TIME, PartitionHistory, Reach


def subscribed_topics(history: PartitionHistory, groups: pa.Array) -> dict[str, frozenset[str] | None]:
    """By group that has members in its newest assignment; None: not every member's subscription is known."""
    members = of_groups(history.table("generation_members"), groups)
    members = members.filter(pc.less_equal(members["assignment_offset"], newest_offset(history)))
    newest = members.group_by("group_id").aggregate([("assignment_offset", "max")])
    # Offsets are unique within an offsets partition, so they name the group too.
    is_newest = pc.is_in(members["assignment_offset"], value_set=newest["assignment_offset_max"])
    is_there = pc.fill_null(pc.not_equal(members["change"], MemberChange.LEFT.value), True)
    rows = members.filter(pc.and_(is_newest, is_there))
    by_group: dict[str, frozenset[str] | None] = {}
    for group, topics in zip(rows["group_id"].to_pylist(), rows["subscribed_topics"].to_pylist(), strict=True):
        known = by_group.get(group, frozenset())
        by_group[group] = None if known is None or topics is None else known.union(topics)
    return by_group


def of_groups(table: pa.Table, groups: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table["group_id"], value_set=groups))


def newest_offset(history: PartitionHistory) -> int:
    """The newest record that is known not to be after the time."""
    return max(history.reach.newest_offset, history.once("newest_offset", own_newest_offset))


def own_newest_offset(history: PartitionHistory) -> int:
    """Of the keys of this history."""
    reach = Reach()
    for name in RECORD_AND_TIME:
        reach.add(name, history.commits if name == "offset_commits" else history.table(name), history.as_of_time)
    return reach.newest_offset


def oldest_commit(history: PartitionHistory) -> int | None:
    """The oldest of the raw commits."""
    own: int | None = pc.min(history.commits["record_offset"]).as_py()
    return min((each for each in (own, history.reach.oldest_commit) if each is not None), default=None)
