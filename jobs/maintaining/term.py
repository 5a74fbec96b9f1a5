"""What a term keeps: the runs within it, the versions of tables that they name, and closed history since a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from jobs.command_line.values import EPOCH
from jobs.runs.as_of import known_span, millis
from jobs.warehouses.manifest import versions_of
from jobs.warehouses.warehouse import Warehouse

MILLISECOND = timedelta(milliseconds=1)
# A day of which rows are computed again, and the hour before it.
LOOK_BACK = timedelta(days=2)


@dataclass(frozen=True)
class KeptRuns:
    """Runs that finished within the term, and all after the first of them: a clock may have been set back. The newest
    run is always kept."""

    first_run_id: str
    number: int
    # What was removed from a table before this time is in no version that these runs name.
    since_ms: int
    # The oldest version of each table that one of these runs names.
    versions: dict[str, int]


def kept_runs(runs: Sequence[Mapping[str, Any]], since_ms: int) -> KeptRuns:
    """`runs`: rows with run_id, finished_time and table_versions; there is one or more."""
    within = [row["run_id"] for row in runs if millis(row["finished_time"]) >= since_ms]
    first = min(within, default=max(row["run_id"] for row in runs))
    kept = [row for row in runs if row["run_id"] >= first]
    versions: dict[str, int] = {}
    for row in kept:
        for name, version in versions_of(row).items():
            versions[name] = min(version, versions.get(name, version))
    finished = min(millis(row["finished_time"]) for row in kept)
    return KeptRuns(first, len({row["run_id"] for row in kept}), finished, versions)


def history_kept_since(warehouse: Warehouse, cluster: str, keep: timedelta, started_ms: int) -> datetime | None:
    """Closed rows that ended before this time are beyond the term. It counts back from the cluster's newest record or
    snapshot, so an archive keeps its history. None: nothing of the cluster may be dropped."""
    span = known_span(warehouse, cluster)
    if span is None:
        return None
    now = EPOCH + timedelta(milliseconds=started_ms)
    times = [min(span[1], now) - keep, *still_needed(warehouse, cluster)]
    # `runs` has milliseconds.
    return EPOCH + (min(times) - EPOCH) // MILLISECOND * MILLISECOND


def still_needed(warehouse: Warehouse, cluster: str) -> list[datetime]:
    """Since when `lag` still needs history: it continues at the settled time, and looks back from there."""
    rows = warehouse.rows("measured_partitions", ["settled_time"], cluster)
    times = [] if rows is None else rows.column("settled_time").to_pylist()
    return [time.astimezone(UTC) - LOOK_BACK for time in times if time is not None]
