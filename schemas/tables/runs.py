"""What runs did: the files that they read, and how they ended."""

from schemas.declarations.columns import Column, ListOf, MapOf, StructOf, Table, Type
from schemas.tables.record_columns import CLUSTER, JOB, RUN_ID

SOURCE_FILES = Table(
    "source_files",
    "run and file, or fetched range",
    "What each run read from each file, with checksums that show later runs whether the file has changed. A segment "
    "next to a newly read one has a row too, even if nothing of it was read: the row shows that the log continues "
    "there without a gap. A file or folder that could not be read, and was skipped, has one with the reason.",
    ("cluster", "run_id", "offsets_partition", "source_file"),
    ("cluster", "run_id", "offsets_partition", "source_file"),
    (
        CLUSTER,
        RUN_ID,
        Column(
            "offsets_partition",
            Type.INT,
            "Partition of __consumer_offsets; NULL: several (an archive), or none (snapshots).",
        ),
        Column("source_file", Type.STRING, "Path of the file, or name of the fetched range.", is_nullable=False),
        Column(
            "kind", Type.STRING, "segments, kafka (a live log), records (an archive) or snapshots.", is_nullable=False
        ),
        Column("size_bytes", Type.BIGINT, "Size of the file when it was read."),
        Column("modified_time", Type.TIMESTAMP, "When the file was last changed; NULL: a live log."),
        Column("first_offset", Type.BIGINT, "Lowest offset read in this run; NULL: none."),
        Column("last_offset", Type.BIGINT, "Highest offset read in this run; NULL: none."),
        Column("num_records", Type.BIGINT, "Records read in this run, transaction markers included."),
        Column("num_batches", Type.BIGINT, "Batches read in this run; NULL: archives and snapshots have no batches."),
        Column("num_tombstones", Type.BIGINT, "Records read in this run that have no value."),
        Column(
            "num_delete_horizon_batches",
            Type.BIGINT,
            "Batches with a delete horizon: the cleaner has set the time from which it may remove their tombstones. "
            "NULL: no batches.",
        ),
        Column(
            "torn_tail_bytes", Type.BIGINT, "Bytes of an unfinished batch at the end of a segment; NULL: no segment."
        ),
        Column(
            "read_from_position",
            Type.BIGINT,
            "Byte at which this run began to read the file. In a live log: the first offset requested. NULL: archives "
            "and snapshots.",
        ),
        Column(
            "read_to_position",
            Type.BIGINT,
            "Byte at which this run stopped. In a live log: the offset after the last one requested. The next run "
            "continues there.",
        ),
        Column(
            "first_batch_crc",
            Type.BIGINT,
            "CRC-32C of the header of the file's first batch; NULL: no batch, or an earlier run has it.",
        ),
        Column(
            "last_batch_position", Type.BIGINT, "Byte at which the last batch that was read begins; NULL: no batch."
        ),
        Column("last_batch_crc", Type.BIGINT, "CRC-32C of the header of that last batch; NULL: no batch."),
        Column(
            "file_id", Type.STRING, "For a live log: topic id and leader epoch, as id:epoch. NULL: all other sources."
        ),
        Column(
            "cluster_id",
            Type.STRING,
            "Id of the Kafka cluster, as brokers report it, or meta.properties in the log dir has it; NULL: neither.",
        ),
        Column(
            "offsets_topic_id",
            Type.STRING,
            "Id of the topic __consumer_offsets, as brokers report it, or partition.metadata in the segment's folder "
            "has it; NULL: neither.",
        ),
        Column(
            "skipped_reason",
            Type.STRING,
            'Why the file or folder was not read, although it was there (`[ingest] unreadable = "skip"`). NULL: it '
            "was read.",
        ),
    ),
    JOB,
)

INGEST_COUNTS = StructOf(
    (
        Column("offsets_partition", Type.INT, "Partition of __consumer_offsets."),
        Column("read", Type.BIGINT, "Records read: decoded plus rejected plus already_known."),
        Column("decoded", Type.BIGINT, "Records written to decoded tables."),
        Column("rejected", Type.BIGINT, "Rows written to rejected_records."),
        Column("already_known", Type.BIGINT, "Records that were in the warehouse before."),
        Column(
            "damaged",
            Type.BIGINT,
            "Records in damaged batches and ranges of bytes. The count rejected has one for each such batch or range.",
        ),
        Column("first_offset", Type.BIGINT, "Lowest offset read; NULL: none."),
        Column("last_offset", Type.BIGINT, "Highest offset read; NULL: none."),
        Column(
            "gaps",
            Type.BIGINT,
            "Ranges of offsets without a record, between first_offset and last_offset; most of these records were "
            "compacted away.",
        ),
    )
)

RUNS = Table(
    "runs",
    "run of a job and cluster",
    "Every finished run. A run writes this row last, so table_versions of the newest row belong together.",
    ("cluster", "run_id", "job"),
    ("cluster", "run_id", "job"),
    (
        CLUSTER,
        RUN_ID,
        Column("job", Type.STRING, "The command that ran, such as ingest.", is_nullable=False),
        Column("started_time", Type.TIMESTAMP, "When the run began.", is_nullable=False),
        Column("finished_time", Type.TIMESTAMP, "When its tables were written.", is_nullable=False),
        Column(
            "as_of_time",
            Type.TIMESTAMP,
            "The as-of time: the newest record or snapshot that the run knew; maintain: the time since which closed "
            "history is kept; NULL: the job has none.",
        ),
        Column("verdict", Type.STRING, "Result of the run: clean, findings or too_many_rejected.", is_nullable=False),
        Column("exit_code", Type.INT, "Exit code of the command; 0 is clean.", is_nullable=False),
        Column(
            "contract_version",
            Type.INT,
            "Contract version: version of the names and types of tables and columns, as the run wrote them.",
            is_nullable=False,
        ),
        Column(
            "config_hash",
            Type.STRING,
            "Hash of the settings of the run: runs with the same settings have the same hash.",
        ),
        Column("num_offsets_partitions", Type.INT, "Number of offsets partitions with records that the run read."),
        Column("num_files_unchanged", Type.BIGINT, "Files that were not read, because they have not changed."),
        Column("ingest_counts", ListOf(INGEST_COUNTS), "Counts of records by offsets partition; only of ingest."),
        Column(
            "table_versions",
            MapOf(Type.STRING, Type.BIGINT),
            "Delta version of each table after the run. Tables that are read at these versions belong together. NULL: "
            "maintain deleted these versions.",
        ),
    ),
    "each",
)

TABLES = (SOURCE_FILES, RUNS)
