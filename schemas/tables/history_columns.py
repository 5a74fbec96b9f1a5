"""Columns that history tables have in common."""

from schemas.declarations.columns import Column, ListOf, StructOf, Table, Type
from schemas.tables.record_columns import CLUSTER, GROUP_ID

JOB = "replay"

EVIDENCE_PARTITION = Column(
    "evidence_partition",
    Type.INT,
    "Partition of __consumer_offsets with the records that the row is based on.",
    is_nullable=False,
)
EVIDENCE = (
    EVIDENCE_PARTITION,
    Column(
        "evidence_first_offset", Type.BIGINT, "Offset of the first record that the row is based on.", is_nullable=False
    ),
    Column(
        "evidence_last_offset", Type.BIGINT, "Offset of the last record that the row is based on.", is_nullable=False
    ),
    Column("confidence", Type.STRING, "How sure: certain, likely or possible.", is_nullable=False),
)
IS_OPEN = Column(
    "is_open", Type.BOOLEAN, "TRUE: a later run may change the row, for example fill in its end.", is_nullable=False
)
INTERVAL = (
    Column("from_time", Type.TIMESTAMP, "Start of the interval, in history time: record times that never go back "
           "within a group. NULL: the records have no time."),
    Column("to_time", Type.TIMESTAMP, "End of the interval; NULL: it has not ended."),
    Column("from_offset", Type.BIGINT, "Offset of the record that began the interval.", is_nullable=False),
    Column("to_offset", Type.BIGINT, "Offset of the record that ended the interval; NULL: it has not ended."),
    IS_OPEN,
    Column(
        "is_from_exact", Type.BOOLEAN, "FALSE: the interval may have begun earlier: records before from_offset are "
               "missing.",
        is_nullable=False,
    ),
    Column(
        "is_to_exact", Type.BOOLEAN, "FALSE: the interval may have ended earlier: records before its end are missing "
               "or show only a latest time.",
        is_nullable=False,
    ),
    Column("ended_by", Type.STRING, "What ended the interval; dim_enum explains the values. NULL: it has not ended."),
)  # fmt: skip
GROUP_TYPE = Column("group_type", Type.STRING, "classic, consumer, share or streams.", is_nullable=False)
GROUP = (GROUP_ID, GROUP_TYPE)
MEMBER_ID = Column("member_id", Type.STRING, "The member.", is_nullable=False)
GROUP_INSTANCE_ID = Column("group_instance_id", Type.STRING, "The member's own static id; NULL: a dynamic member.")
CLIENT = (
    Column("client_id", Type.STRING, "Client id of the member's connection; NULL: its record is missing."),
    Column("client_host", Type.STRING, "The member's address as Java prints it; NULL: its record is missing."),
)
# Of a partition as groups see it.
TOPIC = Column(
    "topic", Type.STRING, "The topic; NULL: only its id is known, because neither the log nor a snapshot has its name."
)
TOPIC_ID = Column("topic_id", Type.STRING, "The topic's id, 22 characters; NULL: the records have none.")
PARTITION = Column("partition", Type.INT, "The partition.", is_nullable=False)
TOPIC_PARTITION = (TOPIC, TOPIC_ID, PARTITION)
ASSIGNMENT_OFFSET = Column(
    "assignment_offset",
    Type.BIGINT,
    "Offset of the record that makes the assignment valid: type 2, 6, 12 or 20. If a group lost its last member "
    "without a new target: the record of its group epoch, type 3, 11 or 17.",
    is_nullable=False,
)
PARTITION_LISTS = ListOf(
    StructOf(
        (
            Column("topic", Type.STRING, "The topic; NULL: only its id is known."),
            Column("topic_id", Type.STRING, "The topic's id; NULL: the records have none."),
            Column("partitions", ListOf(Type.INT), "Partitions of it, ascending."),
        )
    )
)


def history(
    name: str, grain: str, comment: str, key: tuple[str, ...], columns: tuple[Column, ...], order: tuple[str, ...] = ()
) -> Table:
    """Columns that queries filter by are first: writers keep statistics of the leading columns only."""
    # A group may have records in several offsets partitions, each with offsets of its own.
    is_of_group = GROUP_ID in columns and EVIDENCE_PARTITION in columns and EVIDENCE_PARTITION.name not in key
    whole_key = ("cluster", *key, *([EVIDENCE_PARTITION.name] if is_of_group else []))
    return Table(name, grain, comment, whole_key, ("cluster", *(order or key)), (CLUSTER, *columns), JOB)
