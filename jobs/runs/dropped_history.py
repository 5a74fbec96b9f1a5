"""Since when the history of a cluster is complete, after `groupscope maintain` has dropped closed rows."""

from datetime import UTC, datetime

import pyarrow.compute as pc

from jobs.warehouses.warehouse import Warehouse

MAINTAIN = "maintain"
PROGRESS = "replayed_partitions"
# What brings dropped rows back.
REBUILD = "groupscope replay --full"


def history_dropped_before(warehouse: Warehouse, cluster: str) -> datetime | None:
    """None: nothing was dropped, or all offsets partitions were replayed from their first record since then."""
    rows = warehouse.run_rows(["cluster", "run_id", "as_of_time"], MAINTAIN)
    dropped = [row for row in rows if row["cluster"] == cluster and row["as_of_time"]]
    if not dropped:
        return None
    progress = warehouse.rows(PROGRESS, ["whole_run_id"], cluster)
    oldest = None if progress is None else pc.min(progress.column("whole_run_id")).as_py()
    times = [row["as_of_time"].astimezone(UTC) for row in dropped if oldest is None or row["run_id"] > oldest]
    return max(times, default=None)
