"""Functions for queries of any origin, in Spark and in DuckDB.

Table functions over history and lag say what was so at an instant: one row per cluster and what the name says; the last
argument, which may be left out, is the one cluster that is meant. Scalar functions are of a row.
"""

from dataclasses import dataclass

from schemas.tables import TABLES, Column, ColumnType, StructOf, Type


@dataclass(frozen=True, slots=True)
class Function:
    """`arguments` come before `cluster`; `columns` are those of `reads`, in order. `newest`: the column that says of
    which time a row is, where rows are no intervals: those of the newest time of each cluster answer."""

    name: str
    comment: str
    arguments: tuple[Column, ...]
    reads: str
    columns: tuple[Column, ...]
    newest: str | None = None


INTERVAL = ("from_time", "to_time", "is_from_exact", "is_to_exact")
EVIDENCE = ("evidence_partition", "evidence_first_offset", "evidence_last_offset", "confidence")
CLIENT = ("member_id", "group_instance_id", "client_id", "client_host")
READER = ("reader_certain_until_time", "reader_doubt_from_time")
OWNER_COLUMNS = (
    "group_id", "group_type", *CLIENT, "generation_or_epoch", "phase", "role", *INTERVAL, *READER, *EVIDENCE
)  # fmt: skip
STATE_COLUMNS = (
    "group_id", "group_type", "state", "generation_or_epoch", "protocol_type", "assignor", "num_members", *INTERVAL,
    *EVIDENCE,
)  # fmt: skip
MEMBER_COLUMNS = (
    "group_id", "group_type", *CLIENT, "rack_id", "client_library", "client_library_confidence",
    "joined_generation", "away_since_time", *INTERVAL, *EVIDENCE,
)  # fmt: skip
OFFSET_COLUMNS = (
    "group_id", "topic", "topic_id", "partition", "committed_offset", "leader_epoch", "metadata", "commit_time",
    "last_commit_time", "via", "producer_id", *INTERVAL, *EVIDENCE,
)  # fmt: skip
SNAPSHOT = "snapshot_time"
LAG_COLUMNS = (
    SNAPSHOT, "group_id", "group_type", "topic", "topic_id", "partition", "committed_offset", "log_start_offset",
    "log_end_offset", "lag_raw", "lag", "lag_available", "lost_messages", "no_commit", "committed_beyond_end",
    "committed_negative", "snapshot_age_ms", "time_lag_ms", "time_lag_low_ms", "time_lag_high_ms", "time_lag_method",
    "owner_member_id", "unknown_reason", *EVIDENCE,
)  # fmt: skip

GROUP = Column("group_id", Type.STRING, "The group.")
TOPIC = Column("topic", Type.STRING, "The topic.")
PARTITION = Column("partition", Type.INT, "The partition.")


def of_table(
    name: str,
    comment: str,
    arguments: tuple[Column, ...],
    table: str,
    columns: tuple[str, ...],
    newest: str | None = None,
) -> Function:
    return Function(name, comment, arguments, table, tuple(map(TABLES[table].column, ("cluster", *columns))), newest)


FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        of_table(
            "owner_at",
            "Who owned a partition at a time, in each group.",
            (TOPIC, PARTITION),
            "ownership_intervals",
            OWNER_COLUMNS,
        ),
        of_table("group_state_at", "The state of a group at a time.", (GROUP,), "group_state_intervals", STATE_COLUMNS),
        of_table("members_at", "The members of a group at a time.", (GROUP,), "membership_intervals", MEMBER_COLUMNS),
        of_table(
            "offset_at",
            "The offset of a partition that was in effect at a time.",
            (GROUP, TOPIC, PARTITION),
            "offset_history",
            OFFSET_COLUMNS,
        ),
        of_table(
            "lag_at",
            "Lag of a group at its newest snapshot at or before a time.",
            (GROUP,),
            "lag_points",
            LAG_COLUMNS,
            newest=SNAPSHOT,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """`result_comment` says what the value is; fields of a struct have comments of their own."""

    name: str
    comment: str
    arguments: tuple[Column, ...]
    result: ColumnType
    result_comment: str


KAFKA_ASSIGN = ScalarFunction(
    "kafka_assign",
    "The assignment that Kafka's assignor computes for an assignment question: what `groupscope assign` prints for it.",
    (
        Column(
            "spec",
            Type.STRING,
            "The [assignment question](assignors.md#inputs-of-an-assignor): members, topics and assignor as JSON.",
        ),
    ),
    Type.STRING,
    "A JSON object: `id`, `assignment` and `order`, or `id` and `error`. NULL if the question is NULL.",
)

REJECTED = StructOf(
    (
        Column("part", Type.STRING, "`key` or `value`."),
        Column("field", Type.STRING, "The field that could not be read. NULL: the part as a whole."),
        Column("reason", Type.STRING, "One of the reasons of the table `rejected_records`, such as `underrun`."),
        Column("detail", Type.STRING, "The value that was read, and what was expected."),
    )
)

DECODE_OFFSETS_RECORD = ScalarFunction(
    "decode_offsets_record",
    "A record of `__consumer_offsets` as `groupscope dump` prints it.",
    (
        Column("key", Type.BINARY, "The record's key."),
        Column("value", Type.BINARY, "The record's value. NULL: a tombstone."),
    ),
    StructOf(
        (
            Column("record_type", Type.INT, "Number of the record type: the version of the key. NULL: unreadable."),
            Column("type", Type.STRING, "Kafka's name of the type, such as `OffsetCommit`. NULL: unknown type."),
            Column("key", Type.STRING, "The fields of the key as a JSON object. NULL: rejected."),
            Column("value", Type.STRING, "The fields of the value as a JSON object. NULL: a tombstone, or rejected."),
            Column("value_version", Type.INT, "Version of the value. NULL: a tombstone, or rejected."),
            Column("rejected", REJECTED, "Why the record could not be decoded. NULL: it was decoded."),
        )
    ),
    "The record's fields. Never NULL itself.",
)

SCALAR_FUNCTIONS: dict[str, ScalarFunction] = {
    function.name: function for function in (KAFKA_ASSIGN, DECODE_OFFSETS_RECORD)
}
