"""What a replay keeps of each offsets partition and of each group, so that the next run goes on from there; of no use
to queries."""

from schemas.declarations.columns import Column, ListOf, StructOf, Table, Type
from schemas.tables.history import PARTITION_MOVES
from schemas.tables.history_columns import JOB, TOPIC_PARTITION
from schemas.tables.record_columns import CLUSTER, GROUP_ID, OFFSETS_PARTITION

STRETCHES = ListOf(
    StructOf(
        (
            Column("first_offset", Type.BIGINT, "Where the range begins."),
            Column("last_offset", Type.BIGINT, "Where it ends."),
            Column("from_time", Type.TIMESTAMP, "Earliest record time in it."),
            Column("to_time", Type.TIMESTAMP, "Latest record time in it."),
            Column("complete_from_offset", Type.BIGINT, "First record after its last gap; NULL: no record."),
            Column("complete_from_time", Type.TIMESTAMP, "Time of that record."),
            Column("num_records", Type.BIGINT, "Records known that count."),
            Column("has_transactions", Type.BOOLEAN, "FALSE: of an archive without producers."),
            Column("damaged_records", Type.BIGINT, "Records in damaged bytes."),
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
NAMED = ListOf(
    StructOf(
        (
            Column("topic", Type.STRING, "The topic; NULL: the record only has its id."),
            Column("topic_id", Type.STRING, "Its id; NULL: the record has none."),
            Column("num_partitions", Type.BIGINT, "One more than the highest partition so far."),
            Column("from_time", Type.TIMESTAMP, "Earliest record that names that partition."),
        )
    )
)
AWAITED = ListOf(
    StructOf(
        (
            Column("topic", Type.STRING, "The topic."),
            Column("partition", Type.INT, "The partition."),
            Column("end_offset", Type.BIGINT, "Its end, up to which all was committed."),
            Column("seen_time", Type.TIMESTAMP, "The newest snapshot of it."),
        )
    )
)

SIGNS = ListOf(
    StructOf(
        (
            Column("epoch", Type.INT, "The leader epoch; -1: none."),
            Column("name", Type.STRING, "What shows it."),
            Column("first_time", Type.TIMESTAMP, "First record that does; NULL: not kept."),
            Column("last_time", Type.TIMESTAMP, "Last record that does; NULL: not kept."),
        )
    )
)
LINES = ListOf(
    StructOf(
        (
            Column("first_offset", Type.BIGINT, "From where on."),
            Column("name", Type.STRING, "The line of releases whose rules apply."),
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
        Column("whole_run_id", Type.STRING, "The run that last replayed it from its beginning.", is_nullable=False),
        Column("through_offset", Type.BIGINT, "The last record that counts; NULL: none does."),
        Column("through_time", Type.TIMESTAMP, "The largest record time so far; NULL: none."),
        Column("newest_times", ListOf(Type.TIMESTAMP), "Times of its newest records; NULL: an older release did not "
               "keep them."),
        Column("rules", Type.STRING, "What the replay uses apart from the log, as JSON.", is_nullable=False),
        Column("stretches", STRETCHES, "What is covered.", is_nullable=False),
        Column("gap_firsts", ListOf(Type.BIGINT), "Where offsets without a record that counts begin.",
               is_nullable=False),
        Column("gap_lasts", ListOf(Type.BIGINT), "Where they end.", is_nullable=False),
        Column("leader_epochs", EPOCHS, "Leader epochs.", is_nullable=False),
        Column("topics", SIGHTINGS, "Topics that records name.", is_nullable=False),
        Column("named_partitions", NAMED, "Since when records name how many partitions of topics.", is_nullable=False),
        Column("proved_partitions", NAMED, "The same without what leaders of classic groups assigned; NULL: an older "
               "release of Groupscope did not note them apart."),
        Column("unnamed_topic_ids", ListOf(Type.STRING), "Ids that neither records nor snapshots name.",
               is_nullable=False),
        Column("snapshots_through_time", Type.TIMESTAMP, "The newest snapshot that was known; NULL: none."),
        Column("awaited_ends", AWAITED, "Partitions that moved after their newest snapshot.", is_nullable=False),
        Column("release_signs", SIGNS, "What its records show of the brokers' releases; NULL: an older release of "
               "Groupscope did not look."),
        Column("line_spans", LINES, "Which rules it was replayed by; NULL: today's."),
    ),
    JOB,
    is_state=True,
)  # fmt: skip

REPLAYED_GROUPS = Table(
    "replayed_groups",
    "offsets partition by group",
    "How far the replay of each group is.",
    ("cluster", "offsets_partition", "group_id"),
    ("cluster", "offsets_partition", "group_id"),
    (
        CLUSTER,
        OFFSETS_PARTITION,
        GROUP_ID,
        Column("state", Type.STRING, "The state, as JSON.", is_nullable=False),
    ),
    JOB,
    is_state=True,
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
        Column("has_open_end", Type.BOOLEAN, "TRUE: that commit may end its unread time."),
        Column("last_commit_time", Type.TIMESTAMP, "The last commit before it; NULL: none."),
        Column("is_counted", Type.BOOLEAN, "TRUE: its rebalance counts it."),
        Column("unread_before_us", Type.BIGINT, "Its longest unread time up to counted_from_time; NULL: not known."),
        Column("counted_from_time", Type.TIMESTAMP, "The move, or the end of a time with nothing to read after it."),
        Column("counted_until_time", Type.TIMESTAMP, "The end of delivery, if no commit comes before."),
    ),
    JOB,
    is_state=True,
)

# On its way from the fold of groups to partition_moves, row by row beside it, and written nowhere: when reading ended.
READING_ENDS = Table(
    "reading_ends",
    PARTITION_MOVES.grain,
    "When the owner before a move stopped reading, as far as timeouts bound it.",
    (),
    (),
    (
        *TOPIC_PARTITION,
        Column("stopped_time", Type.TIMESTAMP, "Since when the partition has no owner; NULL: unknown."),
        Column("first_time", Type.TIMESTAMP, "Reading ended no earlier; NULL: only a commit bounds it."),
        Column("last_time", Type.TIMESTAMP, "Reading ended no later."),
        Column("basis", Type.STRING, "The timeout that says so; NULL: none does."),
        Column("silent_id", Type.STRING, "The member that may have timed out; NULL: commits may not show it."),
        Column(
            "silent_offset",
            Type.BIGINT,
            "The record without its member, if commits may show a timeout; NULL: they may not.",
        ),
        Column("silent_first_time", Type.TIMESTAMP, "As first_time, if it fell silent."),
        Column("silent_last_time", Type.TIMESTAMP, "As last_time, if it fell silent."),
        Column("silent_basis", Type.STRING, "As basis, if it fell silent."),
        Column("alone_time", Type.TIMESTAMP, "As first_time, if nothing was committed; NULL: the same."),
        Column("left_time", Type.TIMESTAMP, "Likewise, if the member left."),
        Column("is_told", Type.BOOLEAN, "TRUE: its owner was asked to give it up before.", is_nullable=False),
        Column("delivery_ms", Type.BIGINT, "The next owner learns of the move so much later at the latest."),
        Column("delivery_basis", Type.STRING, "Where delivery_ms comes from."),
        Column("is_counted", Type.BOOLEAN, "TRUE: its rebalance counts it.", is_nullable=False),
    ),
    JOB,
)

TABLES: tuple[Table, ...] = (REPLAYED_PARTITIONS, REPLAYED_GROUPS, REPLAYED_MOVES)
