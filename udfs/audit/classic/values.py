"""Reads type 2 values for the audit, column by column. The replay makes sets of lists; here lists keep their order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.assignors.java.iteration_order import Positions
from udfs.assignors.questions.problems import ABSENT, Codes, Numbers
from udfs.audit.checks.recorded_assignments import Flags
from udfs.groups.readers.classic_records import NO_BATCH, array, filled, micros, shared
from udfs.rows.typed_arrays import bounds_of

# For subscriptions that cannot be read.
NO_VERSION: Final = -1


@dataclass(frozen=True)
class Listing:
    """Partitions of many members, each in the order of its list. `starts`: where each member's begin, and where the
    last one's end. Topics are numbers of the window's names."""

    starts: Positions
    topics: Codes
    partitions: Codes


@dataclass(frozen=True)
class Values:
    """The values of one window."""

    group_ids: Sequence[str]
    offsets: Sequence[int]
    times: Sequence[int | None]
    batches: Sequence[int]
    is_tombstone: Sequence[bool]
    protocol_types: Sequence[str | None]
    generations: Sequence[int | None]
    protocols: Sequence[str | None]
    leaders: Sequence[str | None]
    state_times: Sequence[int | None]
    # Where the members of each value begin, and where the last one's end.
    starts: Positions
    # By member, for all values one after another.
    member_ids: Sequence[str]
    instances: Sequence[str | None]
    client_ids: Sequence[str | None]
    racks: Sequence[str | None]
    versions: Numbers
    generation_ids: Numbers
    user_data: Sequence[bytes | None]
    is_assignment_read: Flags
    # The leader's SyncGroup request did not name the member at all.
    is_omitted: Flags
    has_assignment_data: Flags
    # By the number of the name.
    topics: Sequence[str]
    subscribed_starts: Positions
    subscribed: Codes
    owned: Listing
    assigned: Listing

    def __len__(self) -> int:
        return len(self.offsets)


def values_of(rows: pa.Table) -> Values:
    """From rows of `classic_group_metadata`, in their order."""
    rows = rows.unify_dictionaries().combine_chunks()
    lists = array(rows, "members")
    bounds = bounds_of(lists).astype(np.intp)
    items = lists.values.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))
    subscription, assignment = items.field("subscription"), items.field("assignment")
    is_read, is_assignment_read = flags(subscription.is_valid()), flags(assignment.is_valid())
    is_omitted = flags(pc.equal(pc.binary_length(items.field("assignment_bytes")), 0).fill_null(False))
    names: dict[str, int] = {}
    subscribed_starts, subscribed = coded_lists(subscription.field("topics"), names)
    owned = listing(subscription.field("owned_partitions"), names)
    assigned = listing(assignment.field("partitions"), names)
    # Sorted by name, so that nothing depends on the other names in the window.
    topics = sorted(names)
    place = np.zeros(max(1, len(names)), np.int32)
    place[[names[name] for name in topics]] = np.arange(len(topics))
    return Values(
        group_ids=shared(rows["group_id"]),
        offsets=array(rows, "record_offset").to_pylist(),
        times=micros(rows["record_time"]),
        batches=filled(rows, "batch_first_offset", NO_BATCH),
        is_tombstone=array(rows, "is_tombstone").to_pylist(),
        protocol_types=shared(rows["protocol_type"]),
        generations=array(rows, "generation").to_pylist(),
        protocols=shared(rows["protocol"]),
        leaders=shared(rows["leader"]),
        state_times=micros(rows["current_state_time"]),
        starts=bounds - bounds[0],
        member_ids=shared(items.field("member_id")),
        instances=shared(items.field("group_instance_id")),
        client_ids=shared(items.field("client_id")),
        racks=masked(shared(subscription.field("rack_id")), is_read),
        versions=np.where(is_read, integers(subscription.field("version"), NO_VERSION), NO_VERSION),
        # Negative partition numbers are ignored.
        generation_ids=np.maximum(integers(subscription.field("generation_id"), ABSENT), ABSENT),
        user_data=masked(subscription.field("user_data").to_pylist(), is_read),
        is_assignment_read=is_assignment_read | is_omitted,
        is_omitted=is_omitted,
        has_assignment_data=is_assignment_read & flags(pc.greater(pc.binary_length(assignment.field("user_data")), 0)),
        topics=topics,
        subscribed_starts=subscribed_starts,
        subscribed=place[subscribed],
        owned=replace(owned, topics=place[owned.topics]),
        assigned=replace(assigned, topics=place[assigned.topics]),
    )  # fmt: skip


def flags(column: pa.BooleanArray) -> Flags:
    return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def integers(column: pa.Array, absent: int) -> Numbers:
    return np.asarray(column.fill_null(absent).to_numpy(zero_copy_only=False), dtype=np.int64)


def masked(values: Sequence[Any], is_valid: Flags) -> Sequence[Any]:
    if is_valid.all():
        return values
    return [value if valid else None for value, valid in zip(values, is_valid.tolist(), strict=True)]


def coded_lists(lists: pa.ListArray, names: dict[str, int]) -> tuple[Positions, Codes]:
    """Texts as numbers of `names`; new ones are added to it."""
    bounds = bounds_of(lists).astype(np.intp)
    return bounds - bounds[0], coded(lists.values.slice(int(bounds[0]), int(bounds[-1] - bounds[0])), names)


def coded(texts: pa.Array, names: dict[str, int]) -> Codes:
    encoded = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    codes = np.array([names.setdefault(name, len(names)) for name in encoded.dictionary.to_pylist()] or [0], np.int32)
    found: Codes = codes[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    return found


def listing(lists: pa.ListArray, names: dict[str, int]) -> Listing:
    of_member = bounds_of(lists).astype(np.intp)
    entries = lists.values.slice(int(of_member[0]), int(of_member[-1] - of_member[0]))
    topics = coded(entries.field("topic"), names)
    partitions = entries.field("partitions")
    of_topic = bounds_of(partitions).astype(np.intp)
    flat = partitions.values.to_numpy(zero_copy_only=False)[of_topic[0] : of_topic[-1]]
    return Listing(
        (of_topic - of_topic[0])[of_member - of_member[0]],
        np.repeat(topics, np.diff(of_topic)),
        np.asarray(flat, dtype=np.int32),
    )
