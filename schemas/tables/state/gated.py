"""What the newest results of the gate rest on: only the next run of `gate` reads it."""

from schemas.declarations.columns import Column, Table, Type
from schemas.tables.gate import JOB, text
from schemas.tables.record_columns import CLUSTER, RUN_ID

GATED_INPUTS = Table(
    "gated_inputs",
    "cluster",
    "What the newest rows of the gate rest on: a run that finds nothing else writes nothing anew.",
    ("cluster",),
    ("cluster",),
    (
        CLUSTER,
        RUN_ID,
        text("basis", "Hash of versions, settings, rules and times.", is_nullable=False),
        text("suites_basis", "Hash of metrics and suites: equal ones are not judged again.", is_nullable=False),
        Column("num_of_tools", Type.BIGINT, "Findings left out, since the settings leave out their groups.",
               is_nullable=False),
    ),
    JOB,
    is_state=True,
)  # fmt: skip

TABLES: tuple[Table, ...] = (GATED_INPUTS,)
