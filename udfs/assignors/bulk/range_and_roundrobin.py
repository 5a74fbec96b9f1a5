"""Range and round robin for many plain groups: a formula gives the member for each partition number."""

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.bulk.flat_groups import Flat, Groups, Listed, ServerGroups, put_orders
from udfs.assignors.questions.problems import Rows

Answered = tuple[Rows, NDArray[np.int64], NDArray[np.bool_]]


def ranges(groups: Groups) -> Answered:
    return dealt(groups, groups.topics_walked, groups.is_answerable)


def server_ranges(groups: ServerGroups) -> Answered:
    known = groups.subscribed_ids
    # Everybody's map is made for as many topics as are known.
    made = (known.of_group.sizes / 0.75 + 1).astype(np.int64)
    order = put_orders(groups.id_hashes[known.topics], known.of_group, made)
    is_answerable = groups.is_answerable & ~groups.are_ids_crowded
    return dealt(groups, groups.listed(known.topics[order]), is_answerable)


def dealt(groups: Flat, listed: Listed, is_answerable: NDArray[np.bool_]) -> Answered:
    """Of each topic a stretch for each member, the first ones one longer."""
    members = groups.of_members
    group = listed.of_group.group
    share, extra = np.divmod(listed.counts, members.sizes[group])
    topic, index = listed.topic_of_partition, listed.index
    longer = (extra * (share + 1))[topic]
    at_longer = index // (share + 1)[topic]
    at_shorter = extra[topic] + (index - longer) // np.maximum(share, 1)[topic]
    place = np.where(index < longer, at_longer, at_shorter)
    owners = groups.by_id[members.starts[group][topic] + place]
    return rows_of(groups, listed, owners), np.cumsum(listed.partitions.sizes), is_answerable


def roundrobins(groups: Groups) -> Answered:
    listed = groups.topics_by_name
    of_partitions, members = listed.partitions, groups.of_members
    place = of_partitions.within % members.sizes[of_partitions.group]
    owners = groups.by_id[members.starts[of_partitions.group] + place]
    return rows_of(groups, listed, owners), np.cumsum(of_partitions.sizes), groups.is_answerable


def rows_of(groups: Flat, listed: Listed, owners: NDArray[np.intp]) -> Rows:
    topics = groups.local_topics(listed.topics)[listed.topic_of_partition]
    return Rows(groups.local_members(owners), topics, listed.index.astype(np.int32))
