"""Every table of the warehouse, by name."""

from schemas import (
    assignment_tables,
    decoded_tables,
    event_tables,
    gate_tables,
    history_tables,
    lag_tables,
    offset_tables,
    replay_log_tables,
    replay_state_tables,
    run_tables,
    snapshot_tables,
)
from schemas.columns import Table

# Of names, types and meaning of the tables: in Delta the property groupscope.contract_version.
CONTRACT_VERSION = 2

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        *decoded_tables.TABLES,
        *snapshot_tables.TABLES,
        *history_tables.TABLES,
        *offset_tables.TABLES,
        *replay_log_tables.TABLES,
        *replay_state_tables.TABLES,
        *assignment_tables.TABLES,
        *lag_tables.TABLES,
        *event_tables.TABLES,
        *gate_tables.TABLES,
        *run_tables.TABLES,
    )
}

# Changed without a run, so read at the newest version: runs name none of them.
BESIDE_RUNS = frozenset(name for name, table in TABLES.items() if table.job == gate_tables.SPAN_JOB)


def folder_of(name: str) -> str:
    """Below the warehouse: of a table, or of a folder that is none, such as that of staged rows."""
    return TABLES[name].folder if name in TABLES else name


# What users see: lists, pages, SQL and the docs.
USER_TABLES = {name: table for name, table in TABLES.items() if not table.is_state}
