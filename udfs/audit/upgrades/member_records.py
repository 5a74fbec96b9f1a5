"""Reads from the records of groups what upgrades need: of each member only how it takes part."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.records import GroupType
from udfs.groups.readers.classic_records import NO_BATCH, NO_EPOCH, array, filled, masked, micros, shared
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.rows.typed_arrays import bounds_of

CLASSIC_TYPE, EPOCH_TYPE, MEMBER_TYPE = 2, 3, 5
VERSION_BYTES = 2


class ClassicMember(NamedTuple):
    """A member in a type 2 value."""

    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    # Version of its subscription; None: cannot be read.
    version: int | None
    # -1: it was reset; None: the version has no such field.
    generation_id: int | None
    # Whether it claimed to own something when it joined.
    has_claimed: bool
    # It has user data of zero bytes: some libraries do this.
    has_blank_data: bool
    has_partitions: bool
    # Whether its assignment has user data.
    has_assigned_data: bool


class ClassicValue(NamedTuple):
    protocol_type: str
    generation: int
    protocol: str | None
    members: tuple[ClassicMember, ...]


class ConsumerMember(NamedTuple):
    """A type 5 value. `versions`: of the subscriptions of a classic member; None: it uses the consumer protocol."""

    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    versions: tuple[int, ...] | None


def upgrade_records(tables: Mapping[str, pa.Table]) -> list[tuple[str, Record]]:
    """Types 2, 3 and 5, by offset; the `value` of type 3 is the group epoch."""
    found: list[tuple[str, Record]] = []
    with uncollected():
        for name, read in READERS.items():
            rows = tables.get(name)
            if rows is not None and (ours := of_consumers(rows)).num_rows:
                found += read(ours.unify_dictionaries().combine_chunks())
        return sorted(found, key=lambda each: each[1].offset)


def placed(rows: pa.Table) -> Iterator[tuple[str, int, int | None, int, int, bool]]:
    return zip(
        shared(rows["group_id"]), array(rows, "record_offset").to_pylist(), micros(rows["record_time"]),
        filled(rows, "batch_first_offset", NO_BATCH), filled(rows, "partition_leader_epoch", NO_EPOCH),
        array(rows, "is_tombstone").to_pylist(), strict=True,
    )  # fmt: skip


def classic_values(rows: pa.Table) -> Iterator[tuple[str, Record]]:
    values = zip(
        shared(rows["protocol_type"]), array(rows, "generation").to_pylist(), shared(rows["protocol"]),
        classic_members(array(rows, "members")), strict=True,
    )  # fmt: skip
    for (group_id, offset, time, batch, epoch, is_dead), value in zip(placed(rows), values, strict=True):
        told = None if is_dead else ClassicValue(*value)
        yield group_id, Record(offset, time, batch, epoch, CLASSIC_TYPE, None, told)


def classic_members(lists: pa.ListArray) -> list[tuple[ClassicMember, ...]]:
    bounds = bounds_of(lists)
    items = lists.values.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))
    subscription, assignment = items.field("subscription"), items.field("assignment")
    columns = (
        *(shared(items.field(name)) for name in ("member_id", "group_instance_id", "client_id", "client_host")),
        masked(subscription.field("version").to_pylist(), subscription.is_valid()),
        masked(subscription.field("generation_id").to_pylist(), subscription.is_valid()),
        are_filled(subscription, "owned_partitions"),
        are_blank(subscription),
        are_filled(assignment, "partitions"),
        are_filled(assignment, "user_data"),
    )
    members = list(map(ClassicMember._make, zip(*columns, strict=True)))
    return [tuple(members[first:last]) for first, last in pairwise((bounds - bounds[0]).tolist())]


def are_filled(parent: pa.StructArray, name: str) -> list[bool]:
    """Whether the list, or the bytes, are not empty."""
    field = parent.field(name)
    size = pc.binary_length(field) if pa.types.is_binary(field.type) else pc.list_value_length(field)
    found: list[bool] = pc.and_(parent.is_valid(), pc.greater(size, 0).fill_null(False)).to_pylist()
    return found


def are_blank(subscription: pa.StructArray) -> list[bool]:
    size = pc.binary_length(subscription.field("user_data"))
    found: list[bool] = pc.and_(subscription.is_valid(), pc.equal(size, 0).fill_null(False)).to_pylist()
    return found


def group_epochs(rows: pa.Table) -> Iterator[tuple[str, Record]]:
    for (group_id, offset, time, batch, epoch, is_dead), value in zip(
        placed(rows), array(rows, "group_epoch").to_pylist(), strict=True
    ):
        yield group_id, Record(offset, time, batch, epoch, EPOCH_TYPE, None, None if is_dead else value)


def consumer_members(rows: pa.Table) -> Iterator[tuple[str, Record]]:
    columns = zip(
        shared(rows["member_id"]), shared(rows["group_instance_id"]), shared(rows["client_id"]),
        shared(rows["client_host"]), offered_versions(array(rows, "classic_member")), strict=True,
    )  # fmt: skip
    for (group_id, offset, time, batch, epoch, is_dead), (member, *value) in zip(placed(rows), columns, strict=True):
        told = None if is_dead else ConsumerMember(*value)
        yield group_id, Record(offset, time, batch, epoch, MEMBER_TYPE, member, told)


def offered_versions(members: pa.StructArray) -> list[tuple[int, ...] | None]:
    if members.null_count == len(members):
        return [None] * len(members)
    protocols = members.field("supported_protocols")
    versions = [
        tuple(
            int.from_bytes(each["metadata"][:VERSION_BYTES], "big", signed=True)
            for each in offered or ()
            if len(each["metadata"] or b"") >= VERSION_BYTES
        )
        for offered in protocols.to_pylist()
    ]
    return masked(versions, members.is_valid())


def of_consumers(rows: pa.Table) -> pa.Table:
    """Without share and streams groups."""
    if "group_type" not in rows.column_names:
        return rows
    return rows.filter(pc.equal(rows["group_type"].cast(pa.string()), GroupType.CONSUMER.value))


READERS = {
    "classic_group_metadata": classic_values,
    "group_metadata": group_epochs,
    "group_member_metadata": consumer_members,
}
