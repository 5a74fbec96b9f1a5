"""What a replay keeps of each offsets partition and of each group, so that the next run goes on from there; of no use
to queries."""

from schemas.columns import Column, ListOf, StructOf, Table, Type
from schemas.history_columns import JOB
from schemas.history_tables import PARTITION_MOVES
from schemas.record_columns import CLUSTER, GROUP_ID, OFFSETS_PARTITION

STRETCHES = ListOf(
    StructOf(
        (
            Column("first_offset", Type.BIGINT, "Where the stretch begins."),
            Column("last_offset", Type.BIGINT, "Where it ends."),
            Column("from_time", Type.TIMESTAMP, "Earliest record time in it."),
            Column("to_time", Type.TIMESTAMP, "Latest record time in it."),
            Column("complete_from_offset", Type.BIGINT, "First record behind its last gap; NULL: no record."),
            Column("complete_from_time", Type.TIMESTAMP, "Time of that record."),
            Column("num_records", Type.BIGINT, "Records known that count."),
            Column("has_transactions", Type.BOOLEAN, "FALSE: of an archive without producers."),
        )
    )
)
EPOCHS = ListOf(
    StructOf(
        (
            Column("partition_leader_epoch", Type.INT, "The leader epoch."),
            Column("first_offset", Type.BIGINT, "First record of it that is known."),
            Column("last_offset", Type.BIGINT, "Last record of it that counts; NULL: none does."),
            Column("from_time", Type.TIMESTAMP, "Time of the first that counts."),
            Column("to_time", Type.TIMESTAMP, "Time of the last that counts."),
        )
    )
)
SIGHTINGS = ListOf(
    StructOf(
        (
            Column("topic", Type.STRING, "The topic."),
            Column("topic_id", Type.STRING, "Its id; NULL: the record has none."),
            Column("source", Type.STRING, "commit or group_metadata."),
            Column("from_time", Type.TIMESTAMP, "Earliest record that names it."),
            Column("to_time", Type.TIMESTAMP, "Latest record that names it."),
            Column("num_partitions", Type.INT, "As the newest record with a number says."),
        )
    )
)

REPLAYED_PARTITIONS = Table(
    "replayed_partitions",
    "offsets partition",
    "How far the log of each offsets partition is replayed, and what is known of it.",
    ("cluster", "offsets_partition"),
    ("cluster", "offsets_partition"),
    (
        CLUSTER,
        OFFSETS_PARTITION,
        Column("through_run_id", Type.STRING, "The newest ingest whose records are replayed.", is_nullable=False),
        Column("through_offset", Type.BIGINT, "The last record that counts; NULL: none does."),
        Column("through_time", Type.TIMESTAMP, "The largest record time so far; NULL: none."),
        Column("rules", Type.STRING, "What the replay rests on beside the log, as JSON.", is_nullable=False),
        Column("stretches", STRETCHES, "What is covered.", is_nullable=False),
        Column("gap_firsts", ListOf(Type.BIGINT), "Where offsets without a record that counts begin.",
               is_nullable=False),
        Column("gap_lasts", ListOf(Type.BIGINT), "Where they end.", is_nullable=False),
        Column("leader_epochs", EPOCHS, "Leader epochs.", is_nullable=False),
        Column("topics", SIGHTINGS, "Topics that records name.", is_nullable=False),
        Column("unnamed_topic_ids", ListOf(Type.STRING), "Ids of topics without a name.", is_nullable=False),
    ),
    JOB,
)  # fmt: skip

REPLAYED_GROUPS = Table(
    "replayed_groups",
    "offsets partition by group",
    "Where the replay of each group stands.",
    ("cluster", "offsets_partition", "group_id"),
    ("cluster", "offsets_partition", "group_id"),
    (
        CLUSTER,
        OFFSETS_PARTITION,
        GROUP_ID,
        Column("state", Type.STRING, "The state, as JSON.", is_nullable=False),
    ),
    JOB,
)

# Partitions of topics that have changed hands, as long as something about that is still to come.
REPLAYED_MOVES = Table(
    "replayed_moves",
    PARTITION_MOVES.grain,
    "Rows of partition_moves that may still change, and what they wait for.",
    PARTITION_MOVES.key,
    PARTITION_MOVES.order,
    (
        *PARTITION_MOVES.columns,
        Column("is_settled", Type.BOOLEAN, "TRUE: records of the group change it no more.", is_nullable=False),
        Column("is_awaiting_commit", Type.BOOLEAN, "TRUE: the first commit after it is to come.", is_nullable=False),
        Column("last_commit_time", Type.TIMESTAMP, "The last commit before it; NULL: none."),
    ),
    JOB,
)

TABLES: tuple[Table, ...] = (REPLAYED_PARTITIONS, REPLAYED_GROUPS, REPLAYED_MOVES)
