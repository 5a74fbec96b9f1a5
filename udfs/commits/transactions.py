"""Commits of transactions: which marker ends each, which of them take effect, and the rows of the table
transactions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.tables.offsets import TRANSACTIONS
from schemas.words.history import Confidence, TransactionOutcome
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import (
    NONE,
    Flags,
    Numbers,
    Positions,
    ends_of,
    every,
    first_of,
    flags,
    integers,
    numbers,
    times,
)
from udfs.commits.frames import Frame, Markers, names_of

SCHEMA = table_schema(TRANSACTIONS)


@dataclass(frozen=True)
class Waiting:
    """Pending commits of a frame: their rows, and the marker that ends each; -1: none yet."""

    at: Positions
    marker: Positions
    is_committed: Flags
    # A later record of the key overrode it before the marker, or up to now.
    is_lost: Flags


def marker_of(producer_id: Numbers, place: Numbers, markers: Markers) -> Positions:
    """The first marker of each producer after the position. The producer's epoch may differ, so it is ignored."""
    count = len(markers.offset)
    if not count:
        return np.full(len(place), -1)
    known, code = np.unique(markers.producer_id, return_inverse=True)
    ranked = code * (count + 1) + np.arange(count)
    order = np.argsort(ranked)
    of = np.minimum(np.searchsorted(known, producer_id), len(known) - 1)
    behind = np.searchsorted(markers.place, place, side="right")
    found = np.minimum(np.searchsorted(ranked[order], of * (count + 1) + behind), count - 1)
    marker = order[found]
    is_its = (markers.producer_id[marker] == producer_id) & (markers.place[marker] > place)
    return np.where(is_its, marker, -1)


def waiting_of(frame: Frame) -> Waiting:
    at = np.flatnonzero(frame.is_pending)
    if not len(at):
        nothing = np.empty(0, np.bool_)
        return Waiting(at, at, nothing, nothing)
    marker = marker_of(frame.producer_id[at], frame.place[at], frame.markers)
    has_marker = marker >= 0
    is_committed = np.zeros(len(at), np.bool_)
    is_committed[has_marker] = frame.markers.is_commit[marker[has_marker]]
    return Waiting(at, marker, is_committed, is_overruled(frame, at, marker, is_committed))


def is_overruled(frame: Frame, at: Positions, marker: Positions, is_committed: Flags) -> Flags:
    """A plain commit or a deletion overrides every pending commit written before it. So does a transaction that is
    committed first, if its commit was written later. A later commit of the same transaction for the key replaces the
    earlier one. Records are compared by their own offsets, never by those of their markers."""
    base = frame.base
    end = np.full(len(at), base - 1)
    end[marker >= 0] = frame.markers.place[marker[marker >= 0]] + 1
    effect = frame.place + 1
    effect[at] = np.where(is_committed, end, base - 1)
    # For each row, the first effect of all later rows of its key. Numbers of later keys are larger.
    ranked = frame.key.astype(np.int64) * base + effect
    first_later = np.append(np.minimum.accumulate(ranked[::-1])[::-1][1:], np.iinfo(np.int64).max)
    key = frame.key[at].astype(np.int64)
    is_lost = first_later[at] <= key * base + end
    # The largest number of a key means "no effect".
    is_lost &= first_later[at] % base != base - 1
    carried = frame.is_carried[at]
    is_lost[carried] |= was_lost(frame, at[carried])
    return np.asarray(is_lost | is_replaced(key, frame.producer_id[at], marker), np.bool_)


def was_lost(frame: Frame, at: Positions) -> Flags:
    return flags(frame.state["is_lost"])[frame.row[at]]


def is_replaced(key: Numbers, producer_id: Numbers, marker: Positions) -> Flags:
    """Whether the same transaction commits the key again."""
    order = np.lexsort((marker, producer_id, key))
    same = np.zeros(len(key), np.bool_)
    before, after = order[:-1], order[1:]
    same[before] = (
        (key[before] == key[after]) & (producer_id[before] == producer_id[after]) & (marker[before] == marker[after])
    )
    return same


def ended_rows(frame: Frame, waiting: Waiting, cluster: str, partition: int) -> pa.Table:
    """Transactions whose marker is in the frame."""
    chosen = waiting.marker >= 0
    at, marker = waiting.at[chosen], waiting.marker[chosen]
    parts = Parts(
        frame.producer_id[at], marker, frame.offset[at], frame.record_time[at], frame.producer_epoch[at],
        waiting.is_lost[chosen], frame.groups, frame.keys.group[frame.key[at]],
    )  # fmt: skip
    found = parts.gathered()
    ends = frame.markers
    outcome = np.where(ends.is_commit[found.end], TransactionOutcome.COMMITTED, TransactionOutcome.ABORTED)
    return found.rows(cluster, partition, ends.time[found.end], ends.offset[found.end], outcome, is_open=False)


def unended_rows(pending: pa.Table, cluster: str, partition: int, hole_offset: int | None) -> pa.Table:
    """Transactions without a marker, from pending rows of the state: open, unless records after them are missing."""
    groups, group = names_of([pending["group_id"]])
    offset = numbers(pending["record_offset"])
    parts = Parts(
        numbers(pending["producer_id"]), np.zeros(len(offset), np.intp), offset, numbers(pending["record_time"]),
        numbers(pending["producer_epoch"]), flags(pending["is_lost"]), groups, group,
    )  # fmt: skip
    found = parts.gathered()
    size = len(found.producer_id)
    last = found.last_offset if hole_offset is None else np.full(size, hole_offset)
    outcome = np.full(size, TransactionOutcome.OPEN)
    return found.rows(cluster, partition, np.full(size, NONE), last, outcome, is_open=hole_offset is None)


@dataclass(frozen=True)
class Gathered:
    """One entry per transaction, in the order of the table."""

    producer_id: Numbers
    end: Positions
    first_offset: Numbers
    first_time: Numbers
    producer_epoch: Numbers
    last_offset: Numbers
    num_commits: Numbers
    num_superseded: Numbers
    groups: pa.ListArray

    def rows(
        self, cluster: str, partition: int, end_time: Numbers, evidence_last: Numbers, outcome: NDArray[np.str_],
        *, is_open: bool,
    ) -> pa.Table:  # fmt: skip
        size = len(self.producer_id)
        is_timed = (end_time != NONE) & (self.first_time != NONE)
        # The clocks of two coordinators may differ: an end before the beginning counts as no duration.
        duration = np.where(is_timed, np.maximum(np.where(is_timed, end_time - self.first_time, 0) // 1000, 0), NONE)
        columns = {
            "cluster": every(cluster, pa.string(), size),
            "producer_id": integers(self.producer_id),
            "producer_epoch": integers(self.producer_epoch, pa.int32()),
            "first_offset": integers(self.first_offset),
            "first_time": times(self.first_time),
            "end_time": times(end_time),
            "is_open": every(is_open, pa.bool_(), size),
            "outcome": pa.array(outcome.tolist(), pa.string()),
            "groups": self.groups,
            "num_commits": integers(self.num_commits),
            "num_superseded": integers(self.num_superseded),
            "duration_ms": integers(duration),
            "evidence_partition": every(partition, pa.int32(), size),
            "evidence_first_offset": integers(self.first_offset),
            "evidence_last_offset": integers(evidence_last),
            "confidence": every(str(Confidence.CERTAIN), pa.string(), size),
        }
        return pa.table([columns[name] for name in SCHEMA.names], SCHEMA)


@dataclass(frozen=True)
class Parts:
    """Commits of transactions. Equal producer and end mean the same transaction."""

    producer_id: Numbers
    end: Positions
    offset: Numbers
    time: Numbers
    producer_epoch: Numbers
    is_lost: Flags
    groups: pa.Array
    group: NDArray[np.int32]

    def gathered(self) -> Gathered:
        order = np.lexsort((self.offset, self.end, self.producer_id))
        producer_id, end = self.producer_id[order], self.end[order]
        is_first = first_of(producer_id) | first_of(end)
        starts = np.flatnonzero(is_first)
        sizes = ends_of(starts, len(order)) - starts + 1
        first = order[starts]
        number = np.cumsum(is_first) - 1
        lost = np.bincount(number, weights=self.is_lost[order], minlength=len(starts)).astype(np.int64)
        return Gathered(
            producer_id[starts], end[starts], self.offset[first], self.time[first], self.producer_epoch[first],
            self.offset[order][starts + sizes - 1], sizes.astype(np.int64), lost,
            group_lists(number, self.group[order], self.groups, len(starts)),
        )  # fmt: skip


def group_lists(number: Positions, group: NDArray[np.int32], names: pa.Array, count: int) -> pa.ListArray:
    """Distinct groups of each transaction, in the order of names, which is the order of their codes."""
    width = max(len(names), 1)
    pairs = np.unique(number * width + group)
    bounds = np.searchsorted(pairs // width, np.arange(count + 1))
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), names.take(pa.array(pairs % width)))


def merged(tables: list[pa.Table]) -> pa.Table:
    """Merges rows of slices of one offsets partition: a transaction that commits for groups in several slices becomes
    one row."""
    rows = pa.concat_tables(tables)
    # An open transaction has no end yet. For the others the last record is their marker, or the last one before missing
    # records.
    end = pc.if_else(rows["is_open"], -1, rows["evidence_last_offset"]).combine_chunks()
    keys = pa.table({"producer_id": rows["producer_id"], "end": end, "row": np.arange(rows.num_rows)})
    found = keys.group_by(["producer_id", "end"], use_threads=False).aggregate([("row", "list")])
    parts = [each for each in found["row_list"].to_pylist() if len(each) > 1] if found.num_rows < rows.num_rows else []
    whole = pa.Table.from_pylist([one(rows.take(each).to_pylist()) for each in parts], SCHEMA)
    is_part = np.zeros(rows.num_rows, np.bool_)
    is_part[[row for each in parts for row in each]] = True
    together = pa.concat_tables([rows.filter(pa.array(~is_part)), whole])
    return together.sort_by([("producer_id", "ascending"), ("first_offset", "ascending")])


def one(parts: list[dict[str, Any]]) -> dict[str, Any]:
    parts = sorted(parts, key=lambda row: int(row["first_offset"]))
    return {
        **parts[0],
        "groups": sorted({group for row in parts for group in row["groups"]}),
        "num_commits": sum(row["num_commits"] for row in parts),
        "num_superseded": sum(row["num_superseded"] for row in parts),
        "evidence_last_offset": max(row["evidence_last_offset"] for row in parts),
    }
