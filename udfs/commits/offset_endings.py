"""Why a committed offset was removed. All tombstones look the same, so other facts of that time must decide."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.words.history import OffsetEnd
from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.commits.effects.fields import DELETED, RECREATED, E, K
from udfs.commits.key_states import KeyStates
from udfs.commits.offset_rows import ENDS
from udfs.log.gaps import Gaps

TIMES = pa.timestamp("us", "UTC")
# A sweep takes what has expired since the one before: by default every ten minutes, and later on a busy machine. What
# expired long before was kept by a subscription to its topic.
SWEPT_WITHIN = 2 * 600_000_000


@dataclass(frozen=True)
class OffsetFacts:
    """Facts that are not in the commits. Tables may have more columns, and more groups than are replayed."""

    gaps: Gaps = field(default_factory=Gaps)
    # The setting offsets.retention.minutes. None: unknown; then no offset counts as expired because of its age.
    retention_ms: int | None = None
    # Deletions of groups: group_id, record_time (types 2, 3, 11, 17).
    group_tombstones: pa.Table | None = None
    # Intervals in which a classic group with a protocol type was Empty: group_id, from_record_offset, to_record_offset
    # (NULL: still Empty), since_time (its current_state_time, NULL: unknown).
    empty_groups: pa.Table | None = None
    # When topics were deleted: topic, from_time, to_time (both included). From snapshots, and from `topic_deletions`
    # below.
    topic_deletions: pa.Table | None = None


NO_DELETIONS = pa.table(
    {"topic": pa.array([], pa.string()), "from_time": pa.array([], TIMES), "to_time": pa.array([], TIMES)}
)


def topic_deletions(tombstones: pa.Table) -> pa.Table:
    """Times at which offsets of one topic were deleted in several groups at once. Records of one operation have the
    same time. Of operations on an offsets partition only this one, and the sweep of expired offsets, delete offsets of
    more than one group. Input, for one offsets partition: group_id, topic, record_time of all its deleted offsets."""
    if not tombstones.num_rows:
        return NO_DELETIONS
    groups = tombstones.group_by(["topic", "record_time"], use_threads=False).aggregate(
        [("group_id", "count_distinct")]
    )
    several = groups.filter(pc.and_(pc.greater(groups["group_id_count_distinct"], 1), groups["record_time"].is_valid()))
    several = several.sort_by([("topic", "ascending"), ("record_time", "ascending")])
    return pa.table({"topic": several["topic"], "from_time": several["record_time"], "to_time": several["record_time"]})


def endings(states: KeyStates, ended: Numbers, facts: OffsetFacts) -> NDArray[np.int8]:
    """How each value was ended, as an index into ENDS. `ended`: columns of `fields.E`."""
    place = {end: np.int8(ENDS.index(end)) for end in ENDS}
    codes = np.full(ended.shape[1], place[OffsetEnd.COMMIT])
    codes[ended[E.how] == RECREATED] = place[OffsetEnd.TOPIC_RECREATED]
    deleted = np.flatnonzero(ended[E.how] == DELETED)
    if len(deleted):
        gone = Gone.of(states, ended[:, deleted])
        expiry = expiry_times(gone, facts)
        is_aged = (expiry != NONE) & (gone.time != NONE) & (gone.time >= expiry)
        # It has just expired, and nothing but the same time in another group speaks for its topic.
        is_swept = is_aged & (gone.time - expiry <= SWEPT_WITHIN)
        is_swept &= ~are_with_topic(gone, facts.topic_deletions, are_seen=True)
        is_with_group = are_with_group(gone, facts.group_tombstones)
        is_whole = ended[E.has_others, deleted] == 0
        is_with_topic = is_whole & are_with_topic(gone, facts.topic_deletions) & ~is_swept
        # Deleting some offsets of a topic, while the group keeps others of it, is a deletion by name: a topic is
        # deleted as a whole. This counts only if age is known not to be the reason.
        is_chosen = ~is_whole & ((gone.expire_time != NONE) | (facts.retention_ms is not None))
        codes[deleted] = np.select(
            [is_with_topic & ~is_with_group, is_aged, is_with_group | is_chosen],
            [place[OffsetEnd.TOPIC_DELETED], place[OffsetEnd.EXPIRED], place[OffsetEnd.DELETED]],
            place[OffsetEnd.TOMBSTONE_UNKNOWN],
        )
    return codes


@dataclass(frozen=True)
class Gone:
    """Values that a deletion ended, one row each: the key, the deletion, and the last commit."""

    states: KeyStates
    group: Numbers
    topic: Numbers
    offset: Numbers
    # As written: all deletions of one operation have the same time.
    time: Numbers
    commit_time: Numbers
    expire_time: Numbers

    @classmethod
    def of(cls, states: KeyStates, ended: Numbers) -> "Gone":
        group, topic, _ = states.key_codes.known[:, ended[E.key]]
        times = ended[E.deletion_time], ended[K.commit_time], ended[K.expire_time]
        return cls(states, group, topic, ended[E.to_record_offset], *times)


def expiry_times(gone: Gone, facts: OffsetFacts) -> Numbers:
    """When each expired; NONE: unknown. At the commit's own expiry time if it has one; else by age. The age counts from
    the commit, or in an emptied classic group from when it became empty."""
    expiry = np.array(gone.expire_time)
    if facts.retention_ms is not None:
        since = np.array(gone.commit_time)
        if facts.empty_groups is not None:
            emptied = empty_since(gone, facts.empty_groups)
            since = np.where(emptied == NONE, since, emptied)
        is_timed = (expiry == NONE) & (since != NONE)
        expiry[is_timed] = since[is_timed] + facts.retention_ms * 1000
    return expiry


def empty_since(gone: Gone, empty_groups: pa.Table) -> Numbers:
    """Since when the group was empty at the tombstone; NONE: it was not, or this is unknown."""
    group, rows = of_groups(gone, empty_groups)
    first, since = numbers(rows["from_record_offset"]), numbers(rows["since_time"])
    ends = numbers(rows["to_record_offset"])
    ranked = np.lexsort((first, group))
    empty_from = np.full(len(gone.offset), NONE)
    # The group's last empty interval that began before the tombstone.
    for at, (of, offset) in enumerate(zip(gone.group, gone.offset, strict=True)):
        low, high = np.searchsorted(group[ranked], [of, of + 1])
        stretch = low + int(np.searchsorted(first[ranked[low:high]], offset)) - 1
        if stretch >= low and (ends[ranked[stretch]] == NONE or ends[ranked[stretch]] >= offset):
            empty_from[at] = since[ranked[stretch]]
    return empty_from


def of_groups(gone: Gone, table: pa.Table) -> tuple[NDArray[np.int32], pa.Table]:
    """Rows of known groups, with the groups' codes."""
    codes = pc.index_in(table["group_id"], value_set=gone.states.group_names.known)
    rows = table.filter(codes.is_valid())
    return codes.drop_null().to_numpy(), rows


def are_with_group(gone: Gone, tombstones: pa.Table | None) -> Flags:
    """Whether the same operation deleted the group: its records have the same time."""
    if tombstones is None or not tombstones.num_rows:
        return np.zeros(len(gone.offset), np.bool_)
    group, rows = of_groups(gone, tombstones)
    deletions = set(zip(group.tolist(), numbers(rows["record_time"]).tolist(), strict=True))
    ended = zip(gone.group.tolist(), gone.time.tolist(), strict=True)
    return np.fromiter((time != NONE and (of, time) in deletions for of, time in ended), np.bool_, len(gone.offset))


def are_with_topic(gone: Gone, deletions: pa.Table | None, *, are_seen: bool = False) -> Flags:
    """`are_seen`: only deletions that snapshots show, which lie between two of them."""
    is_with_topic = np.zeros(len(gone.offset), np.bool_)
    if deletions is None:
        return is_with_topic
    codes = pc.index_in(deletions["topic"], value_set=gone.states.topic_names.known)
    windows = deletions.filter(codes.is_valid())
    froms, tos = numbers(windows["from_time"]), numbers(windows["to_time"])
    for topic, start, end in zip(codes.drop_null().to_pylist(), froms.tolist(), tos.tolist(), strict=True):
        if are_seen and start == end:
            continue
        is_with_topic |= (gone.topic == topic) & (gone.time >= start) & (gone.time <= end)
    return is_with_topic
