"""Declares where each table's columns come from: the column, and the field of key or value that it shows."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from schemas.records import types_of
from schemas.tables import TABLES, Table
from schemas.words.records import NONE
from udfs.decoding.decoded import CONTROL, Part
from udfs.rows.classic_members import members
from udfs.rows.made_columns import group_type, key_version, marker, member_state, topics
from udfs.rows.payload_json import PayloadTexts


@dataclass(frozen=True)
class Key:
    name: str


@dataclass(frozen=True)
class Value:
    """`unknown` are the values that Kafka writes for "unknown": null in tables. Of times -1 always is one."""

    name: str
    unknown: tuple[int, ...] = ()


@dataclass(frozen=True)
class TopicId:
    """A field of the value in which the zero id means "absent"."""

    name: str


@dataclass(frozen=True)
class ComputedColumn:
    by: Callable[[Part, pa.DataType], pa.Array]


@dataclass(frozen=True)
class MadeWithTexts:
    by: Callable[[Part, pa.DataType, PayloadTexts], pa.Array]


Source = Key | Value | TopicId | ComputedColumn | MadeWithTexts


@dataclass(frozen=True)
class Sources:
    """Columns that a part's value has under their own name need no word; those of the origin have their own way."""

    table: Table
    columns: dict[str, Source]

    def of(self, name: str) -> Source:
        return self.columns.get(name) or Value(name)


GROUP: dict[str, Source] = {"group_type": ComputedColumn(group_type), "group_id": Key("group_id")}
MEMBER: dict[str, Source] = {**GROUP, "member_id": Key("member_id")}
UNKNOWN = (NONE,)

MARKERS = Sources(
    TABLES["transaction_markers"],
    {"marker": ComputedColumn(marker), "coordinator_epoch": Value("coordinator_epoch", UNKNOWN)},
)
SOURCES = (
    Sources(
        TABLES["offset_commits"],
        {
            "group_id": Key("group"),
            "topic": Key("topic"),
            "partition": Key("partition"),
            "topic_id": TopicId("topic_id"),
            "key_version": ComputedColumn(key_version),
            "committed_offset": Value("offset"),
            "leader_epoch": Value("leader_epoch", UNKNOWN),
            "commit_time": Value("commit_timestamp", UNKNOWN),
            "expire_time": Value("expire_timestamp", UNKNOWN),
        },
    ),
    Sources(
        TABLES["classic_group_metadata"],
        {
            "group_id": Key("group"),
            "current_state_time": Value("current_state_timestamp", UNKNOWN),
            "members": MadeWithTexts(members),
        },
    ),
    Sources(
        TABLES["group_metadata"],
        {
            **GROUP,
            "group_epoch": Value("epoch"),
            "validated_topology_epoch": Value("validated_topology_epoch", UNKNOWN),
            "stored_description_topology_epoch": Value("stored_description_topology_epoch", UNKNOWN),
            "failed_description_topology_epoch": Value("failed_description_topology_epoch", UNKNOWN),
        },
    ),
    Sources(
        TABLES["group_member_metadata"],
        {
            **MEMBER,
            "group_instance_id": Value("instance_id"),
            "rebalance_timeout_ms": Value("rebalance_timeout_ms", UNKNOWN),
            "classic_member": Value("classic_member_metadata"),
        },
    ),
    Sources(
        TABLES["target_assignment_metadata"],
        # 0: the group is empty, or the broker kept no time.
        {**GROUP, "assignment_time": Value("assignment_timestamp", (0, NONE))},
    ),
    Sources(TABLES["target_assignment_members"], MEMBER),
    Sources(TABLES["current_member_assignments"], {**MEMBER, "member_state": ComputedColumn(member_state)}),
    Sources(TABLES["group_partition_metadata"], {**GROUP, "topics": ComputedColumn(topics)}),
    Sources(
        TABLES["group_regular_expressions"],
        {
            "group_id": Key("group_id"),
            "regular_expression": Key("regular_expression"),
            "metadata_version": Value("version", UNKNOWN),
            "resolved_time": Value("timestamp", UNKNOWN),
        },
    ),
    Sources(TABLES["streams_group_topologies"], {"group_id": Key("group_id")}),
)

BY_RECORD_TYPE = {
    CONTROL: MARKERS,
    **{number: sources for sources in SOURCES for number in types_of(sources.table.name)},
}
