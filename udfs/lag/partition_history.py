"""What lag, verdicts and events of one offsets partition are made from: rows of tables, with the columns named here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.records import OFFSETS_TOPIC, EarlyEnd
from udfs.arrays.nullable import Flags, numbers
from udfs.lag.doubtful_times import DoubtfulTimes
from udfs.lag.key_ranges import EVERY_KEY, KeyRange
from udfs.lag.watermarks import Watermarks

# By table; times are TIMESTAMP columns, rows are in the order of the table.
READ: dict[str, tuple[str, ...]] = {
    "offset_history": (
        "group_id", "topic", "topic_id", "partition", "from_time", "to_time", "from_record_offset", "to_record_offset",
        "is_from_exact", "ended_by", "committed_offset", "previous_offset", "delta", "leader_epoch", "commit_time",
        "last_commit_time", "last_expire_time", "via", "confidence", "metadata", "evidence_last_offset",
    ),
    "group_state_intervals": (
        "group_id", "group_type", "state", "from_time", "to_time", "from_record_offset", "to_record_offset", "ended_by",
        "protocol_type", "generation_or_epoch", "num_members", "confidence",
    ),
    "ownership_intervals": (
        "group_id", "group_type", "topic", "topic_id", "partition", "member_id", "phase", "role", "from_time",
        "to_time", "from_record_offset", "to_record_offset",
    ),
    "membership_intervals": (
        "group_id", "member_id", "client_id", "client_host", "from_time", "to_time", "from_record_offset",
        "to_record_offset", "leave_kind",
    ),
    "generation_members": (
        "group_id", "group_type", "assignment_offset", "member_id", "change", "subscribed_topics",
        "evidence_last_offset",
    ),
    "rebalances": ("group_id", "group_type", "assignment_offset", "start_time", "end_time"),
    "transactions": ("producer_id", "first_offset", "first_time", "end_time", "outcome", "groups"),
    # Of each group its newest record.
    "classic_group_metadata": ("group_id", "record_offset", "current_state_time"),
    "streams_group_topologies": ("group_id", "record_offset", "subtopologies"),
    "history_coverage": ("offsets_partition", "first_offset", "last_offset", "from_time", "to_time"),
}  # fmt: skip
# Raw commits, tombstones among them, in the order of the log.
COMMITS = (
    "record_offset", "record_time", "group_id", "topic", "topic_id", "partition", "committed_offset", "commit_time",
    "is_tombstone", "is_transactional", "producer_id", "batch_first_offset", "record_bytes",
)  # fmt: skip


# Of rows by the million, whose texts stay codes of a dictionary: to write them out and look at each again takes longer
# than all that is asked of them.
CODED = ("offset_history", "offset_commits")
# Tables whose rows have a time: the columns of it, and of the record that it comes from.
RECORD_AND_TIME = {
    "offset_commits": ("record_offset", "record_time"),
    **dict.fromkeys(
        ("offset_history", "group_state_intervals", "ownership_intervals"), ("from_record_offset", "from_time")
    ),
}
SUBJECT = ("group_id", "topic", "topic_id", "partition")

Made = TypeVar("Made")


@dataclass(frozen=True)
class BrokerSettings:
    """Of the coordinator, in milliseconds, with where each comes from (`SettingsSource`)."""

    offsets_retention_ms: int = 7 * 24 * 3600 * 1000
    retention_source: str = "default"
    check_interval_ms: int = 600_000
    offsets_topic_segment_bytes: int | None = None


@dataclass
class Reach:
    """Of the rows of all keys: the newest record that is known not to be after the as-of time, and the oldest raw
    commit; None: there is none."""

    newest_offset: int = -1
    oldest_commit: int | None = None

    def add(self, name: str, rows: pa.Table, as_of_time: int) -> None:
        """Some rows of one of `RECORD_AND_TIME`."""
        offset, time = RECORD_AND_TIME[name]
        offsets = numbers(rows.column(offset))
        past = offsets[numbers(rows.column(time)) <= as_of_time]
        self.newest_offset = max(self.newest_offset, int(past.max(initial=-1)))
        if name == "offset_commits" and len(offsets):
            oldest = int(offsets.min())
            self.oldest_commit = oldest if self.oldest_commit is None else min(oldest, self.oldest_commit)


@dataclass(frozen=True)
class PartitionHistory:
    """`tables`: by name, with the columns of `READ`; texts of `CODED` may be codes. `as_of_time`: microseconds; rows
    after it are not judged. `keys`: those of which offset_history and `commits` have all rows; the other tables have
    all rows of their groups. `reach`: of the other keys too."""

    offsets_partition: int
    tables: dict[str, pa.Table]
    commits: pa.Table
    watermarks: Watermarks
    as_of_time: int
    broker: BrokerSettings = field(default_factory=BrokerSettings)
    # By the records of all groups of the offsets partition: one broker's clock writes them.
    doubtful: DoubtfulTimes = field(default_factory=DoubtfulTimes)
    keys: KeyRange = EVERY_KEY
    reach: Reach = field(default_factory=Reach)
    # Why the log probably goes on after what was read of it; None: it was read to its end.
    early_end: EarlyEnd | None = None
    # What was made of it and is needed again, by name. A changed copy begins without.
    made: dict[str, Any] = field(default_factory=dict, init=False)

    def table(self, name: str) -> pa.Table:
        return self.tables[name]

    def within(self, keys: KeyRange) -> "PartitionHistory":
        """Of some of its keys."""
        tables = {**self.tables, "offset_history": keys.rows(self.table("offset_history"))}
        return replace(self, tables=tables, commits=keys.rows(self.commits), keys=keys)

    def once(self, name: str, make: Callable[["PartitionHistory"], Made]) -> Made:
        """What `make` makes of this history, kept for the next caller."""
        if name not in self.made:
            self.made[name] = make(self)
        kept: Made = self.made[name]
        return kept

    @cached_property
    def offset_keys(self) -> pa.Table:
        """`SUBJECT` of offset_history, texts as codes: millions of rows are looked at once and not by each measure."""
        return encode_texts(self.table("offset_history"))

    @cached_property
    def commit_keys(self) -> pa.Table:
        """Likewise of raw commits."""
        return encode_texts(self.commits)


def encode_texts(rows: pa.Table) -> pa.Table:
    columns = {name: rows.column(name) for name in SUBJECT}
    return pa.table(
        {
            name: column.combine_chunks().dictionary_encode() if pa.types.is_string(column.type) else column
            for name, column in columns.items()
        }
    )


def named_topics(tables: Mapping[str, pa.Table], commits: pa.Table) -> pa.Array:
    """All partitions of offsets, owners and members, and the one that shows until when the log is known."""
    named = [rows.column("topic") for rows in (tables["offset_history"], tables["ownership_intervals"], commits)]
    named.append(pc.list_flatten(tables["generation_members"].column("subscribed_topics")))
    known = [pc.unique(each.combine_chunks()).cast(pa.string()).drop_null() for each in named]
    return pc.unique(pa.concat_arrays([*known, pa.array([OFFSETS_TOPIC])]))


def only(rows: pa.Table, which: Flags) -> pa.Table:
    """Without a copy where all are meant."""
    return rows if which.all() else rows.filter(pa.array(which))
