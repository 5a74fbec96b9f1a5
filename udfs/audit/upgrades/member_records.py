"""Of the records of groups what upgrades need: of each member only how it takes part."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from schemas.records.registry import types_by_group_type
from schemas.words.records import GroupType
from udfs.groups.readers.classic_columns import ClassicColumns
from udfs.groups.readers.client_libraries import library_sets
from udfs.groups.readers.modern_records import modern_records
from udfs.groups.readers.modern_values import About
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.topics.partition_codes import TopicCodes

CLASSIC_TABLE, EPOCHS_TABLE, MEMBERS_TABLE = "classic_group_metadata", "group_metadata", "group_member_metadata"
EPOCH_TYPE, MEMBER_TYPE = (types_by_group_type(name)[GroupType.CONSUMER] for name in (EPOCHS_TABLE, MEMBERS_TABLE))


@dataclass(frozen=True)
class MemberIdentity:
    member_id: str
    group_instance_id: str | None
    client_id: str | None
    client_host: str | None


class ClassicMemberSummary(NamedTuple):
    """A member in a type 2 value. The replay's `ClassicMember` has its partitions too, which nothing here needs."""

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
    # The set of client libraries that write such a subscription and, as the leader, such assignments, as a number.
    libraries: int
    has_partitions: bool
    # Whether its assignment has user data.
    has_assigned_data: bool


class ClassicValueSummary(NamedTuple):
    protocol_type: str
    generation: int
    protocol: str | None
    members: tuple[ClassicMemberSummary, ...]


class ConsumerMember(NamedTuple):
    """A type 5 value. `versions`: of the subscriptions of a classic member; None: it uses the consumer protocol."""

    group_instance_id: str | None
    client_id: str | None
    client_host: str | None
    versions: tuple[int, ...] | None


def who_of_classic(member: ClassicMemberSummary) -> MemberIdentity:
    return MemberIdentity(member.member_id, member.group_instance_id, member.client_id, member.client_host)


def identity_of(member_id: str, member: ConsumerMember) -> MemberIdentity:
    return MemberIdentity(member_id, member.group_instance_id, member.client_id, member.client_host)


def upgrade_records(tables: Mapping[str, pa.Table]) -> list[tuple[str, Record]]:
    """Types 2, 3 and 5, by offset."""
    ours = {name: of_consumers(tables[name]) for name in (EPOCHS_TABLE, MEMBERS_TABLE) if name in tables}
    with uncollected():
        records = [(group_id, with_member(record)) for group_id, record in modern_records(ours, TopicCodes())]
        classic = tables.get(CLASSIC_TABLE)
        if classic is not None and classic.num_rows:
            records += classic_values(ClassicColumns(classic))
        return sorted(records, key=lambda each: each[1].offset)


def with_member(record: Record) -> Record:
    if record.type != MEMBER_TYPE or record.value is None:
        return record
    about: About = record.value
    member = ConsumerMember(about.group_instance_id, about.client_id, about.client_host, about.offered_versions)
    return record._replace(value=member)


def classic_values(read: ClassicColumns) -> Iterator[tuple[str, Record]]:
    values = zip(
        *(read.column(name) for name in ("protocol_type", "generation", "protocol")),
        map(each_once, classic_members(read)),
        strict=True,
    )
    return read.records(map(ClassicValueSummary._make, values))


def each_once(members: tuple[ClassicMemberSummary, ...]) -> tuple[ClassicMemberSummary, ...]:
    """As coordinators load them: they put the members one by one into a map by id, so the last entry counts."""
    return tuple({member.member_id: member for member in members}.values())


def classic_members(read: ClassicColumns) -> list[tuple[ClassicMemberSummary, ...]]:
    sets = library_sets(read)
    columns = (
        *(read.of_member(name) for name in ("member_id", "group_instance_id", "client_id", "client_host")),
        *(read.subscription_field(name) for name in ("version", "generation_id")),
        read.has_claimed.tolist(),
        (sets.members & sets.as_leaders).tolist(),
        read.has_partitions.tolist(),
        read.has_assigned_data.tolist(),
    )
    return read.by_value([*map(ClassicMemberSummary._make, zip(*columns, strict=True))])


def of_consumers(rows: pa.Table) -> pa.Table:
    """Without share and streams groups."""
    return rows.filter(pc.equal(rows["group_type"].cast(pa.string()), GroupType.CONSUMER.value))
