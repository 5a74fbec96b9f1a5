"""What the coordinator's assignors walk before they assign, as loops: names and ids of topics."""

from typing import Any

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.assignors.flat_groups.kernels import NUM_SIZES, ranks_of
from udfs.assignors.java.kernels import Hashes, table_capacity, walked_keys
from udfs.assignors.java.tree.kernels import Longs
from udfs.assignors.server.maps.records.kernels import Codes, copied_capacity

# What follows the sizes of a group.
IS_NEW_COPY, KEEPS_LARGER, IS_EQUAL = range(NUM_SIZES, NUM_SIZES + 3)
# For how many ids their table is made: as many as a copied set of the names has room for, or as a map of the names, or
# of those that the metadata knows.
LIKE_NAMES, MAP_OF_NAMES, MAP_OF_KNOWN = range(3)


@compiled(inlines=False)
def hashes_of_ids(ids: Longs) -> Hashes:
    """Uuid.hashCode of pairs of 64 bits."""
    hashes = np.empty(len(ids), np.uint32)
    for topic in range(len(ids)):
        mixed = ids[topic, 0] ^ ids[topic, 1]
        hashes[topic] = ((mixed >> 32) ^ mixed) & 0xFFFFFFFF
    return hashes


@compiled(inlines=False)
def keys_of_topics(first: int, end: int, names: int, hashes: Hashes, id_hashes: Hashes, ranks: Longs) -> Any:
    """Hashes of a group's topics by name and by id, and ranks of both, where ranks are given. `names`: where the hashes
    and ranks of all topics' names start; ranks of the ids follow them."""
    ids = names + len(id_hashes)
    return (
        hashes[names + first : names + end],
        id_hashes[first:end],
        ranks_of(ranks, names + first, names + end),
        ranks_of(ranks, ids + first, ids + end),
    )


@compiled(inlines=False)
def known_names(
    listed: Codes, counts: Longs, hashes: Hashes, name_ranks: Longs, is_new_copy: bool, ties: Longs
) -> Longs:
    """The topics of a list that the metadata knows, as a walk over the set of names meets them, a copy of the list."""
    names = len(listed)
    ranks = name_ranks[listed] if len(name_ranks) else name_ranks
    order, tied = walked_keys(hashes[listed], ranks, copied_capacity(names, is_new_copy))
    ties[0] += tied
    known, size = np.empty(names, np.int64), 0
    for place in range(names):
        topic = listed[order[place]]
        if counts[topic] > 0:
            known[size] = topic
            size += 1
    return known[:size]


@compiled(inlines=False)
def walked_subscription(
    listed: Codes,
    counts: Longs,
    hashes: Hashes,
    id_hashes: Hashes,
    name_ranks: Longs,
    id_ranks: Longs,
    is_new_copy: bool,
    table: int,
    ties: Longs,
) -> Longs:
    """The topics of a list that the metadata knows, as a walk over a table of their ids meets them; that is filled by a
    walk over the set of names, a copy of the list."""
    names, known = len(listed), known_names(listed, counts, hashes, name_ranks, is_new_copy, ties)
    size = len(known)
    if table == LIKE_NAMES:
        capacity = copied_capacity(names, is_new_copy)
    else:
        capacity = table_capacity((names if table == MAP_OF_NAMES else size) * 4 // 3 + 1)
    ranks = id_ranks[known] if len(id_ranks) else id_ranks
    order, tied = walked_keys(id_hashes[known], ranks, capacity)
    ties[0] += tied
    walked: Longs = known[order]
    return walked
