"""What a replay keeps so that the next run goes on from there; of no use to queries."""

from schemas.declarations.columns import Column, Table, Type
from schemas.tables.history_columns import JOB, PARTITION
from schemas.tables.record_columns import CLUSTER, GROUP_ID, OFFSETS_PARTITION

REPLAYED_OFFSETS = Table(
    "replayed_offsets",
    "group by topic partition, and commit that awaits its marker",
    "The newest state of every offset that was ever committed, unless an open row of offset_history shows it: the "
    "next replay continues from here.",
    ("cluster", "offsets_partition", "group_id", "topic", "partition", "kind", "record_offset"),
    ("cluster", "offsets_partition", "group_id", "topic", "partition", "kind", "record_offset"),
    (
        CLUSTER,
        OFFSETS_PARTITION,
        GROUP_ID,
        Column("topic", Type.STRING, "The topic committed for.", is_nullable=False),
        PARTITION,
        Column("kind", Type.STRING, "live; gone (no value, one row too); pending (one row each).", is_nullable=False),
        Column("record_offset", Type.BIGINT, "Last commit that took effect, deletion, or pending commit; -1: none.",
               is_nullable=False),
        # Of the key, the same in all its rows.
        Column("seen_offset", Type.BIGINT, "Its newest record.", is_nullable=False),
        Column("history_time", Type.TIMESTAMP, "Largest time of what took effect; NULL: nothing, or without time."),
        Column("written_time", Type.TIMESTAMP, "Time of the newest commit, in effect or not."),
        Column("hole_offset", Type.BIGINT, "Last offset before the newest range that was not read; NULL: none."),
        # Of the group, the same in all its rows.
        Column("alive_from_offset", Type.BIGINT, "Since when the group has offsets; NULL: it has none."),
        Column("alive_from_time", Type.TIMESTAMP, "Time of that."),
        Column("group_seen_offset", Type.BIGINT, "Newest commit or deletion of the group.", is_nullable=False),
        Column("group_seen_time", Type.TIMESTAMP, "Time of that record."),
        # Of the commit.
        Column("record_time", Type.TIMESTAMP, "Time of the record."),
        Column("committed_offset", Type.BIGINT, "The value; NULL: gone."),
        Column("leader_epoch", Type.INT, "Leader epoch of the last message read."),
        Column("topic_id", Type.STRING, "Id of the topic as written."),
        Column("commit_time", Type.TIMESTAMP, "The broker's clock at the commit."),
        Column("expire_time", Type.TIMESTAMP, "When it expires."),
        Column("producer_id", Type.BIGINT, "Producer of the transaction; NULL: plain."),
        Column("producer_epoch", Type.INT, "Epoch of that producer."),
        Column("is_certain", Type.BOOLEAN, "FALSE: an archive does not show whether it is transactional.",
               is_nullable=False),
        Column("is_lost", Type.BOOLEAN, "Pending: TRUE if a later record has overruled it.", is_nullable=False),
        Column("is_from_exact", Type.BOOLEAN, "FALSE: records are missing before it.", is_nullable=False),
        # Of the row of offset_history that a live value continues.
        Column("from_offset", Type.BIGINT, "The record that began the row."),
        Column("from_time", Type.TIMESTAMP, "When it began."),
        Column("first_record_offset", Type.BIGINT, "First commit of the row."),
        Column("first_commit_time", Type.TIMESTAMP, "The broker's clock at that commit."),
        Column("last_offset", Type.BIGINT, "Where its last commit took effect."),
        Column("previous_offset", Type.BIGINT, "The offset in effect before."),
        Column("num_commits", Type.BIGINT, "Commits of the row.", is_nullable=False),
        Column("metadata", Type.STRING, "The text that the client attached."),
    ),
    JOB,
    is_state=True,
)  # fmt: skip

TABLES: tuple[Table, ...] = (REPLAYED_OFFSETS,)
