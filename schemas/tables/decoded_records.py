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
    decoded,
)

TOPIC_PARTITIONS = ListOf(
    StructOf((Column("topic", Type.STRING, "The topic."), PARTITIONS)),
)
OFFSET_COMMITS = decoded(
    "offset_commits",
    "a committed offset, or its deletion",
    "Record types 0 and 1: offsets that groups committed, as often as they did.",
    (
        GROUP_ID,
        Column("topic", Type.STRING, "The topic committed for.", is_nullable=False),
        Column("partition", Type.INT, "The partition committed for.", is_nullable=False),
        Column(
            "topic_id", Type.STRING, "Id of the topic, 22 characters; NULL: not written (transactional, or before 4.3)."
        ),
        Column("key_version", Type.INT, "0 or 1: the record type; only 0.8.2 wrote 0.", is_nullable=False),
        Column("committed_offset", Type.BIGINT, "The next offset to read; may be negative; NULL: tombstone."),
        Column("leader_epoch", Type.INT, "Leader epoch of the last message read; NULL: the client sent none."),
        Column("commit_time", Type.TIMESTAMP, "The broker's clock when the request came; NULL: see out_of_range."),
        Column("expire_time", Type.TIMESTAMP, "When the offset expires; NULL: the request named no retention time."),
    ),
    (Column("metadata", Type.STRING, "The text that the client attached, mostly empty."),),
)

SUBSCRIPTION = StructOf(
    (
        Column("version", Type.INT, "Version that the client wrote."),
        Column("topics", ListOf(Type.STRING), "Topics subscribed."),
        Column("owned_partitions", TOPIC_PARTITIONS, "What the member owned as it joined; NULL in version 0."),
        Column("generation_id", Type.INT, "Generation in which it got them; -1: reset; NULL below version 2."),
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
        Column("client_host", Type.STRING, "The member's address as Java prints it, mostly /10.0.0.1."),
        Column("rebalance_timeout_ms", Type.INT, "Time to join; NULL: version 0, where the session timeout serves."),
        Column("session_timeout_ms", Type.INT, "Silence after which the member is evicted."),
        Column("subscription", SUBSCRIPTION, "Of protocol type consumer, where it can be read; else NULL."),
        Column("assignment", ASSIGNMENT, "Of protocol type consumer, where it can be read; else NULL."),
        Column("subscription_bytes", Type.BINARY, "The member's metadata for the protocol, as written."),
        Column("assignment_bytes", Type.BINARY, "What the leader assigned, as written; empty: nothing named."),
        Column(
            "payload_json",
            Type.STRING,
            'What the structs do not say: {"subscription": …, "assignment": …}, each as dump prints it: payloads of '
            "Connect and Schema Registry, user data of stream, sticky and cooperative-sticky (null where it cannot be "
            "read); NULL: neither.",
        ),
    )
)

CLASSIC_GROUP_METADATA = decoded(
    "classic_group_metadata",
    "a completed generation of a classic group, or its deletion",
    "Record type 2: a classic group with all members, their subscriptions and assignments.",
    (
        GROUP_ID,
        Column("protocol_type", Type.STRING, "Kind of client: consumer, connect, sr; empty for none; NULL: tombstone."),
        Column("generation", Type.INT, "The generation that the record completes; NULL: tombstone."),
        Column("protocol", Type.STRING, "The assignor that members agreed on; NULL: the group is empty."),
        Column("leader", Type.STRING, "Member id of the leader; NULL: the group is empty."),
        Column(
            "current_state_time",
            Type.TIMESTAMP,
            "When the group entered the state before the write; NULL: unknown (before 2.1).",
        ),
    ),
    (Column("members", ListOf(CLASSIC_MEMBER), "Every member of the generation; NULL: tombstone."),),
)

TRANSACTION_MARKERS = decoded(
    "transaction_markers",
    "the end of a producer's transaction on this offsets partition",
    "Control records: they say whether transactional commits of the same producer before them hold.",
    (
        Column("marker", Type.STRING, "COMMIT or ABORT.", is_nullable=False),
        Column("coordinator_epoch", Type.INT, "Epoch of the transaction coordinator that ended it; NULL: unknown."),
    ),
)


REJECTED_RECORDS = Table(
    "rejected_records",
    "record, batch or range of bytes that could not be decoded",
    "Everything read that is in no other table; a row is removed when a copy or a later release gives its records.",
    # Lines of an archive have no place in their file: different ones differ in what stands in them.
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
        Column("offsets_partition", Type.INT, "Partition of __consumer_offsets; NULL: the file's place is not known."),
        Column("record_offset", Type.BIGINT, "Offset of the record; NULL for a batch or range of bytes."),
        RECORD_TIME,
        LEADER_EPOCH,
        Column("record_type", Type.INT, "The number that opens the key; NULL: batch, marker, or no key."),
        Column("part", Type.STRING, "Which part is at fault: batch, key or value.", is_nullable=False),
        Column("reason", Type.STRING, "Why, such as unknown_value_version or bad_crc.", is_nullable=False),
        Column("field", Type.STRING, "The field at fault, nested ones with dots; NULL: the part as a whole."),
        Column("is_control", Type.BOOLEAN, "TRUE: key and value are those of a control record; NULL for a batch."),
        Column("source_file", Type.STRING, "File that holds the range of bytes; NULL for a record."),
        Column("byte_position", Type.BIGINT, "Where in the file the range begins; NULL for a record."),
        Column("size_bytes", Type.BIGINT, "Bytes of the range; NULL for a record."),
        Column("from_offset", Type.BIGINT, "Lowest offset that the range may hold; NULL: a record, or not known."),
        Column("to_offset", Type.BIGINT, "Highest offset that it may hold; NULL: a record, or nothing follows it."),
        Column(
            "num_records",
            Type.BIGINT,
            "Records of the row: 1; of a batch or range of bytes as many as it held, by its headers or by the offsets "
            "between its neighbours. damaged_records counts these.",
            is_nullable=False,
        ),
        Column(
            "is_num_records_estimated",
            Type.BOOLEAN,
            "TRUE: no header could be believed. num_records is then the number of offsets between the neighbours, some "
            "of which may have been compacted away, or 1 where a neighbour is missing.",
            is_nullable=False,
        ),
        Column("is_tombstone", Type.BOOLEAN, "TRUE: the record has no value; NULL for a batch."),
        Column("value_version", Type.INT, "The number that opens the value; NULL: batch, or too short for one."),
        *(column for column in ORIGIN if column.name in {"is_transactional", "producer_id", "producer_epoch"}),
        Column("batch_first_offset", Type.BIGINT, "First offset of the record's batch; NULL: not known."),
        Column("record_bytes", Type.INT, "Bytes of key and value, uncompressed; NULL for a batch."),
        RUN_ID,
        OUT_OF_RANGE,
        Column("detail", Type.STRING, "What was found and what was expected, for people."),
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
