"""Columns that decoded tables have in common. What queries filter by stands first, since writers keep statistics of the
leading columns alone; what is wide stands last."""

from schemas.declarations.columns import Column, ListOf, StructOf, Table, Type

JOB = "ingest"

CLUSTER = Column("cluster", Type.STRING, "Name of the cluster, as given by --cluster.", is_nullable=False)
OFFSETS_PARTITION = Column(
    "offsets_partition", Type.INT, "Partition of __consumer_offsets that holds the record.", is_nullable=False
)
RECORD_OFFSET = Column(
    "record_offset", Type.BIGINT, "Offset of the record in that partition; the order of events.", is_nullable=False
)
RUN_ID = Column("run_id", Type.STRING, "The run that wrote the row.", is_nullable=False)
RECORD_TIME = Column(
    "record_time",
    Type.TIMESTAMP,
    "The broker's clock at the write, not ascending; NULL: no time in the record (magic 0), or see out_of_range.",
)
LEADER_EPOCH = Column(
    "partition_leader_epoch",
    Type.INT,
    "Leader epoch of the offsets partition at the write; NULL: written before 0.11, or not in the archive.",
)

OUT_OF_RANGE = Column(
    "out_of_range",
    ListOf(
        StructOf(
            (
                Column("field", Type.STRING, "The column that is NULL for it."),
                Column("value", Type.BIGINT, "The time as written, in ms since 1970."),
            )
        )
    ),
    "Times outside the years 0001 to 9999, which no TIMESTAMP can hold; NULL: there are none.",
)

# Where the record stands.
PLACE = (CLUSTER, OFFSETS_PARTITION, RECORD_OFFSET, RECORD_TIME, LEADER_EPOCH)
# How it came there.
ORIGIN = (
    Column(
        "is_tombstone",
        Type.BOOLEAN,
        "TRUE: the record deletes its key; all its value's columns are NULL.",
        is_nullable=False,
    ),
    Column("value_version", Type.INT, "Version of the value's layout; NULL for tombstones."),
    Column(
        "is_transactional",
        Type.BOOLEAN,
        "TRUE: holds only if the transaction commits (transaction_markers); NULL: the archive does not say.",
    ),
    Column("producer_id", Type.BIGINT, "Producer of the transaction; NULL: none, or the archive does not say."),
    Column("producer_epoch", Type.INT, "Epoch of that producer; NULL: none, or the archive does not say."),
    Column(
        "batch_first_offset",
        Type.BIGINT,
        "First offset of the record's batch: records of one write share it; NULL: not in the archive.",
    ),
    Column("record_bytes", Type.INT, "Bytes of key and value, uncompressed.", is_nullable=False),
    RUN_ID,
    OUT_OF_RANGE,
)

KEY = ("cluster", "offsets_partition", "record_offset", "partition_leader_epoch")


def decoded(name: str, grain: str, comment: str, subject: tuple[Column, ...], wide: tuple[Column, ...] = ()) -> Table:
    columns = (*PLACE, *subject, *ORIGIN, *wide)
    return Table(name, f"record of the log: {grain}", comment, KEY, KEY, columns, JOB)


GROUP_ID = Column("group_id", Type.STRING, "The group.", is_nullable=False)
PARTITIONS = Column("partitions", ListOf(Type.INT), "Partitions of it, in the record's order.")
