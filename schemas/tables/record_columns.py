"""Columns that decoded tables have in common. Those that queries filter by are first, since writers keep statistics of
the leading columns only; wide ones are last."""

from schemas.declarations.columns import Column, ListOf, StructOf, Table, Type

JOB = "ingest"

CLUSTER = Column("cluster", Type.STRING, "Name of the cluster: the value of --cluster.", is_nullable=False)
OFFSETS_PARTITION = Column("offsets_partition", Type.INT, "Partition of __consumer_offsets.", is_nullable=False)
RECORD_OFFSET = Column(
    "record_offset", Type.BIGINT, "Offset of the record in that partition; the order of events.", is_nullable=False
)
RUN_ID = Column("run_id", Type.STRING, "The run that wrote the row.", is_nullable=False)
RECORD_TIME = Column(
    "record_time",
    Type.TIMESTAMP,
    "The broker's clock when it wrote the record; it can go back. NULL: the record has no time (magic 0), or see "
    "out_of_range.",
)
LEADER_EPOCH = Column(
    "partition_leader_epoch",
    Type.INT,
    "Leader epoch of the offsets partition when the record was written; NULL: before 0.11, or an archive without it.",
)

OUT_OF_RANGE = Column(
    "out_of_range",
    ListOf(
        StructOf(
            (
                Column("field", Type.STRING, "The column that is NULL because of this time."),
                Column("value", Type.BIGINT, "The time in the record, in milliseconds since 1970."),
            )
        )
    ),
    "Times outside of the years 0001 to 9999, which no TIMESTAMP can have; NULL: there are none.",
)

# Where the record is.
PLACE = (CLUSTER, OFFSETS_PARTITION, RECORD_OFFSET, RECORD_TIME, LEADER_EPOCH)
# How it came there.
ORIGIN = (
    Column(
        "is_tombstone",
        Type.BOOLEAN,
        "TRUE: the record has no value and deletes its key; all columns of the value are NULL.",
        is_nullable=False,
    ),
    Column("value_version", Type.INT, "Version of the value's layout; NULL: tombstone."),
    Column(
        "is_transactional",
        Type.BOOLEAN,
        "TRUE: the record belongs to a transaction; a commit in it takes effect only with the COMMIT marker. NULL: an "
        "archive without this column.",
    ),
    Column(
        "producer_id",
        Type.BIGINT,
        "Producer of the transaction; NULL: no transaction, or an archive without this column.",
    ),
    Column(
        "producer_epoch", Type.INT, "Epoch of that producer; NULL: no transaction, or an archive without this column."
    ),
    Column(
        "batch_first_offset",
        Type.BIGINT,
        "First offset of the record's batch; a batch is one write of the coordinator. NULL: an archive, which has no "
        "batches.",
    ),
    Column(
        "batch_bytes",
        Type.INT,
        "Bytes of the record's batch in the log that was read: its header and all its records, compressed if they are. "
        "The broker compares this with max.message.bytes. Where the cleaner took records away, it is smaller than when "
        "it was written. NULL: an archive, which has no batches, or a row of an older release of Groupscope.",
    ),
    Column("record_bytes", Type.INT, "Bytes of key and value, uncompressed.", is_nullable=False),
    RUN_ID,
    OUT_OF_RANGE,
)

KEY = ("cluster", "offsets_partition", "record_offset", "partition_leader_epoch")


def decoded_table(
    name: str, grain: str, comment: str, subject: tuple[Column, ...], wide: tuple[Column, ...] = ()
) -> Table:
    columns = (*PLACE, *subject, *ORIGIN, *wide)
    return Table(name, f"record of the log: {grain}", comment, KEY, KEY, columns, JOB)


GROUP_ID = Column("group_id", Type.STRING, "The group.", is_nullable=False)
PARTITIONS = Column("partitions", ListOf(Type.INT), "Partitions of it, in the record's order.")
