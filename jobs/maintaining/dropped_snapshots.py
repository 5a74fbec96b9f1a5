"""Removes snapshots that should never have been in the warehouse, such as those of another Kafka cluster, and lets the
next runs compute anew what rested on them.

The snapshots themselves go, and the verdicts of runs that knew them. All else is computed from the log and the
snapshots that stay: replay, assignments and lag begin from the first record again, as after a change of their rules.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.command_line.values import EPOCH, instant
from jobs.output.failure import Failure
from jobs.runs.dropped_history import MAINTAIN
from jobs.runs.run import Run, RunOutcome
from jobs.sources.stored_snapshots import TIME, iso_of
from jobs.warehouses.delta_tables import Change, DataFile, RemovedFile, clusters_of, file_path, files_of, is_provisional
from jobs.warehouses.small_files import row_groups
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names
from udfs.sources.snapshot_lines import FIRST_MS

FLAG, BETWEEN = "--drop-snapshots", ".."
MOST_NAMED = 3
# The column of each job's progress that says what it rests on beside the log: if that differs, the job begins anew.
RESTS_ON = {
    TABLES["replayed_partitions"]: "rules",
    TABLES["recomputed_partitions"]: "basis",
    TABLES["measured_partitions"]: "basis",
}
NOTHING = ""

Mask = Callable[[pa.Table], Any]


@dataclass(frozen=True)
class Interval:
    """Half-open, in milliseconds. None: from the first on, or to the last."""

    first: int | None
    end: int | None

    @property
    def text(self) -> str:
        return BETWEEN.join("" if each is None else iso_of(time_of(each)) for each in (self.first, self.end))

    def holds(self, times: Any) -> Any:
        ours = times.is_valid()
        if self.first is not None:
            ours = pc.and_(ours, pc.greater_equal(times, pa.scalar(time_of(self.first), times.type)))
        return ours if self.end is None else pc.and_(ours, pc.less(times, pa.scalar(time_of(self.end), times.type)))


def time_of(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def interval_of(text: str, now_ms: int) -> Interval:
    """`text`: two times, each of which may be missing, as people type them."""
    first, between, end = text.partition(BETWEEN)
    if not between:
        line = "give FROM..TO, FROM.. or ..TO; snapshots captured at FROM are dropped, those captured at TO are not"
        raise Failure(ExitCode.USAGE, f"{FLAG} {text!r}: {line}")
    ends = [instant(each.strip(), now_ms, FLAG) if each.strip() else None for each in (first, end)]
    for each, ms in zip((first, end), ends, strict=True):
        # A year would take out all.
        if ms is not None and ms < FIRST_MS:
            line = "would be milliseconds since 1970, long before Kafka; give ISO 8601 such as 2026-11-21T03:00"
            raise Failure(ExitCode.USAGE, f"{FLAG} {text}: {each.strip()} {line}")
    interval = Interval(*ends)
    if interval.first is not None and interval.end is not None and interval.first >= interval.end:
        raise Failure(ExitCode.USAGE, f"{FLAG} {text!r}: the first time must be before the second one")
    return interval


class DropSnapshots:
    name = MAINTAIN

    def __init__(self, interval: Interval) -> None:
        self.interval = interval

    def make(self, run: Run) -> RunOutcome:
        dropped = dropped_of(run.warehouse, run.cluster, self.interval, run.run_id)
        return RunOutcome(dropped.changes, lambda _: dropped.facts())


@dataclass
class Dropped:
    """`snapshots`: times and runs of those that go, `staying`: times of the others. `run_id`: of the run that writes
    what stays. None: nothing is written, which shows what a run would drop. `rows`: how many go, by table."""

    warehouse: Warehouse
    cluster: str
    interval: Interval
    run_id: str | None
    snapshots: pa.Table
    staying: pa.Table
    changes: dict[str, Change] = field(default_factory=dict)
    rows: Counter[str] = field(default_factory=Counter)

    def facts(self) -> dict[str, Any]:
        times, others = (sorted(rows.column(TIME).to_pylist()) for rows in (self.snapshots, self.staying))
        return {
            "drop_snapshots": self.interval.text,
            "num_snapshots_dropped": len(times),
            "first_dropped_time": iso_of(times[0]) if times else None,
            "last_dropped_time": iso_of(times[-1]) if times else None,
            "num_snapshots_kept": len(others),
            "first_kept_time": iso_of(others[0]) if others else None,
            "last_kept_time": iso_of(others[-1]) if others else None,
            "num_rows_dropped": self.rows.total(),
        }

    def drop(self) -> None:
        for table in ("cluster_snapshots", "topic_snapshots"):
            self.drop_rows(table, TIME, lambda rows: self.interval.holds(rows.column(TIME)))
        as_of = self.times_of_verdicts()
        column = "as_of_time"
        self.drop_rows("group_verdicts", column, lambda rows: pc.is_in(rows.column(column), value_set=as_of))
        for state, rests_on in RESTS_ON.items():
            self.rest_on_nothing(state.name, rests_on)

    def times_of_verdicts(self) -> pa.Array:
        """As-of times of the runs that knew these snapshots."""
        since = pc.min(self.snapshots.column("run_id")).as_py()
        runs = self.warehouse.run_rows(["cluster", "run_id", "as_of_time"], "lag")
        ours = {row["as_of_time"] for row in runs if row["cluster"] == self.cluster and row["run_id"] > since}
        return pa.array(sorted(ours - {None}), pa.timestamp("us", "UTC"))

    def drop_rows(self, table: str, column: str, goes: Mask) -> None:
        """`goes`: TRUE for rows that go, by this column."""
        added, removed = [], []
        for name, entry in self.files(table):
            gone = self.of_cluster(self.warehouse.path(table) / name, column, goes)
            number = pc.sum(gone).as_py() or 0
            if not number:
                continue
            self.rows[table] += number
            removed.append(RemovedFile(entry["path"], is_data_change=True))
            if number < len(gone) and self.run_id is not None:
                added.append(self.written(table, entry, without(gone)))
        self.change(table, added, removed)

    def rest_on_nothing(self, table: str, column: str) -> None:
        added, removed = [], []
        for name, entry in self.files(table) if self.run_id is not None else ():
            path = self.warehouse.path(table) / name
            ours = self.of_cluster(path, column, lambda rows: pc.invert(pc.equal(rows.column(column), NOTHING)))
            if pc.any(ours).as_py():
                removed.append(RemovedFile(entry["path"], is_data_change=True))
                added.append(self.written(table, entry, with_nothing(ours, column)))
        self.change(table, added, removed)

    def change(self, table: str, added: list[DataFile], removed: list[RemovedFile]) -> None:
        if removed:
            self.changes[table] = Change(tuple(added), tuple(removed))

    def files(self, table: str) -> list[tuple[Any, Mapping[str, Any]]]:
        """The current ones, not those that `runs` names: files that others have merged since must not come back."""
        delta = self.warehouse.newest(table)
        rows = [] if delta is None else files_of(delta).to_pylist()
        return [(file_path(row["path"]), row) for row in rows if clusters_of(row, [self.cluster])]

    def of_cluster(self, path: Any, column: str, goes: Mask) -> pa.Array:
        """TRUE for rows of the cluster that the mask is TRUE for."""
        with pq.ParquetFile(path.parquet_source(), pre_buffer=False) as file:
            rows = file.read(["cluster", column], use_threads=False)
        ours = pc.fill_null(pc.and_(pc.equal(rows.column("cluster"), self.cluster), goes(rows)), False)
        return pa.concat_arrays([pa.array([], pa.bool_()), *ours.chunks])

    def written(self, table: str, entry: Mapping[str, Any], changed: Callable[[pa.Table, int], pa.Table]) -> DataFile:
        """The rows of a file, changed. `changed` is called with some rows, and how many there are before them."""
        assert self.run_id is not None
        folder, declared = self.warehouse.path(table), TABLES[table]
        file, start = TableFile(folder, declared, self.run_id), 0
        for rows in row_groups(folder / file_path(entry["path"]), declared):
            left = changed(rows, start)
            start += rows.num_rows
            if left.num_rows:
                file.write(left)
        done = file.close()
        assert done is not None
        return replace(done, is_provisional=is_provisional(declared, entry))


def without(gone: pa.Array) -> Callable[[pa.Table, int], pa.Table]:
    return lambda rows, start: rows.filter(pc.invert(gone.slice(start, rows.num_rows)))


def with_nothing(ours: pa.Array, column: str) -> Callable[[pa.Table, int], pa.Table]:
    def changed(rows: pa.Table, start: int) -> pa.Table:
        texts = pc.if_else(ours.slice(start, rows.num_rows), NOTHING, rows.column(column))
        place = rows.column_names.index(column)
        return rows.set_column(place, rows.schema.field(place), texts)

    return changed


def dropped_of(warehouse: Warehouse, cluster: str, interval: Interval, run_id: str | None) -> Dropped:
    if cluster not in (known := warehouse.clusters()):
        has = f"it has {list_names(known, MOST_NAMED)}" if known else "no run has finished in it"
        raise Failure(ExitCode.USAGE, f"{warehouse.address}: has no cluster {cluster}; {has}")
    columns = [TIME, "run_id"]
    rows = warehouse.rows("cluster_snapshots", columns, cluster)
    if rows is None:
        rows = pa.table({TIME: pa.array([], pa.timestamp("us", "UTC")), "run_id": pa.array([], pa.string())})
    goes = interval.holds(rows.column(TIME))
    dropped = Dropped(warehouse, cluster, interval, run_id, rows.filter(goes), rows.filter(pc.invert(goes)))
    if dropped.snapshots.num_rows:
        dropped.drop()
    return dropped


def sentence(facts: Mapping[str, Any], cluster: str, *, is_done: bool) -> str:
    """What was dropped, or would be, and what to run next."""
    number, kept = facts["num_snapshots_dropped"], facts["num_snapshots_kept"]
    has = f"has {counted(kept, 'snapshot')}" if kept or not number else "has no other snapshot"
    if kept:
        has += f", captured from {facts['first_kept_time']} to {facts['last_kept_time']}"
    if not number:
        return (
            f"no snapshot of cluster {cluster} was captured in {facts['drop_snapshots']}; it {has}; nothing was changed"
        )
    span = f"captured from {facts['first_dropped_time']} to {facts['last_dropped_time']}"
    amount = f"{counted(number, 'snapshot')} of cluster {cluster}, {span}, {counted(facts['num_rows_dropped'], 'row')}"
    if not is_done:
        return f"a run would drop {amount}; nothing was changed"
    next_step = "run `groupscope audit`, or replay, assignments and lag: they compute what rested on them anew"
    return f"dropped {amount}; it {has}. Next, {next_step}"
