"""Which closed rows are beyond the term, for each table that has rows about a time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.command_line.values import EPOCH
from schemas.words.history import OffsetEnd
from udfs.arrays.nullable import NONE, numbers

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
AT_ONCE = timedelta()
# The column with the time of a row, and how long after it the row ends.
ENDS: dict[str, tuple[str, timedelta]] = {
    "group_state_intervals": ("to_time", AT_ONCE),
    "membership_intervals": ("to_time", AT_ONCE),
    "ownership_intervals": ("to_time", AT_ONCE),
    "offset_history": ("to_time", AT_ONCE),
    "transactions": ("end_time", AT_ONCE),
    "replay_anomalies": ("record_time", AT_ONCE),
    "lag_points": ("snapshot_time", AT_ONCE),
    "lag_days": ("day_time", DAY),
    "lag_minutes": ("minute_time", MINUTE),
    # The longest bucket has an hour.
    "consumption_rates": ("bucket_time", DAY),
    "group_verdicts": ("as_of_time", AT_ONCE),
    "offset_resets": ("at_time", AT_ONCE),
    "odd_commits": ("day_time", DAY),
    "commit_volume": ("hour_time", HOUR),
}
# An assignment ends when the group's next one is complete; all of its rows go together.
REBALANCES = "rebalances"
OF_ASSIGNMENTS = (REBALANCES, "generation_members", "partition_moves", "assignment_audit")
# Rows about runs go with their runs.
OF_RUNS = ("gate_metrics", "gate_runs", "gate_results", "findings")
DROPPED_FROM = (*ENDS, *OF_ASSIGNMENTS, *OF_RUNS)
STATES, OFFSETS = "group_state_intervals", "offset_history"
GROUP = ("evidence_partition", "group_id")
NEEDED = {
    STATES: ("to_time", "from_record_offset", *GROUP),
    OFFSETS: ("to_time", "ended_by"),
    **dict.fromkeys(OF_ASSIGNMENTS, ("assignment_offset", *GROUP)),
    **dict.fromkeys(OF_RUNS, ("run_id",)),
}


@dataclass(frozen=True)
class Bounds:
    """An offset for each group, by the offsets partition and the name."""

    groups: pa.Array
    offsets: pa.Array

    def of(self, rows: pa.Table) -> pa.Array:
        return self.offsets.take(pc.index_in(group_keys(rows), value_set=self.groups))


@dataclass(frozen=True)
class Kept:
    """What is kept of one cluster."""

    since: datetime
    first_run_id: str
    # The run whose gate results the next gate reads, and the one whose findings are shown.
    gate_run_ids: frozenset[str]
    # The group's newest state, and the assignment in effect when the term begins.
    newest_states: Bounds
    assignments: Bounds


def columns_needed(table: str) -> tuple[str, ...]:
    return NEEDED.get(table) or (ENDS[table][0],)


def may_have_old_rows(table: str, file: Any, kept: Kept) -> bool:
    """By the file's entry in the Delta log."""
    if table not in ENDS:
        return True
    column, length = ENDS[table]
    least = (file["min"] or {}).get(column)
    return least is None or least < kept.since - length


def beyond_term(table: str, rows: pa.Table, kept: Kept) -> pa.Array:
    """TRUE for each closed row that no later run needs. Rows without a time stay."""
    is_beyond = DECIDERS.get(table, ended_before)(table, rows, kept)
    return pc.fill_null(is_beyond, False)


def ended_before(table: str, rows: pa.Table, kept: Kept) -> Any:
    column, length = ENDS[table]
    limit = pa.scalar((kept.since - length - EPOCH) // timedelta(microseconds=1))
    return pc.less(rows.column(column).cast(pa.int64()), limit)


def old_state(table: str, rows: pa.Table, kept: Kept) -> Any:
    """The newest state of a group stays: `lag` takes its type from there."""
    is_older = pc.less(rows.column("from_record_offset"), kept.newest_states.of(rows))
    return pc.and_(ended_before(table, rows, kept), is_older)


def old_offset(table: str, rows: pa.Table, kept: Kept) -> Any:
    """A row that no commit ended stays: why no offset is in effect matters at any later time."""
    is_followed = pc.equal(rows.column("ended_by"), OffsetEnd.COMMIT.value)
    return pc.and_(ended_before(table, rows, kept), is_followed)


def old_assignment(_: str, rows: pa.Table, kept: Kept) -> Any:
    return pc.less(rows.column("assignment_offset"), kept.assignments.of(rows))


def of_old_run(_: str, rows: pa.Table, kept: Kept) -> Any:
    runs = rows.column("run_id")
    read_next = pc.is_in(runs, value_set=pa.array(sorted(kept.gate_run_ids), pa.string()))
    return pc.and_(pc.less(runs, kept.first_run_id), pc.invert(read_next))


DECIDERS: dict[str, Callable[[str, pa.Table, Kept], Any]] = {
    STATES: old_state,
    OFFSETS: old_offset,
    **dict.fromkeys(OF_ASSIGNMENTS, old_assignment),
    **dict.fromkeys(OF_RUNS, of_old_run),
}


def group_keys(rows: pa.Table) -> Any:
    return pc.binary_join_element_wise(rows.column(GROUP[0]).cast(pa.string()), rows.column(GROUP[1]), "/")


def newest_states(rows: pa.Table) -> Bounds:
    keyed = pa.table({"group": group_keys(rows), "offset": rows.column("from_record_offset")})
    newest = keyed.group_by("group", use_threads=False).aggregate([("offset", "max")])
    return bounds(newest.column("group"), newest.column("offset_max"))


def assignments_in_effect(rows: pa.Table, since: datetime) -> Bounds:
    """Of each group the first assignment in log order that the next one did not end before the time. `rows`: of
    rebalances."""
    keyed = pa.table(
        {"group": group_keys(rows), "offset": rows.column("assignment_offset"), "end": rows.column("end_time")}
    ).sort_by([("group", "ascending"), ("offset", "ascending")])
    groups = keyed.column("group").combine_chunks().dictionary_encode()
    if not len(groups):
        return bounds(groups.cast(pa.string()), keyed.column("offset"))
    codes, ends = groups.indices.to_numpy(), numbers(keyed.column("end"))
    next_end = np.append(ends[1:], NONE)
    is_last = np.append(codes[1:] != codes[:-1], True)
    limit = (since - EPOCH) // timedelta(microseconds=1)
    lasting = np.flatnonzero(is_last | (next_end == NONE) | (next_end >= limit))
    _, first = np.unique(codes[lasting], return_index=True)
    kept = pa.array(lasting[first])
    return bounds(keyed.column("group").take(kept), keyed.column("offset").take(kept))


def bounds(groups: Any, offsets: Any) -> Bounds:
    return Bounds(as_array(groups, pa.string()), as_array(offsets, pa.int64()))


def as_array(values: Any, kind: pa.DataType) -> pa.Array:
    chunks: Iterable[pa.Array] = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    return pa.concat_arrays([pa.array([], kind), *(chunk.cast(kind) for chunk in chunks)])
