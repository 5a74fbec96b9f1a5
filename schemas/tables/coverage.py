"""Which offsets partitions there are, and how far each was read: written by `lag`."""

from schemas.declarations.columns import Column, Table, Type
from schemas.tables.lag import AS_OF_TIME, JOB, count, number
from schemas.tables.record_columns import CLUSTER, OFFSETS_PARTITION

OFFSETS_PARTITIONS = Table(
    "offsets_partitions",
    "offsets partition, read or not, at the newest as-of time",
    "What is known to exist of __consumer_offsets, compared with what was read. Of a group whose partition was not "
    "read nothing is known; where a partition ends early, its groups only look silent.",
    ("cluster", "offsets_partition"),
    ("cluster", "offsets_partition"),
    (
        CLUSTER,
        OFFSETS_PARTITION,
        AS_OF_TIME,
        Column("num_partitions", Type.INT, "How many partitions the topic has; NULL: unknown. The groups that were "
               "read fit no number, as after it was changed."),
        Column("partitions_source", Type.STRING, "What shows this number: snapshot, setting, groups or assumed; "
               "NULL: it is unknown."),
        Column("reading", Type.STRING, "read, empty, never_read or unknown; dim_enum explains the values.",
               is_nullable=False),
        count("num_groups", "Groups that have records in it and were not deleted."),
        count("num_captured_groups", "Groups whose settings a snapshot has, and whose hash puts them here."),
        number("last_offset", "Last offset that was read; NULL: no record was."),
        Column("newest_time", Type.TIMESTAMP, "Time of its newest record, at most the as-of time; NULL: none."),
        Column("log_until_time", Type.TIMESTAMP, "Up to when the log of the partition is known: to its newest record, "
               "or further, where a snapshot shows that none came since. NULL: it has no record with a time."),
        number("usual_gap_ms", "Median time between its newest 200 records; NULL: it has fewer than two."),
        number("torn_tail_bytes", "Bytes of an unfinished batch at its end; NULL: its last file ends with a whole "
               "batch, or is none of a broker."),
        number("known_end_offset", "Its end in the newest snapshot up to the as-of time, the offset after its last "
               "record; NULL: no snapshot has it."),
        Column("known_end_time", Type.TIMESTAMP, "When that snapshot was captured."),
        number("ends_before_others_ms", "For how long others are known after this one ends, at most up to the as-of "
               "time; NULL: its log_until_time is unknown."),
        Column("early_end", Type.STRING, "Why it probably goes on after its last record: torn_tail, known_end or "
               "before_others; NULL: it ends where it should."),
    ),
    JOB,
)  # fmt: skip

TABLES: tuple[Table, ...] = (OFFSETS_PARTITIONS,)
