"""Every table of the warehouse, by name."""

from schemas.declarations.columns import Table
from schemas.tables import assignments, coverage, decoded_records, events, gate, history, lag, offsets, runs, snapshots
from schemas.tables.state import gated, measured, recomputed, replayed_log, replayed_offsets

# Of names, types and meaning of the tables: in Delta the property groupscope.contract_version.
CONTRACT_VERSION = 2

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        *decoded_records.TABLES,
        *snapshots.TABLES,
        *history.TABLES,
        *offsets.TABLES,
        *replayed_log.TABLES,
        *replayed_offsets.TABLES,
        *assignments.TABLES,
        *recomputed.TABLES,
        *coverage.TABLES,
        *lag.TABLES,
        *measured.TABLES,
        *events.TABLES,
        *gate.TABLES,
        *gated.TABLES,
        *runs.TABLES,
    )
}

# Changed without a run, so read at the newest version: runs name none of them.
BESIDE_RUNS = frozenset(name for name, table in TABLES.items() if table.job in (gate.SPAN_JOB, gate.MARK_JOB))


def folder_of(name: str) -> str:
    """Below the warehouse: of a table, or of a folder that is none, such as that of staged rows."""
    return TABLES[name].folder if name in TABLES else name


# What users see: lists, pages, SQL and the docs.
USER_TABLES = {name: table for name, table in TABLES.items() if not table.is_state}
