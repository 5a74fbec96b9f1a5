"""What one `maintain` changes: rows to drop, small files to merge, files to delete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from jobs.configuration.settings import Tables
from jobs.maintaining.cleaning import Cleaning
from jobs.maintaining.kept_rows import kept_rows
from jobs.maintaining.old_rows import Kept
from jobs.maintaining.rewriting import Rewriter
from jobs.maintaining.term import KeptRuns, kept_runs
from jobs.measuring.run import WRITTEN as OF_LAG
from jobs.output.failure import Failure
from jobs.output.progress import counting, doing
from jobs.recomputing.run import WRITTEN as OF_ASSIGNMENTS
from jobs.replaying.task.warehouse_state import WRITTEN as OF_REPLAY
from jobs.runs.as_of import millis
from jobs.runs.dropped_history import MAINTAIN
from jobs.runs.result import iso
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.manifest import RUNS
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import BESIDE_RUNS, TABLES
from schemas.words.exit_codes import ExitCode

RUN_COLUMNS = ["cluster", "run_id", "finished_time", "table_versions"]
MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Upkeep:
    """`kept`: the rows that are kept, by cluster; None: all."""

    keep: timedelta
    runs: KeptRuns
    kept: Mapping[str, Kept | None]
    cleaning: Cleaning
    rewriter: Rewriter
    changes: Mapping[str, Change]

    def delete(self) -> None:
        with doing(f"{MAINTAIN}: deleting files"):
            self.cleaning.delete()

    def facts(self) -> Mapping[str, Any]:
        return {
            "keep_hours": self.keep // timedelta(hours=1),
            "history_kept_since": {name: kept and iso(millis(kept.since)) for name, kept in self.kept.items()},
            "first_kept_run_id": self.runs.first_run_id,
            "num_rows_dropped": self.rewriter.dropped_rows.total(),
            "num_files_merged": self.rewriter.merged_files.total(),
            "num_files_deleted": number_of(self.cleaning.data),
            "num_log_files_deleted": number_of(self.cleaning.logs),
            "num_results_deleted": len(self.cleaning.results),
        }


def upkeep_of(warehouse: Warehouse, keep: timedelta, started_ms: int, limits: Tables, run_id: str | None) -> Upkeep:
    """`run_id`: of the run that writes what is kept. None: nothing is written, which shows what a run would change."""
    rows = warehouse.run_rows(RUN_COLUMNS)
    if not rows:
        line = "no run has finished in this warehouse, so there is nothing to maintain; run `groupscope ingest`"
        raise Failure(ExitCode.USAGE, f"{warehouse.address}: {line}")
    runs = kept_runs(rows, started_ms - keep // MILLISECOND)
    kept = {
        cluster: kept_rows(warehouse, cluster, keep, started_ms, runs.first_run_id) for cluster in warehouse.clusters()
    }
    # First: files that this run writes are in no log until it commits.
    cleaning = Cleaning(warehouse, runs, started_ms, may_write=run_id is not None)
    with doing(f"{MAINTAIN}: looking for files to delete"):
        cleaning.find()
    rewriter = Rewriter(warehouse, run_id, limits, kept)
    return Upkeep(keep, runs, kept, cleaning, rewriter, rewritten(warehouse, rewriter))


def rewritten(warehouse: Warehouse, rewriter: Rewriter) -> dict[str, Change]:
    versions = {name: version for name, version in warehouse.versions().items() if is_appended_to(name)}
    changes = {}
    with counting(len(versions), "tables") as activity:
        for name, version in versions.items():
            change = rewriter.change(name, version)
            if change != Change():
                changes[name] = change
            activity.done += 1
    return changes


def number_of(files: Mapping[str, Sequence[Place]]) -> int:
    return sum(map(len, files.values()))


# Runs write these as a whole, or all rows of an offsets partition or a cluster: they have few files.
WRITTEN_ANEW = {"gate_limits"}.union(
    *((*written.whole, *written.renewed) for written in (OF_REPLAY, OF_ASSIGNMENTS, OF_LAG))
)


def is_appended_to(table: str) -> bool:
    return not (TABLES[table].is_state or table in WRITTEN_ANEW or table in BESIDE_RUNS or table == RUNS)
