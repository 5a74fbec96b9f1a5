"""`uniform` for many plain groups: shares and free partitions group by group, the maps of all members at once."""

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.bulk.flat_groups import Listed, ServerGroups, are_claims_odd, counted, order_of, put_orders
from udfs.assignors.bulk.range_and_roundrobin import Answered
from udfs.assignors.java.table_sizes import DEFAULT_CAPACITY
from udfs.assignors.questions.problems import Numbers, Rows
from udfs.assignors.server.uniform import Held, Maps, held_targets, listed
from udfs.assignors.server.uniform import counted as counted_of_members


def uniforms(groups: ServerGroups) -> Answered:
    is_answerable = groups.is_answerable & ~groups.are_ids_crowded & ~are_claims_odd(groups, groups.owned)
    rows = walked_targets(groups, is_answerable)
    topics = topics_walked(groups)
    wanted = groups.is_taken[rows.topics]
    sizes = np.bincount(rows.members[wanted], minlength=len(groups.members))
    quotas = kept_shares(groups, topics.partitions.sizes, sizes)
    is_changed = sizes != quotas
    is_changed[rows.members[~wanted]] = True
    maps = Maps(groups.id_hashes, len(groups.members), groups.jdk, groups.ids)
    held = held_targets(maps, rows, is_changed)
    wanted = groups.is_taken[held.rows.topics]
    kept = wanted & (counted_of_members(wanted, held.rows.members, sizes) < quotas[held.rows.members])
    given = given_rows(groups, topics, held, wanted & ~kept, np.maximum(quotas - sizes, 0))
    found = listed(maps, held, kept, given, np.full(len(groups.topics), DEFAULT_CAPACITY))
    sizes_of_groups = np.bincount(groups.of_members.group[found.members], minlength=len(is_answerable))
    answer = Rows(
        groups.local_members(groups.walked[found.members]), groups.local_topics(found.topics), found.partitions
    )
    return answer, np.cumsum(sizes_of_groups), is_answerable


def walked_targets(groups: ServerGroups, is_answerable: NDArray[np.bool_]) -> Rows:
    """The targets with members as places in the walk, and in its order."""
    rows = groups.owned
    if not is_answerable.all():
        rows = rows.take(is_answerable[groups.of_members.group[rows.members]])
    places = groups.places[rows.members]
    rows = Rows(places.astype(np.int32), rows.topics, rows.partitions)
    return rows.take(order_of(groups.of_members.group[places], places))


def topics_walked(groups: ServerGroups) -> Listed:
    known = groups.subscribed_ids
    return groups.listed(known.topics[put_orders(groups.id_hashes[known.topics], known.of_group, groups.copies)])


def kept_shares(groups: ServerGroups, totals: Numbers, sizes: Numbers) -> Numbers:
    """The larger shares go to members that have one, as far as they go round; what is left, to the last members."""
    members = groups.of_members
    share, larger = (each[members.group] for each in np.divmod(totals, members.sizes))
    has_larger = sizes > share
    taken = counted(has_larger, members)
    left = np.maximum(larger - taken, 0)
    must_take = members.sizes[members.group] - members.within <= left
    gets_larger = (has_larger & (taken <= larger)) | (counted(must_take, members) > 0)
    return np.asarray(share + gets_larger, dtype=np.int64)


def given_rows(
    groups: ServerGroups, topics: Listed, held: Held, is_dropped: NDArray[np.bool_], missing: Numbers
) -> Rows:
    """In each group what nobody holds, in the order of the topics, then what members have to give up."""
    place = np.zeros(len(groups.topics), np.intp)
    place[topics.topics] = np.arange(len(topics.topics))
    is_free = np.ones(len(topics.topic_of_partition), np.bool_)
    real = held.rows.take(groups.is_taken[held.rows.topics])
    is_free[topics.starts[place[real.topics]] + real.partitions] = False
    dropped = held.rows.take(is_dropped)
    columns = (
        np.concatenate([topics.topics[topics.topic_of_partition[is_free]], dropped.topics]),
        np.concatenate([topics.index[is_free], dropped.partitions]),
    )
    group = groups.of_topics.group[columns[0]]
    order = order_of(group, np.zeros(len(group), np.int64))
    members = np.repeat(np.arange(len(missing), dtype=np.int32), missing)
    return Rows(members, columns[0][order].astype(np.int32), columns[1][order].astype(np.int32))
