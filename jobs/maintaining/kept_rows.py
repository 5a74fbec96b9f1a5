"""Which rows of each cluster are kept."""

from collections.abc import Sequence
from datetime import timedelta

import pyarrow as pa

from jobs.maintaining.old_rows import REBALANCES, STATES, Kept, assignments_in_effect, columns_needed, newest_states
from jobs.maintaining.term import history_kept_since
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema

ASSIGNMENT_COLUMNS = (*columns_needed(REBALANCES), "end_time")


def kept_rows(warehouse: Warehouse, cluster: str, keep: timedelta, started_ms: int, first_run_id: str) -> Kept | None:
    """None: all of them."""
    since = history_kept_since(warehouse, cluster, keep, started_ms)
    if since is None:
        return None
    gated = warehouse.rows("gated_inputs", ["run_id"], cluster)
    return Kept(
        since,
        first_run_id,
        frozenset([] if gated is None else gated.column("run_id").to_pylist()) | newest_whole_run(warehouse, cluster),
        newest_states(rows_of(warehouse, STATES, cluster, columns_needed(STATES))),
        assignments_in_effect(rows_of(warehouse, REBALANCES, cluster, ASSIGNMENT_COLUMNS), since),
    )


def newest_whole_run(warehouse: Warehouse, cluster: str) -> set[str]:
    """The run whose findings are shown, however many narrowed ones came since."""
    judged = warehouse.rows("gate_runs", ["run_id", "narrowed_by"], cluster)
    whole = [] if judged is None else judged.filter(judged["narrowed_by"].is_null())["run_id"].to_pylist()
    return {max(whole)} if whole else set()


def rows_of(warehouse: Warehouse, table: str, cluster: str, columns: Sequence[str]) -> pa.Table:
    rows = warehouse.rows(table, columns, cluster)
    return table_schema(TABLES[table]).empty_table() if rows is None else rows
