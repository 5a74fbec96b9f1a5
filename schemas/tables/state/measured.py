"""How far lag was measured: only the next run of `lag` reads it."""

from schemas.declarations.columns import Column, Table, Type
from schemas.tables.lag import JOB
from schemas.tables.record_columns import CLUSTER, OFFSETS_PARTITION

MEASURED_PARTITIONS = Table(
    "measured_partitions",
    "offsets partition",
    "How far lag and events of an offsets partition are settled: the next run continues from here.",
    ("cluster", "offsets_partition"),
    ("cluster", "offsets_partition"),
    (
        CLUSTER,
        OFFSETS_PARTITION,
        Column("through_run_id", Type.STRING, "Rows of later runs are new.", is_nullable=False),
        Column("through_offset", Type.BIGINT, "Newest record that was seen; NULL: none."),
        Column("settled_time", Type.TIMESTAMP, "Rows up to this time do not change; NULL: none is settled."),
        Column("basis", Type.STRING, "What they are computed from, apart from the log: if that changes, they are "
               "computed again.", is_nullable=False),
    ),
    JOB,
    is_state=True,
)  # fmt: skip

TABLES: tuple[Table, ...] = (MEASURED_PARTITIONS,)
