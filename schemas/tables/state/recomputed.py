"""How far assignments were recomputed, and the state of groups there: only the next run of `assignments` reads it."""

from schemas.declarations.columns import Column, ListOf, MapOf, StructOf, Table, Type
from schemas.tables.assignments import JOB
from schemas.tables.record_columns import CLUSTER, GROUP_ID, OFFSETS_PARTITION

EPOCHS = ListOf(
    StructOf(
        (
            Column("partition_leader_epoch", Type.INT, "The leader epoch."),
            Column("first_offset", Type.BIGINT, "First record of it that is known."),
        )
    )
)

RECOMPUTED_PARTITIONS = Table(
    "recomputed_partitions",
    "offsets partition",
    "How far the assignments of an offsets partition have been recomputed: the next run continues from here.",
    ("cluster", "offsets_partition"),
    ("cluster", "offsets_partition"),
    (
        CLUSTER,
        OFFSETS_PARTITION,
        Column("through_run_id", Type.STRING, "Rows of later runs are new.", is_nullable=False),
        Column("through_offset", Type.BIGINT, "Newest record of a group that is done; NULL: none."),
        Column("through_time", Type.TIMESTAMP, "Newest time of such records; NULL: none has one."),
        Column("leader_epochs", EPOCHS, "From where on records of lower epochs do not count.", is_nullable=False),
        Column("topics", ListOf(Type.STRING), "Topics that its groups name.", is_nullable=False),
        Column("unnamed_topic_ids", ListOf(Type.STRING), "Ids of topics that nothing named.", is_nullable=False),
        Column("unconfirmed_through_time", Type.TIMESTAMP,
               "Newest time of an assignment that no snapshots confirm as yet; NULL: there is none."),
        Column("basis", Type.STRING, "What it is computed from, apart from the log: if that changes, it is computed "
               "again.", is_nullable=False),
        Column("verdicts", MapOf(Type.STRING, Type.BIGINT), "How many assignments there are of each verdict.",
               is_nullable=False),
    ),
    JOB,
    is_state=True,
)  # fmt: skip

RECOMPUTED_GROUPS = Table(
    "recomputed_groups",
    "group",
    "The state of each group at the end of the newest run: the next run continues from here.",
    ("cluster", "offsets_partition", "group_id"),
    ("cluster", "offsets_partition", "group_id"),
    (
        CLUSTER,
        OFFSETS_PARTITION,
        GROUP_ID,
        Column("state", Type.STRING, "JSON, of no use to queries.", is_nullable=False),
    ),
    JOB,
    is_state=True,
)

TABLES: tuple[Table, ...] = (RECOMPUTED_PARTITIONS, RECOMPUTED_GROUPS)
