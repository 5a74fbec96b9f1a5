"""The partitions of groups that get a verdict, and their commits by key, in log order."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import TransactionOutcome
from schemas.words.records import GroupType
from udfs.arrays.nullable import Flags, Numbers, flags, numbers
from udfs.lag.as_of import NOWHERE, first_rows, key_codes, newest_at
from udfs.lag.partition_history import PartitionHistory, only

KEY = ("group_id", "topic", "partition")
# Kafka keeps one offset for each name and partition, so an id tells topics apart only where the name is unknown; no
# topic's name has this character.
UNNAMED = "/"
NUMBERS = ("record_offset", "record_time", "commit_time", "committed_offset")
OF_OFFSETS = (
    *KEY, "topic_id", "from_time", "to_time", "from_record_offset", "ended_by", "committed_offset", "previous_offset",
    "delta", "last_commit_time", "confidence",
)  # fmt: skip
OF_COMMITS = (*KEY, *NUMBERS, "topic_id", "is_tombstone", "is_transactional", "producer_id")


@dataclass(frozen=True)
class Keys:
    """`rows`: group_id, topic, topic_id and partition of each key, `places`: where its partition is in the snapshots.
    The other fields: the key of each row of a table that was given, of which `offsets` and `owned` are cut to the
    time."""

    rows: pa.Table
    places: Numbers
    offsets: pa.Table
    of_offsets: Numbers
    owned: pa.Table
    of_owned: Numbers
    commits: pa.Table
    of_commits: Numbers

    @property
    def size(self) -> int:
        return int(self.rows.num_rows)


@dataclass(frozen=True)
class KeyedCommits:
    """Commits in the order of their keys, within a key in the order of the log; those of key k are the rows from
    `bounds[k]` up to `bounds[k + 1]`. Times in microseconds."""

    bounds: Numbers
    key: Numbers
    record_offset: Numbers
    record_time: Numbers
    commit_time: Numbers
    committed_offset: Numbers
    # Not pending and not aborted: it counted, unless a later record had come before its transaction ended.
    is_effective: Flags


def keys_at(history: PartitionHistory) -> Keys:
    """Of everything that is not after `as_of_time`."""
    as_of = history.as_of_time
    # Millions of rows: what is not asked for must not be copied, and texts of keys are looked at once for all.
    offsets = history.table("offset_history").select(list(OF_OFFSETS))
    is_past = numbers(offsets.column("from_time")) <= as_of
    offsets, offset_keys = (only(table, is_past) for table in (offsets, history.offset_keys))
    owned = history.table("ownership_intervals")
    owned = only(owned, numbers(owned.column("from_time")) <= as_of)
    # Share groups keep their offsets elsewhere, and a standby reads nothing of the group's input.
    is_reader = pc.fill_null(pc.equal(owned.column("role"), "active"), True)
    owned = owned.filter(pc.and_(is_reader, pc.not_equal(owned.column("group_type"), str(GroupType.SHARE))))
    owned = history.keys.rows(owned)
    commits = history.commits.select(list(OF_COMMITS))
    # A commit without a time is before no snapshot.
    is_past = ~flags(commits.column("is_tombstone")) & (numbers(commits.column("record_time")) <= as_of)
    commits, commit_keys = (only(table, is_past) for table in (commits, history.commit_keys))
    of_offsets, of_owned, of_commits = key_codes(KEY, *map(with_topic_names, (offset_keys, owned, commit_keys)))
    tables = [with_topic_names(table) for table in (offsets, owned, commits)]
    rows = first_rows((*KEY, "topic_id"), tables, np.concatenate([of_offsets, of_owned, of_commits]))
    return Keys(
        rows=rows,
        places=history.watermarks.first_places(rows),
        offsets=offsets,
        of_offsets=of_offsets,
        owned=owned,
        of_owned=of_owned,
        commits=commits,
        of_commits=of_commits,
    )


def with_topic_names(table: pa.Table) -> pa.Table:
    topic = table.column("topic")
    if not topic.null_count:
        return table
    topic_ids = pc.fill_null(table.column("topic_id").cast(pa.string()), "")
    names = pc.coalesce(topic.cast(pa.string()), pc.binary_join_element_wise(UNNAMED, topic_ids, ""))
    return table.set_column(table.column_names.index("topic"), "topic", names)


def keyed_commits(history: PartitionHistory, keys: Keys) -> KeyedCommits:
    codes = keys.of_commits
    order = key_order(codes, keys.size)
    commits = keys.commits
    bounds = np.append(0, np.cumsum(np.bincount(codes, minlength=keys.size)))
    columns = {name: numbers(commits.column(name))[order] for name in NUMBERS}
    return KeyedCommits(bounds, codes[order], is_effective=are_effective(history, commits)[order], **columns)


def key_order(codes: Numbers, size: int) -> Numbers:
    """By key, within a key as before. Codes of fewer bytes sort faster."""
    return np.argsort(codes.astype(np.min_scalar_type(max(size, 1))), kind="stable")


def are_effective(history: PartitionHistory, commits: pa.Table) -> Flags:
    is_effective = np.ones(commits.num_rows, np.bool_)
    rows = np.flatnonzero(pc.fill_null(commits.column("is_transactional"), False).to_numpy())
    if not len(rows):
        return is_effective
    transactions = history.table("transactions")
    producers = pc.fill_null(commits.column("producer_id"), NOWHERE).to_numpy()[rows]
    at = newest_at(
        transactions.column("producer_id").to_numpy(), transactions.column("first_offset").to_numpy(), producers,
        commits.column("record_offset").to_numpy()[rows],
    )  # fmt: skip
    is_committed = pc.equal(transactions.column("outcome"), str(TransactionOutcome.COMMITTED)).to_numpy()
    has_ended = is_committed & (numbers(transactions.column("end_time")) <= history.as_of_time)
    is_effective[rows] = (at >= 0) & (has_ended[np.maximum(at, 0)] if len(has_ended) else False)
    return is_effective
