"""History tables of committed offsets and of the log itself."""

from schemas.declarations.columns import Column, ListOf, Table, Type
from schemas.tables.history_columns import EVIDENCE, INTERVAL, IS_OPEN, PARTITION, history
from schemas.tables.record_columns import GROUP_ID

COMMITTED_TOPIC = (
    Column("topic", Type.STRING, "Topic of the committed offset.", is_nullable=False),
    Column(
        "topic_id",
        Type.STRING,
        "Id of the topic as written; NULL: not written (before 4.3; transactional, before 4.4 or by a client that does "
        "not send it).",
    ),
    PARTITION,
)

OFFSET_HISTORY = history(
    "offset_history",
    "group, topic partition and committed offset in effect",
    "Every committed offset, from when to when it was in effect. Repeated commits of the same offset are one row.",
    ("group_id", "topic", "partition", "from_offset"),
    (
        GROUP_ID,
        *COMMITTED_TOPIC,
        *INTERVAL,
        Column(
            "committed_offset",
            Type.BIGINT,
            "The next offset to read. Negative where a client committed a negative offset, which brokers store.",
            is_nullable=False,
        ),
        Column("previous_offset", Type.BIGINT, "The offset that was in effect before this one; NULL: none."),
        Column(
            "delta",
            Type.BIGINT,
            "committed_offset minus previous_offset; NULL: previous_offset is NULL, or the difference does not fit "
            "into 64 bits.",
        ),
        Column("leader_epoch", Type.INT, "Leader epoch of the last message read; NULL: the client sent none."),
        Column("commit_time", Type.TIMESTAMP, "The broker's clock at the first of these commits."),
        Column(
            "num_commits",
            Type.BIGINT,
            "Number of consecutive commits of this offset. The row is about all of them.",
            is_nullable=False,
        ),
        Column("last_commit_time", Type.TIMESTAMP, "The broker's clock at the last of these commits."),
        Column(
            "last_expire_time",
            Type.TIMESTAMP,
            "When the last of these commits expires; 1970: before the year 1; the end of the year 9999: then or later. "
            "NULL: it has no expiry time of its own.",
        ),
        Column(
            "via", Type.STRING, "plain: an offset commit; transaction: a commit in a transaction.", is_nullable=False
        ),
        Column("producer_id", Type.BIGINT, "Producer of the transaction; NULL: no transaction."),
        *EVIDENCE,
        Column(
            "metadata",
            Type.STRING,
            "The text that the client attached to the commit; most clients attach an empty text.",
        ),
    ),
)

TRANSACTIONS = history(
    "transactions",
    "transaction of a producer, and offsets partition",
    "Transactions that committed offsets, from their first record to their marker.",
    ("evidence_partition", "producer_id", "first_offset"),
    (
        Column("producer_id", Type.BIGINT, "The producer.", is_nullable=False),
        Column(
            "producer_epoch",
            Type.INT,
            "The producer's epoch at the first record; NULL: an archive without this column.",
        ),
        Column("first_offset", Type.BIGINT, "Offset of the transaction's first record.", is_nullable=False),
        Column("first_time", Type.TIMESTAMP, "When that record was written; NULL: it has no time."),
        Column("end_time", Type.TIMESTAMP, "When the transaction's marker was written; NULL: no marker yet."),
        IS_OPEN,
        Column("outcome", Type.STRING, "committed, aborted or open.", is_nullable=False),
        Column("num_commits", Type.BIGINT, "Offset commits in the transaction.", is_nullable=False),
        Column(
            "num_superseded",
            Type.BIGINT,
            "Of these, commits that do not take effect, because a later record of the same group and partition "
            "replaced them before the marker.",
            is_nullable=False,
        ),
        Column("duration_ms", Type.BIGINT, "From first record to marker; NULL: open."),
        *EVIDENCE,
        Column(
            "groups",
            ListOf(Type.STRING),
            "Groups whose offsets the transaction commits, in the order of their names.",
            is_nullable=False,
        ),
    ),
)

TOPICS = history(
    "topics",
    "topic name and topic id",
    "Names, ids and partition counts of topics, from snapshots, commits and group records.",
    ("topic", "topic_id", "from_time"),
    (
        Column("topic", Type.STRING, "The topic.", is_nullable=False),
        Column("topic_id", Type.STRING, "The topic's id, 22 characters; NULL: no source has it."),
        Column("from_time", Type.TIMESTAMP, "When a source first had this name with this id."),
        Column(
            "to_time",
            Type.TIMESTAMP,
            "When a source last had this name with this id, if the name got another id or the topic disappeared "
            "later; NULL: the topic still exists.",
        ),
        IS_OPEN,
        Column("num_partitions", Type.INT, "Number of partitions, from the newest source; NULL: no source has it."),
        Column(
            "source",
            Type.STRING,
            "Which source connects name and id: snapshot, commit or record; metadata_hash: only this name fits the "
            "hash in group records; single_subscription: only this name was left among the subscribed topics; "
            "partition_counts: only this one of the subscribed topics can have as many partitions.",
            is_nullable=False,
        ),
        Column(
            "confidence",
            Type.STRING,
            "certain; or likely: by partition_counts, or the only name left (single_subscription) in a group of which "
            "records are missing, or when another name of the group is only likely.",
            is_nullable=False,
        ),
    ),
)

COORDINATOR_EPOCHS = history(
    "coordinator_epochs",
    "offsets partition and leader epoch",
    "Leader epochs of the partitions of __consumer_offsets, as far as record batches show them.",
    ("offsets_partition", "partition_leader_epoch"),
    (
        Column("offsets_partition", Type.INT, "Partition of __consumer_offsets.", is_nullable=False),
        Column("partition_leader_epoch", Type.INT, "The leader epoch.", is_nullable=False),
        Column("first_offset", Type.BIGINT, "Offset of the first known record of the epoch.", is_nullable=False),
        Column(
            "last_offset",
            Type.BIGINT,
            "Offset of the last known record of the epoch, without records that a later leader overwrote.",
            is_nullable=False,
        ),
        Column("from_time", Type.TIMESTAMP, "Time of the first record; NULL: it has none."),
        Column("to_time", Type.TIMESTAMP, "Time of the last record; NULL: it has none."),
        IS_OPEN,
    ),
)

HISTORY_COVERAGE = history(
    "history_coverage",
    "offsets partition and contiguous range of the log",
    "The ranges of the log that were read. Groupscope says nothing about what happened outside of them.",
    ("offsets_partition", "first_offset"),
    (
        Column("offsets_partition", Type.INT, "Partition of __consumer_offsets.", is_nullable=False),
        Column("first_offset", Type.BIGINT, "First offset of the range.", is_nullable=False),
        Column("last_offset", Type.BIGINT, "Last offset of the range.", is_nullable=False),
        Column("complete_from_offset", Type.BIGINT, "From this offset to the end of the range no record is missing; "
               "NULL: no record of the range could be decoded."),
        Column("complete_from_time", Type.TIMESTAMP, "Time of the record at that offset; NULL: it has none."),
        Column("from_time", Type.TIMESTAMP, "Earliest record time of the range."),
        Column("to_time", Type.TIMESTAMP, "Latest record time of the range."),
        Column("num_records", Type.BIGINT, "Records that were read, including those that could not be decoded.",
               is_nullable=False),
        Column("has_transactions", Type.BOOLEAN, "FALSE: part of the range is from an archive without producer "
               "columns. Commits of aborted transactions then look like plain commits.", is_nullable=False),
        Column("compacted_records_estimate", Type.BIGINT, "Offsets of the range without a record: an upper bound of "
               "what was compacted away. Damaged records are not included.", is_nullable=False),
        Column("damaged_records", Type.BIGINT, "Records in damaged batches and ranges of bytes that no copy of the "
               "log has intact.", is_nullable=False),
        IS_OPEN,
    ),
)  # fmt: skip

TABLES: tuple[Table, ...] = (OFFSET_HISTORY, TRANSACTIONS, TOPICS, COORDINATOR_EPOCHS, HISTORY_COVERAGE)
