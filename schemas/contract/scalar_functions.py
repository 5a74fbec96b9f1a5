"""Functions of a row for queries of any origin, in Spark and in DuckDB: what they take, what they give."""

from dataclasses import dataclass

from schemas.tables import Column, ColumnType, StructOf, Type


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
