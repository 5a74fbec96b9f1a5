"""Every table of the warehouse, by name."""

from schemas import (
    assignment_tables,
    decoded_tables,
    history_tables,
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
        *run_tables.TABLES,
    )
}


def folder_of(name: str) -> str:
    """Below the warehouse: of a table, or of a folder that is none, such as that of staged rows."""
    return TABLES[name].folder if name in TABLES else name


# What users see: lists, pages, SQL and the docs.
USER_TABLES = {name: table for name, table in TABLES.items() if not table.is_state}
