"""What runs did: the files that they read, and how they ended."""

from schemas.declarations.columns import Column, ListOf, MapOf, StructOf, Table, Type
from schemas.tables.record_columns import CLUSTER, JOB, RUN_ID

SOURCE_FILES = Table(
    "source_files",
    "file or fetched range, by run",
    "What each run read: counts, and what proves later that a file has not changed. A segment beside a new one has a "
    "row too when nothing of it was read: nothing is missing between the two but what was compacted away.",
    ("cluster", "run_id", "offsets_partition", "source_file"),
    ("cluster", "run_id", "offsets_partition", "source_file"),
    (
        CLUSTER,
        RUN_ID,
        Column("offsets_partition", Type.INT, "Partition of __consumer_offsets; NULL: many, or none (snapshots)."),
        Column("source_file", Type.STRING, "Path of the file, or name of the fetched range.", is_nullable=False),
        Column("kind", Type.STRING, "segments, kafka, records or snapshots.", is_nullable=False),
        Column("size_bytes", Type.BIGINT, "Size of the file when it was read."),
        Column("modified_time", Type.TIMESTAMP, "When the file was last changed; NULL: no file."),
        Column("first_offset", Type.BIGINT, "Lowest offset read in this run; NULL: none."),
        Column("last_offset", Type.BIGINT, "Highest offset read in this run; NULL: none."),
        Column("num_records", Type.BIGINT, "Records read in this run, transaction markers among them."),
        Column("num_batches", Type.BIGINT, "Batches read in this run; NULL: the source has none."),
        Column("num_tombstones", Type.BIGINT, "Records read in this run that have no value."),
        Column(
            "num_delete_horizon_batches",
            Type.BIGINT,
            "Batches whose tombstones the cleaner has dated for removal; NULL: the source has no batches.",
        ),
        Column("torn_tail_bytes", Type.BIGINT, "Bytes of an unfinished batch at the end; NULL: no segment."),
        Column(
            "read_from_position",
            Type.BIGINT,
            "Where in the file this run began to read, in a live log the first offset asked for; NULL: an archive.",
        ),
        Column(
            "read_to_position",
            Type.BIGINT,
            "Where this run ended; in a live log, the offset after the last one requested: reading continues here.",
        ),
        Column(
            "first_batch_crc",
            Type.BIGINT,
            "CRC-32C of the header of the file's first batch; NULL: no batch, or read before.",
        ),
        Column("last_batch_position", Type.BIGINT, "Where the last batch read begins; NULL: no batch."),
        Column("last_batch_crc", Type.BIGINT, "CRC-32C of that batch's header; NULL: no batch."),
        Column(
            "file_id",
            Type.STRING,
            "What the file is known by where it lies; of a live log topic id:leader epoch; NULL: nothing.",
        ),
    ),
    JOB,
)

INGEST_COUNTS = StructOf(
    (
        Column("offsets_partition", Type.INT, "Partition of __consumer_offsets."),
        Column("read", Type.BIGINT, "Records read: the sum of decoded, rejected and already_known."),
        Column("decoded", Type.BIGINT, "Of these, rows written to decoded tables."),
        Column("rejected", Type.BIGINT, "Of these, rows written to rejected_records."),
        Column("already_known", Type.BIGINT, "Of these, records that the warehouse held."),
        Column("damaged", Type.BIGINT, "Records in the batches and ranges of bytes that rejected counts as one each."),
        Column("first_offset", Type.BIGINT, "Lowest offset read; NULL: none."),
        Column("last_offset", Type.BIGINT, "Highest offset read; NULL: none."),
        Column("gaps", Type.BIGINT, "Stretches of missing offsets between these, mostly compacted away."),
    )
)

RUNS = Table(
    "runs",
    "run of a job, by cluster",
    "Every finished run, written last: the newest row names one consistent set of table versions.",
    ("cluster", "run_id", "job"),
    ("cluster", "run_id", "job"),
    (
        CLUSTER,
        RUN_ID,
        Column("job", Type.STRING, "The command that ran, such as ingest.", is_nullable=False),
        Column("started_time", Type.TIMESTAMP, "When the run began.", is_nullable=False),
        Column("finished_time", Type.TIMESTAMP, "When its tables were written.", is_nullable=False),
        Column("as_of_time", Type.TIMESTAMP, "The time that answers are about; NULL: the job has none."),
        Column("verdict", Type.STRING, "How the run ended, in a word.", is_nullable=False),
        Column("exit_code", Type.INT, "Exit code of the command; 0 is clean.", is_nullable=False),
        Column("contract_version", Type.INT, "Version of tables and columns that it wrote.", is_nullable=False),
        Column("config_hash", Type.STRING, "Hash of the settings in force: equal hash, equal settings."),
        Column("num_offsets_partitions", Type.INT, "Offsets partitions that the run read of."),
        Column("num_files_unchanged", Type.BIGINT, "Files proved unchanged and therefore not read."),
        Column("ingest_counts", ListOf(INGEST_COUNTS), "What became of records, by offsets partition; only of ingest."),
        Column("table_versions", MapOf(Type.STRING, Type.BIGINT), "Delta version of each table that belongs together."),
    ),
    "each",
)

TABLES = (SOURCE_FILES, RUNS)
