"""Decoded tables: one row per record of the offsets topic, nothing of it changed."""

from schemas.declarations.columns import Column, ListOf, StructOf, Table, Type
from schemas.tables import decoded_groups
from schemas.tables.record_columns import (
    CLUSTER,
    GROUP_ID,
    JOB,
    LEADER_EPOCH,
    ORIGIN,
    OUT_OF_RANGE,
    PARTITIONS,
    RECORD_TIME,
    RUN_ID,
    decoded_table,
)

TOPIC_PARTITIONS = ListOf(
    StructOf((Column("topic", Type.STRING, "The topic."), PARTITIONS)),
)
OFFSET_COMMITS = decoded_table(
    "offset_commits",
    "a committed offset, or its deletion",
    "Record types 0 and 1: every offset commit, repeated ones too.",
    (
        GROUP_ID,
        Column("topic", Type.STRING, "Topic of the committed offset.", is_nullable=False),
        Column("partition", Type.INT, "Partition of the committed offset.", is_nullable=False),
        Column(
            "topic_id",
            Type.STRING,
            "Id of the topic, 22 characters; NULL: not written (before 4.3; transactional, before 4.4 or by a client "
            "that does not send it).",
        ),
        Column("key_version", Type.INT, "0 or 1: the record type; only 0.8.2 wrote 0.", is_nullable=False),
        Column(
            "committed_offset",
            Type.BIGINT,
            "The next offset to read. Negative where a client committed a negative offset, which brokers store. NULL: "
            "tombstone.",
        ),
        Column("leader_epoch", Type.INT, "Leader epoch of the last message read; NULL: the client sent none."),
        Column(
            "commit_time", Type.TIMESTAMP, "The broker's clock when it received the request; NULL: see out_of_range."
        ),
        Column(
            "expire_time",
            Type.TIMESTAMP,
            "When the offset expires; NULL: the request had no retention time of its own, so the broker's retention "
            "decides, or see out_of_range.",
        ),
    ),
    (
        Column(
            "metadata",
            Type.STRING,
            "The text that the client attached to the commit; most clients attach an empty text.",
        ),
    ),
)

SUBSCRIPTION = StructOf(
    (
        Column("version", Type.INT, "Version that the client wrote."),
        Column("topics", ListOf(Type.STRING), "Topics subscribed."),
        Column(
            "owned_partitions",
            TOPIC_PARTITIONS,
            "Partitions that the member reported as its own when it joined: its claim. NULL in version 0.",
        ),
        Column(
            "generation_id",
            Type.INT,
            "Generation in which these were assigned to it. -1: the member has no generation, because it is new or "
            "lost its place in the group. NULL below version 2.",
        ),
        Column("rack_id", Type.STRING, "The member's rack; NULL: none, or below version 3."),
        Column("user_data", Type.BINARY, "The assignor's own bytes."),
    )
)
ASSIGNMENT = StructOf(
    (
        Column("version", Type.INT, "Version that the leader wrote."),
        Column("partitions", TOPIC_PARTITIONS, "What the leader assigned, in its order."),
        Column("user_data", Type.BINARY, "The assignor's own bytes."),
    )
)
CLASSIC_MEMBER = StructOf(
    (
        Column("member_id", Type.STRING, "The id that the coordinator gave the member."),
        Column("group_instance_id", Type.STRING, "The member's own static id; NULL: a dynamic member."),
        Column("client_id", Type.STRING, "Client id of the member's connection."),
        Column("client_host", Type.STRING, "The member's address as Java prints it, such as /10.0.0.1."),
        Column(
            "rebalance_timeout_ms",
            Type.INT,
            "How long the coordinator waits for the member to rejoin; NULL: version 0, in which session_timeout_ms "
            "has this role too.",
        ),
        Column(
            "session_timeout_ms",
            Type.INT,
            "The coordinator removes the member after this time without a heartbeat.",
        ),
        Column(
            "subscription",
            SUBSCRIPTION,
            "Decoded; NULL: the protocol type is not consumer, or the bytes cannot be read.",
        ),
        Column(
            "assignment", ASSIGNMENT, "Decoded; NULL: the protocol type is not consumer, or the bytes cannot be read."
        ),
        Column("subscription_bytes", Type.BINARY, "Bytes of the member's subscription, as in the record."),
        Column(
            "assignment_bytes",
            Type.BINARY,
            "Bytes of the member's assignment, as in the record; empty: the leader sent no assignment for the member.",
        ),
        Column(
            "payload_json",
            Type.STRING,
            'Decoded payloads that have no struct here, as JSON, in the form of groupscope dump: {"subscription": …, '
            '"assignment": …}. They are payloads of Connect and Schema Registry, and user data of the assignors '
            "stream, sticky and cooperative-sticky. A payload that cannot be read is null in the JSON. NULL: the "
            "member has no such payload.",
        ),
    )
)

CLASSIC_GROUP_METADATA = decoded_table(
    "classic_group_metadata",
    "a completed generation of a classic group, or its deletion",
    "Record type 2: a classic group with all members, their subscriptions and assignments.",
    (
        GROUP_ID,
        Column("protocol_type", Type.STRING, "Kind of client: consumer, connect, sr; empty for none; NULL: tombstone."),
        Column("generation", Type.INT, "The generation, written when its rebalance is complete; NULL: tombstone."),
        Column("protocol", Type.STRING, "The assignor that members agreed on; NULL: the group is empty."),
        Column("leader", Type.STRING, "Member id of the leader; NULL: the group is empty."),
        Column(
            "current_state_time",
            Type.TIMESTAMP,
            "When the group entered the state that it had when the record was written: usually the end of the join "
            "phase, or when it became Empty. NULL: unknown (before 2.1).",
        ),
    ),
    (Column("members", ListOf(CLASSIC_MEMBER), "Every member of the generation; NULL: tombstone."),),
)

TRANSACTION_MARKERS = decoded_table(
    "transaction_markers",
    "the end of a producer's transaction on this offsets partition",
    "Control records (COMMIT, ABORT): they end a producer's transaction. Its commits take effect with COMMIT and "
    "never after ABORT.",
    (
        Column("marker", Type.STRING, "COMMIT or ABORT.", is_nullable=False),
        Column(
            "coordinator_epoch",
            Type.INT,
            "Epoch of the transaction coordinator that ended the transaction; NULL: unknown.",
        ),
    ),
)


REJECTED_RECORDS = Table(
    "rejected_records",
    "record, batch or range of bytes that could not be decoded",
    "Records and bytes that could not be decoded. A row is removed when another copy of the log, or a newer release "
    "of Groupscope, can read its records.",
    # Lines of an archive have no place in their file: different ones differ in their contents.
    (
        "cluster",
        "offsets_partition",
        "record_offset",
        "partition_leader_epoch",
        "source_file",
        "byte_position",
        "value_bytes",
    ),
    ("cluster", "offsets_partition", "record_offset", "source_file", "byte_position"),
    (
        CLUSTER,
        Column(
            "offsets_partition",
            Type.INT,
            "Partition of __consumer_offsets; NULL: it is not known which partition the file belongs to.",
        ),
        Column("record_offset", Type.BIGINT, "Offset of the record; NULL for a batch or range of bytes."),
        RECORD_TIME,
        LEADER_EPOCH,
        Column(
            "record_type",
            Type.INT,
            "Kafka's record type: the int16 at the start of the key. NULL: batch, marker, or no key.",
        ),
        Column("part", Type.STRING, "Which part could not be decoded: batch, key or value.", is_nullable=False),
        Column(
            "reason",
            Type.STRING,
            "Why it could not be decoded, such as unknown_value_version or bad_crc.",
            is_nullable=False,
        ),
        Column(
            "field",
            Type.STRING,
            "The field that could not be decoded; names of nested fields have dots. NULL: the part as a whole.",
        ),
        Column("is_control", Type.BOOLEAN, "TRUE: key and value are those of a control record; NULL for a batch."),
        Column("source_file", Type.STRING, "File with the range of bytes; NULL for a record."),
        Column("byte_position", Type.BIGINT, "Where in the file the range begins; NULL for a record."),
        Column("size_bytes", Type.BIGINT, "Bytes of the range; NULL for a record."),
        Column(
            "from_offset",
            Type.BIGINT,
            "Lowest offset that records in the range can have; NULL: a record, or not known.",
        ),
        Column(
            "to_offset",
            Type.BIGINT,
            "Highest offset that records in the range can have; NULL: a record, or nothing was read after the range.",
        ),
        Column(
            "num_records",
            Type.BIGINT,
            "1 for a record. For a batch or range of bytes: the records in it, by its header or by the offsets around "
            "it. Columns named damaged_records are sums of these.",
            is_nullable=False,
        ),
        Column(
            "is_num_records_estimated",
            Type.BOOLEAN,
            "TRUE: the header is damaged too, so num_records is an estimate: the number of offsets between the "
            "readable batches before and after the damage. Some of these records may have been compacted away. If "
            "there is no readable batch before the damage, or none after the damage, the estimate is 1.",
            is_nullable=False,
        ),
        Column("is_tombstone", Type.BOOLEAN, "TRUE: the record has no value; NULL for a batch."),
        Column(
            "value_version",
            Type.INT,
            "Version of the value: the int16 at its start. NULL: a batch, or the value is too short.",
        ),
        *(column for column in ORIGIN if column.name in {"is_transactional", "producer_id", "producer_epoch"}),
        Column("batch_first_offset", Type.BIGINT, "First offset of the record's batch; NULL: not known."),
        Column("batch_bytes", Type.INT, "Bytes of the record's batch in the log; NULL: a batch, or not known."),
        Column("record_bytes", Type.INT, "Bytes of key and value, uncompressed; NULL for a batch."),
        RUN_ID,
        OUT_OF_RANGE,
        Column("detail", Type.STRING, "The value that was read and what was expected, in words."),
        Column("key_bytes", Type.BINARY, "The key; NULL: none, or a batch."),
        Column("value_bytes", Type.BINARY, "The value; NULL: none, or a batch."),
    ),
    JOB,
)

TABLES = (
    OFFSET_COMMITS,
    CLASSIC_GROUP_METADATA,
    *decoded_groups.TABLES,
    TRANSACTION_MARKERS,
    REJECTED_RECORDS,
)
