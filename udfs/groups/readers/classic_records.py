"""Reads type 2 records for a replay, column by column: a log may have hundreds of thousands of them, each with all
members of the group."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from udfs.groups.readers.negative_partitions import negative_partitions, some_of, without_negative
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.rows.typed_arrays import bounds_of
from udfs.topics.partition_codes import SHIFT, TopicCodes

TYPE = 2
# For archives without batch information: then records with the same time are one operation.
NO_BATCH = -1
NO_EPOCH = -1
# From this version on, a subscription contains the partitions that the member owns.
OWNED_SINCE = 1

Tps = frozenset[int]
NOTHING: Tps = frozenset()


class ClassicMember(NamedTuple):
    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    rebalance_timeout_ms: int | None
    session_timeout_ms: int
    # Subscribed topics; None if unreadable.
    topics: tuple[str, ...] | None
    # What it claimed to own when it joined; None if unreadable, or if the version has no such field.
    claimed: Tps | None
    # -1: it was reset; None: not in the record.
    generation_id: int | None
    rack_id: str | None
    # None: cannot be read.
    assigned: Tps | None


class ClassicValue(NamedTuple):
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    # Microseconds; None: not in the record.
    state_time: int | None
    members: tuple[ClassicMember, ...]


@uncollected()
def classic_records(rows: pa.Table, topics: TopicCodes) -> list[tuple[str, Record]]:
    """From rows of `classic_group_metadata`, in their order. It needs neither `subscription_bytes` nor `payload_json`
    of members."""
    if rows.num_rows == 0:
        return []
    rows = rows.unify_dictionaries().combine_chunks()
    members, left_out = array(rows, "members"), left_out_of(array(rows, "members"))
    values = zip(
        shared(rows["protocol_type"]), array(rows, "generation").to_pylist(), shared(rows["protocol"]),
        shared(rows["leader"]), micros(rows["current_state_time"]), members_of(members, topics), strict=True,
    )  # fmt: skip
    is_tombstone = array(rows, "is_tombstone").to_pylist()
    return [
        (group_id, Record(offset, time, batch, epoch, TYPE, None, None if is_dead else ClassicValue(*value),
                          left_out.get(row)))
        for row, (group_id, offset, time, batch, epoch, is_dead, value) in enumerate(zip(
            shared(rows["group_id"]), array(rows, "record_offset").to_pylist(), micros(rows["record_time"]),
            filled(rows, "batch_first_offset", NO_BATCH), filled(rows, "partition_leader_epoch", NO_EPOCH),
            is_tombstone, values, strict=True,
        ))
    ]  # fmt: skip


def members_of(lists: pa.ListArray, topics: TopicCodes) -> list[tuple[ClassicMember, ...]]:
    bounds = bounds_of(lists)
    items = lists.values.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))
    subscription, assignment = items.field("subscription"), items.field("assignment")
    known: dict[bytes, Tps] = {b"": NOTHING}
    columns = (
        shared(items.field("member_id")),
        shared(items.field("group_instance_id")),
        shared(items.field("client_id")),
        shared(items.field("client_host")),
        items.field("rebalance_timeout_ms").to_pylist(),
        items.field("session_timeout_ms").to_pylist(),
        masked(names(subscription.field("topics")), subscription.is_valid()),
        masked(partition_sets(subscription.field("owned_partitions"), topics, known), can_claim(subscription)),
        masked(subscription.field("generation_id").to_pylist(), subscription.is_valid()),
        masked(shared(subscription.field("rack_id")), subscription.is_valid()),
        assigned(items, assignment, topics, known),
    )
    members = list(map(ClassicMember._make, zip(*columns, strict=True)))
    places = (bounds - bounds[0]).tolist()
    return [tuple(members[first:last]) for first, last in pairwise(places)]


def left_out_of(lists: pa.ListArray) -> dict[int, str]:
    """By row: partition numbers below 0 that its members name, as text."""
    bounds = bounds_of(lists)
    items = lists.values.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))
    fields = {"claims": ("subscription", "owned_partitions"), "has": ("assignment", "partitions")}
    found: dict[int, list[str]] = {}
    for verb, (payload, field) in fields.items():
        for at, told in negative_partitions(items.field(payload).field(field), "topic").items():
            row = int(np.searchsorted(bounds - bounds[0], at, side="right")) - 1
            found.setdefault(row, []).append(f"{items.field('member_id')[at].as_py()} {verb} {some_of(told)}")
    return {row: some_of(told) for row, told in found.items()}


def can_claim(subscription: pa.StructArray) -> pa.BooleanArray:
    version = pc.greater_equal(subscription.field("version"), OWNED_SINCE).fill_null(False)
    return pc.and_(subscription.is_valid(), version)


def assigned(
    items: pa.StructArray, assignment: pa.StructArray, topics: TopicCodes, known: dict[bytes, Tps]
) -> list[Tps | None]:
    """Zero bytes mean that the leader's assignment did not name the member."""
    is_omitted = pc.equal(pc.binary_length(items.field("assignment_bytes")), 0).fill_null(False)
    found = masked(partition_sets(assignment.field("partitions"), topics, known), assignment.is_valid())
    for place in np.flatnonzero(is_omitted.to_numpy(zero_copy_only=False)).tolist():
        found[place] = NOTHING
    return found


def partition_sets(lists: pa.ListArray, topics: TopicCodes, known: dict[bytes, Tps]) -> list[Tps]:
    """Sets of topic partitions, from lists of topics with partitions. `known`: sets made so far."""
    of_topic = bounds_of(lists)
    partitions = lists.values.field("partitions")
    encoded = lists.values.field("topic").dictionary_encode()
    codes = np.array([topics.of_name(name) for name in encoded.dictionary.to_pylist()] or [0], np.int64)
    code = codes[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    of_partition = bounds_of(partitions)
    flat = partitions.values.to_numpy(zero_copy_only=False)[of_partition[0] : of_partition[-1]]
    tps = np.repeat(code << SHIFT, np.diff(of_partition)) | flat
    tps, places = without_negative(tps, flat, (of_partition - of_partition[0])[of_topic])
    return shared_sets(tps.astype(np.int64).tobytes(), (places * 8).tolist(), known)


def shared_sets(tps: bytes, places: list[int], known: dict[bytes, Tps]) -> list[Tps]:
    """Equal sets become one object: most appear in many records, and members claim what they were assigned."""
    found = []
    for first, last in pairwise(places):
        raw = tps[first:last]
        tps_of = known.get(raw)
        if tps_of is None:
            tps_of = known[raw] = frozenset(np.frombuffer(raw, np.int64).tolist())
        found.append(tps_of)
    return found


def names(lists: pa.ListArray) -> list[tuple[str, ...]]:
    bounds = bounds_of(lists)
    texts = shared(lists.values.slice(int(bounds[0]), int(bounds[-1] - bounds[0])))
    places: NDArray[np.int32] = bounds - bounds[0]
    return [tuple(texts[first:last]) for first, last in pairwise(places.tolist())]


def masked(values: Sequence[Any], is_valid: pa.BooleanArray) -> list[Any]:
    if pc.all(is_valid).as_py() is not False:
        return list(values)
    return [value if valid else None for value, valid in zip(values, is_valid.to_pylist(), strict=True)]


def shared(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Equal texts become one object: most appear thousands of times."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [*encoded.dictionary.to_pylist(), None]
    last = len(texts) - 1
    return [texts[place] for place in encoded.indices.fill_null(last).to_pylist()]


def array(rows: pa.Table, name: str) -> pa.Array:
    column = rows[name]
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def micros(column: pa.ChunkedArray) -> list[int | None]:
    found: list[int | None] = column.cast(pa.int64()).to_pylist()
    return found


def filled(rows: pa.Table, name: str, absent: int) -> list[int]:
    found: list[int] = array(rows, name).fill_null(absent).to_pylist()
    return found
