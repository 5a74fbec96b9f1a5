"""Offsets that were deleted while a transaction that committed them was open. Today's coordinator forgets the pending
commit with the deletion, and so does this replay. The older coordinator keeps pending commits when it loads the log,
and the COMMIT marker restores the offset."""

import numpy as np
import pyarrow as pa

from schemas.words.history import AnomalyKind
from udfs.arrays.nullable import Positions
from udfs.commits.anomalies import CommitAnomalies, certain_rows
from udfs.commits.chunks import Effects
from udfs.commits.frames import Frame
from udfs.commits.transactions import Waiting, is_replaced


def revived_offsets(frame: Frame, effects: Effects, waiting: Waiting, cluster: str, partition: int) -> pa.Table:
    """One row for each of them, at its COMMIT marker."""
    chosen, deletion = deleted_before(frame, effects, waiting)
    at, marker = waiting.at[chosen], waiting.marker[chosen]
    key = frame.key[at]
    group, topic = (
        frame.groups.take(pa.array(frame.keys.group[key])),
        frame.topics.take(pa.array(frame.keys.topic[key])),
    )
    offset, end = frame.offset[at], frame.markers.offset[marker]
    places = zip(topic.to_pylist(), frame.keys.partition[key].tolist(), strict=True)
    deleted = effects.offset[deletion].tolist()
    told = [
        f"{name}-{number}: record {gone} deleted the offset that record {first} had pending in a transaction, which "
        "committed later. The old coordinator, up to 3.9, restores that offset when it loads the log"
        for (name, number), gone, first in zip(places, deleted, offset.tolist(), strict=True)
    ]
    found = CommitAnomalies(group, end, frame.markers.time[marker], offset, told)
    return certain_rows(AnomalyKind.OLDER_RULE, found, cluster, partition)


def deleted_before(frame: Frame, effects: Effects, waiting: Waiting) -> tuple[Positions, Positions]:
    """Which pending commits, and for each the deletion (an effect). If a newer commit is in force at the COMMIT, the
    older coordinator keeps that too, so it does not count."""
    chosen, before = overruled(frame, effects, waiting)
    # A deletion before the commit did not remove it.
    is_deleted = ~effects.is_value[before] & (effects.offset[before] > frame.offset[waiting.at[chosen]])
    return chosen[is_deleted], before[is_deleted]


def overruled(frame: Frame, effects: Effects, waiting: Waiting) -> tuple[Positions, Positions]:
    """Which pending commits did not take effect although their transaction was committed, and for each the effect in
    force then. A commit that its own transaction replaced does not count for any coordinator."""
    chosen = np.flatnonzero(waiting.is_committed & waiting.is_lost)
    if not len(chosen) or not len(effects.key):
        return chosen[:0], chosen[:0]
    keys = frame.key[waiting.at].astype(np.int64)
    is_replacing = ~is_replaced(keys, frame.producer_id[waiting.at], waiting.marker)
    chosen = chosen[is_replacing[chosen]]
    ranked = effects.key.astype(np.int64) * frame.base + effects.place + 1
    key, marker = keys[chosen], waiting.marker[chosen]
    before = np.searchsorted(ranked, key * frame.base + frame.markers.place[marker] + 1) - 1
    has_effect = (before >= 0) & (effects.key[before] == key)
    return chosen[has_effect], before[has_effect]
