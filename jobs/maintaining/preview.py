"""`groupscope maintain --dry-run`: what a run would change."""

from collections.abc import Mapping

from jobs.maintaining.upkeep import Upkeep
from schemas.tables import TABLES

COLUMNS = ("table", "num_rows_dropped", "num_files_merged", "num_files_deleted", "num_log_files_deleted")


def changed_tables(upkeep: Upkeep) -> list[tuple[str, int, int, int, int]]:
    rewriter, cleaning = upkeep.rewriter, upkeep.cleaning
    rows = [
        (
            table,
            rewriter.dropped_rows[table],
            rewriter.merged_files[table],
            len(cleaning.data.get(table, ())),
            len(cleaning.logs.get(table, ())),
        )
        for table in TABLES
    ]
    return [row for row in rows if any(row[1:])]


def tables_without(rows: Mapping[str, int]) -> list[tuple[str, int, int, int, int]]:
    """Where only rows are dropped, so many by table."""
    return [(table, number, 0, 0, 0) for table, number in rows.items()]
