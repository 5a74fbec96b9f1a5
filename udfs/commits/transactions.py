"""Rows of the table transactions."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.tables import TABLES
from schemas.words.history import Confidence, TransactionOutcome
from udfs.arrays.arrow_schema import table_schema
from udfs.arrays.nullable import NONE, Numbers, Positions, every, first_of, flags, integers, numbers, times
from udfs.codes.names import Names
from udfs.commits.effects.fields import T
from udfs.commits.key_states import KeyStates

SCHEMA = table_schema(TABLES["transactions"])


def transaction_rows(states: KeyStates, transactions: Numbers, members: Numbers) -> pa.Table:
    """Transactions whose marker is in the window."""
    order = np.lexsort((transactions[:, T.first_offset], transactions[:, T.producer_id]))
    values = np.ascontiguousarray(transactions[order].T)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    outcome = np.where(values[T.is_commit], TransactionOutcome.COMMITTED, TransactionOutcome.ABORTED)
    groups = group_lists(number[members[:, 0]], members[:, 1], states.group_names, len(order))
    evidence = states.cluster, states.partition, values[T.end_offset]
    return rows(values, groups, values[T.end_time], outcome, *evidence, is_provisional=False)


def unended_rows(pending: pa.Table, cluster: str, partition: int, hole_offset: int | None) -> pa.Table:
    """Transactions without a marker, from pending rows of the state: open, unless records after them are missing."""
    names = Names()
    group, producer_id, offset = (
        names.codes(pending["group_id"]),
        numbers(pending["producer_id"]),
        numbers(pending["record_offset"]),
    )
    order = np.lexsort((offset, producer_id))
    is_first = first_of(producer_id[order])
    number, first = np.cumsum(is_first) - 1, order[is_first]
    size = len(first)
    values = np.zeros((len(T), size), np.int64)
    for name, place in (("producer_id", T.producer_id), ("producer_epoch", T.producer_epoch),
                        ("record_offset", T.first_offset), ("record_time", T.first_time)):  # fmt: skip
        values[place] = numbers(pending[name])[first]
    values[T.num_commits] = np.bincount(number, minlength=size)
    values[T.num_superseded] = np.bincount(number, weights=flags(pending["is_lost"])[order], minlength=size)
    last = np.full(size, NONE if hole_offset is None else hole_offset)
    if hole_offset is None:
        last[number] = offset[order]
    outcome = np.full(size, TransactionOutcome.OPEN)
    groups = group_lists(number, group[order], names, size)
    is_provisional = hole_offset is None
    return rows(values, groups, np.full(size, NONE), outcome, cluster, partition, last, is_provisional=is_provisional)


def rows(
    values: Numbers, groups: pa.ListArray, end_time: Numbers, outcome: NDArray[np.str_], cluster: str, partition: int,
    evidence_last: Numbers, *, is_provisional: bool,
) -> pa.Table:  # fmt: skip
    size, first_time = values.shape[1], values[T.first_time]
    is_timed = (end_time != NONE) & (first_time != NONE)
    # The clocks of two coordinators may differ: an end before the beginning counts as no duration.
    duration = np.where(is_timed, np.maximum(np.where(is_timed, end_time - first_time, 0) // 1000, 0), NONE)
    columns = {
        "cluster": every(cluster, pa.string(), size),
        "producer_id": integers(values[T.producer_id]),
        "producer_epoch": integers(values[T.producer_epoch], pa.int32()),
        "first_offset": integers(values[T.first_offset]),
        "first_time": times(first_time),
        "end_time": times(end_time),
        "is_provisional": every(is_provisional, pa.bool_(), size),
        "outcome": pa.array(outcome.tolist(), pa.string()),
        "groups": groups,
        "num_commits": integers(values[T.num_commits]),
        "num_superseded": integers(values[T.num_superseded]),
        "duration_ms": integers(duration),
        "evidence_partition": every(partition, pa.int32(), size),
        "evidence_first_offset": integers(values[T.first_offset]),
        "evidence_last_offset": integers(evidence_last),
        "confidence": every(str(Confidence.CERTAIN), pa.string(), size),
    }
    return pa.table([columns[name] for name in SCHEMA.names], SCHEMA)


def group_lists(number: Positions, group: Numbers, names: Names, count: int) -> pa.ListArray:
    """Distinct groups of each transaction, in the order of names."""
    width = max(len(names), 1)
    ranks = names.ranks()
    pairs = np.unique(number * width + ranks[group])
    bounds = np.searchsorted(pairs // width, np.arange(count + 1))
    ordered = names.known.take(pc.sort_indices(names.known))
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), ordered.take(pa.array(pairs % width)))


def merged(tables: list[pa.Table]) -> pa.Table:
    """Merges rows of slices of one offsets partition: a transaction that commits for groups in several slices becomes
    one row."""
    rows = pa.concat_tables(tables)
    # An open transaction has no end yet. For the others the last record is their marker, or the last one before missing
    # records.
    end = pc.if_else(rows["is_provisional"], -1, rows["evidence_last_offset"]).combine_chunks()
    keys = pa.table({"producer_id": rows["producer_id"], "end": end, "row": np.arange(rows.num_rows)})
    by_end = keys.group_by(["producer_id", "end"], use_threads=False).aggregate([("row", "list")])
    parts = (
        [each for each in by_end["row_list"].to_pylist() if len(each) > 1] if by_end.num_rows < rows.num_rows else []
    )
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
