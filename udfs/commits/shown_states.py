"""States of keys that open rows of offset_history show, and that are not written a second time. Most keys of a cluster
with many partitions are such: their newest record is the commit that is in effect."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import Confidence
from udfs.arrays.nullable import Flags, Numbers, every, first_of
from udfs.codes.names import Codes, Names
from udfs.commits.effects.fields import H
from udfs.commits.key_states import LIVE, PENDING, SCHEMA

# Columns of the state, by the columns of the open row that show them.
SHOWN_BY = {
    **{name: name for name in ("cluster", "group_id", "topic", "partition", "committed_offset", "leader_epoch",
                               "topic_id", "is_from_exact", "from_record_offset", "from_time", "previous_offset",
                               "num_commits", "metadata")},
    "offsets_partition": "evidence_partition",
    **dict.fromkeys(("record_offset", "seen_offset", "last_offset"), "evidence_last_offset"),
    **dict.fromkeys(("record_time", "history_time"), "from_time"),
    "commit_time": "last_commit_time",
    "expire_time": "last_expire_time",
    "first_record_offset": "evidence_first_offset",
    "first_commit_time": "commit_time",
}  # fmt: skip
OF_GROUP = ("alive_from_offset", "alive_from_time", "group_seen_offset", "group_seen_time")


def are_shown(held: Numbers, group: Numbers) -> Flags:
    """`held`: columns of `fields.H`, for keys with a value, in the order of their names. The first one of each group is
    not shown: its row has what is known of the group."""
    is_shown: Flags = (held[H.is_shown] == 1) & ~first_of(group)
    return is_shown


def whole_state(kept: pa.Table, history: pa.Table) -> pa.Table:
    """The rows of the state that were written, and those that open rows of offset_history show."""
    is_key = pc.not_equal(kept["kind"].cast(pa.string()), PENDING)
    groups, topics, codes = Names(), Names(), Codes()
    codes.of(*numbered(kept.filter(is_key), groups, topics))
    num_kept = codes.count
    rows = history.filter(pa.array(codes.of(*numbered(history, groups, topics)) >= num_kept))
    if not rows.num_rows:
        return kept
    of_group = pc.index_in(rows["group_id"].cast(pa.string()), value_set=kept["group_id"].cast(pa.string()))
    size = rows.num_rows
    columns = {name: rows[shown_by] for name, shown_by in SHOWN_BY.items()}
    columns |= {name: kept[name].take(of_group) for name in OF_GROUP}
    columns |= {
        "kind": every(LIVE, pa.string(), size),
        "written_time": pc.coalesce(rows["last_commit_time"], rows["from_time"]),
        "is_certain": pc.not_equal(rows["confidence"].cast(pa.string()), str(Confidence.POSSIBLE)),
        "is_lost": every(False, pa.bool_(), size),
    }
    shown = [columns[field.name].cast(field.type) if field.name in columns else pa.nulls(size, field.type)
             for field in SCHEMA]  # fmt: skip
    return pa.concat_tables([kept.cast(SCHEMA), pa.table(shown, SCHEMA)])


def numbered(rows: pa.Table, groups: Names, topics: Names) -> tuple[Numbers, Numbers, Numbers]:
    partition = np.asarray(rows["partition"].to_numpy(), np.int64)
    return groups.codes(rows["group_id"]), topics.codes(rows["topic"]), partition
