"""History tables of committed offsets and of the log itself."""

from schemas.declarations.columns import Column, ListOf, Table, Type
from schemas.tables.history_columns import EVIDENCE, INTERVAL, IS_OPEN, PARTITION, history
from schemas.tables.record_columns import GROUP_ID

COMMITTED_TOPIC = (
    Column("topic", Type.STRING, "The topic committed for.", is_nullable=False),
    Column("topic_id", Type.STRING, "Id of the topic as written; NULL: not written (transactional, or before 4.3)."),
    PARTITION,
)

OFFSET_HISTORY = history(
    "offset_history",
    "group by topic partition by committed value",
    "Every offset that held, from when to when; equal commits in a row are one row.",
    ("group_id", "topic", "partition", "from_offset"),
    (
        GROUP_ID,
        *COMMITTED_TOPIC,
        *INTERVAL,
        Column("committed_offset", Type.BIGINT, "The next offset to read; may be negative.", is_nullable=False),
        Column("previous_offset", Type.BIGINT, "The value that held before; NULL: none."),
        Column("delta", Type.BIGINT, "committed_offset less previous_offset; NULL: none before."),
        Column("leader_epoch", Type.INT, "Leader epoch of the last message read; NULL: the client sent none."),
        Column("commit_time", Type.TIMESTAMP, "The broker's clock at the first commit of the row."),
        Column("num_commits", Type.BIGINT, "Commits of this value, one after the other.", is_nullable=False),
        Column("last_commit_time", Type.TIMESTAMP, "The broker's clock at the last of them."),
        Column("last_expire_time", Type.TIMESTAMP, "When the last of them expires; NULL: no retention time named."),
        Column("via", Type.STRING, "plain or transaction.", is_nullable=False),
        Column("producer_id", Type.BIGINT, "Producer of the transaction; NULL: plain."),
        *EVIDENCE,
        Column("metadata", Type.STRING, "The text that the client attached, mostly empty."),
    ),
)

TRANSACTIONS = history(
    "transactions",
    "producer by transaction on an offsets partition",
    "Transactions that committed offsets, from their first record to their marker.",
    ("evidence_partition", "producer_id", "first_offset"),
    (
        Column("producer_id", Type.BIGINT, "The producer.", is_nullable=False),
        Column("producer_epoch", Type.INT, "Its epoch at the first record; NULL: the archive does not say."),
        Column("first_offset", Type.BIGINT, "Its first record.", is_nullable=False),
        Column("first_time", Type.TIMESTAMP, "When that was written."),
        Column("end_time", Type.TIMESTAMP, "When its marker was written; NULL: none yet."),
        IS_OPEN,
        Column("outcome", Type.STRING, "committed, aborted or open.", is_nullable=False),
        Column("num_commits", Type.BIGINT, "Commits of offsets in it.", is_nullable=False),
        Column("num_superseded", Type.BIGINT, "Of these, commits that lost to a later record.", is_nullable=False),
        Column("duration_ms", Type.BIGINT, "From first record to marker; NULL: open."),
        *EVIDENCE,
        Column("groups", ListOf(Type.STRING), "Groups whose offsets it commits, in order of names.", is_nullable=False),
    ),
)

TOPICS = history(
    "topics",
    "topic by id",
    "Topics by name and id, as snapshots, commits and group records name them.",
    ("topic", "topic_id", "from_time"),
    (
        Column("topic", Type.STRING, "The topic.", is_nullable=False),
        Column("topic_id", Type.STRING, "Its id, 22 characters; NULL: no source gives one."),
        Column("from_time", Type.TIMESTAMP, "First seen."),
        Column("to_time", Type.TIMESTAMP, "Last seen before another id of the name, or its absence; NULL: still so."),
        IS_OPEN,
        Column("num_partitions", Type.INT, "Partitions, newest known; NULL: no source gives the number."),
        Column(
            "source",
            Type.STRING,
            "What names it: snapshot, commit, record, metadata_hash or single_subscription.",
            is_nullable=False,
        ),
        Column(
            "confidence",
            Type.STRING,
            "certain; likely: by the one name left in a group of which records are missing.",
            is_nullable=False,
        ),
    ),
)

COORDINATOR_EPOCHS = history(
    "coordinator_epochs",
    "offsets partition by leader epoch",
    "Elections of the partitions of __consumer_offsets, as far as record batches show.",
    ("offsets_partition", "partition_leader_epoch"),
    (
        Column("offsets_partition", Type.INT, "Partition of __consumer_offsets.", is_nullable=False),
        Column("partition_leader_epoch", Type.INT, "The leader epoch.", is_nullable=False),
        Column("first_offset", Type.BIGINT, "First record of it that is known.", is_nullable=False),
        Column("last_offset", Type.BIGINT, "Last record of it that is known and counts.", is_nullable=False),
        Column("from_time", Type.TIMESTAMP, "Time of the first."),
        Column("to_time", Type.TIMESTAMP, "Time of the last."),
        IS_OPEN,
    ),
)

HISTORY_COVERAGE = history(
    "history_coverage",
    "offsets partition and contiguous range of the log",
    "What of the log is known: nothing is claimed outside of these stretches.",
    ("offsets_partition", "first_offset"),
    (
        Column("offsets_partition", Type.INT, "Partition of __consumer_offsets.", is_nullable=False),
        Column("first_offset", Type.BIGINT, "Where the range begins.", is_nullable=False),
        Column("last_offset", Type.BIGINT, "Where it ends.", is_nullable=False),
        Column("complete_from_offset", Type.BIGINT, "From here on no record is missing; NULL: the last one is."),
        Column("complete_from_time", Type.TIMESTAMP, "Time of that record."),
        Column("from_time", Type.TIMESTAMP, "Earliest record time of the range."),
        Column("to_time", Type.TIMESTAMP, "Latest record time of the range."),
        Column("num_records", Type.BIGINT, "Records known, undecodable ones among them.", is_nullable=False),
        Column("has_transactions", Type.BOOLEAN, "FALSE: an archive without producers, aborted commits look plain.",
               is_nullable=False),
        Column("compacted_records_estimate", Type.BIGINT, "Offsets without a record, at most; damaged ones left out.",
               is_nullable=False),
        Column("damaged_records", Type.BIGINT, "Records in batches and ranges of bytes that no copy could give.",
               is_nullable=False),
        IS_OPEN,
    ),
)  # fmt: skip

TABLES: tuple[Table, ...] = (OFFSET_HISTORY, TRANSACTIONS, TOPICS, COORDINATOR_EPOCHS, HISTORY_COVERAGE)
