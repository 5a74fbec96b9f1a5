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
CONTRACT_VERSION = 1

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
