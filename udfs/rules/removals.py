"""Offsets that were removed, or that ended because their topic was made anew: each by the record that ended it."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.history_words import Confidence, OffsetEnd
from schemas.lag_words import ResetActor, ResetKind
from udfs.lag.as_of import NOWHERE
from udfs.lag.partition_history import PartitionHistory
from udfs.replay.nullable import NONE, Numbers, numbers
from udfs.rules.group_states import StatesAt
from udfs.rules.offset_moves import KEY, batches_of
from udfs.rules.reset_events import Event, by_operation

DONE_BY: dict[str, tuple[ResetKind, ResetActor, Confidence]] = {
    OffsetEnd.EXPIRED: (ResetKind.EXPIRED, ResetActor.COORDINATOR, Confidence.CERTAIN),
    OffsetEnd.DELETED: (ResetKind.DELETED, ResetActor.ADMIN_LIKELY, Confidence.CERTAIN),
    OffsetEnd.TOPIC_DELETED: (ResetKind.DELETED, ResetActor.COORDINATOR, Confidence.CERTAIN),
    OffsetEnd.TOMBSTONE_UNKNOWN: (ResetKind.DELETED, ResetActor.UNKNOWN, Confidence.POSSIBLE),
}


def removal_events(history: PartitionHistory, since: int | None) -> Iterator[Event]:
    table = history.table("offset_history")
    time = numbers(table.column("to_time"))
    ends = pa.array([*DONE_BY, OffsetEnd.TOPIC_RECREATED], pa.string())
    is_ended = np.asarray(pc.is_in(table.column("ended_by"), value_set=ends).to_numpy(), np.bool_)
    is_due = (time <= history.as_of_time) & (time >= (NONE if since is None else since))
    place = np.flatnonzero(is_ended & is_due)
    rows = with_facts(history, table, place)
    for operation in by_operation(rows, "group_id", "topic", "topic_id", "ended_by", "batch", "to_time"):
        first = operation[0]
        yield made_anew(operation) if first["ended_by"] == OffsetEnd.TOPIC_RECREATED else removed(operation)


def with_facts(history: PartitionHistory, table: pa.Table, place: Numbers) -> list[dict[str, Any]]:
    """The ended rows as dictionaries, each with its batch, the group's state just before, and the commit that follows
    in its place."""
    names = [*KEY, "topic_id", "to_time", "to_offset", "ended_by", "committed_offset", "via"]
    ended = table.select(names).take(pa.array(place))
    offset = numbers(ended.column("to_offset"))
    states = StatesAt.of(history.table("group_state_intervals"), ended.column("group_id"), np.maximum(offset - 1, 0))
    group_types = history.table("group_state_intervals").column("group_type").take(
        pa.array(states.row, mask=states.row == NOWHERE)
    )  # fmt: skip
    following = rows_after(table, place)
    after = table.select(["committed_offset", "via"]).take(pa.array(following, mask=following == NOWHERE))
    facts = {
        "batch": pa.array(batches_of(history.commits, offset)),
        "group_type": group_types,
        "num_members": pa.array(states.num_members, mask=states.num_members == NONE),
        "after": after.column("committed_offset"),
        "is_empty": pa.array(states.is_empty),
        "via_after": after.column("via"),
    }
    for name, column in facts.items():
        ended = ended.append_column(name, column)
    found: list[dict[str, Any]] = ended.set_column(4, "to_time", ended.column("to_time").cast(pa.int64())).to_pylist()
    return found


def rows_after(table: pa.Table, place: Numbers) -> Numbers:
    """Of each row the one of the same key that began with what ended it; NOWHERE: none."""
    later = np.minimum(place + 1, table.num_rows - 1)
    here, there = (table.select([*KEY]).take(pa.array(rows)) for rows in (place, later))
    is_after = numbers(table.column("from_offset"))[later] == numbers(table.column("to_offset"))[place]
    for name in KEY:
        is_after &= np.asarray(pc.equal(here.column(name), there.column(name)).to_numpy(), np.bool_)
    return np.where(is_after, later, NOWHERE)


def removed(operation: list[Mapping[str, Any]]) -> Event:
    kind, actor, confidence = DONE_BY[operation[0]["ended_by"]]
    moved = tuple((row["partition"], row["committed_offset"], None) for row in operation)
    return event(operation, kind, actor, confidence, moved)


def made_anew(operation: list[Mapping[str, Any]]) -> Event:
    """The group went on with another topic of the same name. Offsets of two topics cannot be compared."""
    moved = tuple((row["partition"], row["committed_offset"], row["after"]) for row in operation)
    return event(operation, ResetKind.TRUNCATION, who_went_on(operation[0]), Confidence.CERTAIN, moved)


def who_went_on(row: Mapping[str, Any]) -> ResetActor:
    if row["via_after"] == "transaction":
        return ResetActor.TRANSACTION
    if row["num_members"] is None:
        return ResetActor.UNKNOWN
    return ResetActor.SIMPLE_CONSUMER if row["is_empty"] else ResetActor.MEMBER


def event(
    operation: list[Mapping[str, Any]], kind: ResetKind, actor: ResetActor, confidence: Confidence, moved: Any
) -> Event:
    first, offsets = operation[0], [int(row["to_offset"]) for row in operation]
    return Event(
        first["group_id"], first["group_type"], first["topic"], first["topic_id"], first["to_time"], kind, actor,
        confidence, None, first["num_members"], min(offsets), max(offsets), moved, is_comparable=False,
    )  # fmt: skip
