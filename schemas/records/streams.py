"""Types 17 to 23: streams groups (KIP-1071)."""

from schemas.declarations.fields import Array, Field, Kind, Message, RecordType, Shape, Struct
from schemas.records.modern_fields import (
    ASSIGNMENT_EPOCH,
    ASSIGNMENT_EPOCHS,
    ASSIGNMENT_TIMESTAMP,
    GROUP_KEY,
    MEMBER_EPOCH,
    MEMBER_KEY,
    PREVIOUS_MEMBER_EPOCH,
    TOPIC_ID,
    TOPIC_NAME,
)
from schemas.words.records import GroupType

KIP = "KIP-1071"

KEY_VALUE = Struct(
    "key_value",
    (
        Field("key", Kind.STRING, "Name of the setting or tag."),
        Field("value", Kind.STRING, "Value of the setting or tag."),
    ),
)
SUBTOPOLOGY_ID = Field("subtopology_id", Kind.STRING, "The subtopology.")
TASK_PARTITIONS = Field("partitions", Array(Kind.INT32), "Partitions of its input, one task each.")
TARGET_TASKS = Struct("task_ids", (SUBTOPOLOGY_ID, TASK_PARTITIONS))
OWNED_TASKS = Struct("task_ids", (SUBTOPOLOGY_ID, TASK_PARTITIONS, ASSIGNMENT_EPOCHS))


def tasks(of: Struct, suffix: str, what: str) -> tuple[Field, ...]:
    return tuple(
        Field(f"{role}_tasks{suffix}", Array(of), f"{role.capitalize()} tasks {what}.")
        for role in ("active", "standby", "warmup")
    )


def topology_epoch(name: str, about: str, tag: int, since: str) -> Field:
    return Field(name, Kind.INT32, about, tag=tag, default=-1, since=since)


GROUP_METADATA = Message(
    "StreamsGroupMetadataValue",
    (
        Shape(
            (
                Field("epoch", Kind.INT32, "The group epoch."),
                Field("metadata_hash", Kind.INT64, "Hash over the source topics."),
                topology_epoch(
                    "validated_topology_epoch", "Topology epoch whose topics the coordinator found valid.", 0, "4.2"
                ),
                Field(
                    "last_assignment_configs",
                    Array(KEY_VALUE),
                    "Settings with which the last assignment was made.",
                    nullable=True,
                    tag=1,
                    since="4.2",
                ),
                topology_epoch(
                    "stored_description_topology_epoch",
                    "Topology epoch whose description is stored; -2: the broker does not know whether it is.",
                    2,
                    "4.4",
                ),
                topology_epoch(
                    "failed_description_topology_epoch",
                    "Topology epoch whose description could not be stored.",
                    3,
                    "4.4",
                ),
            ),
            releases="4.1+",
            provenance=KIP,
            flexible_from=0,
        ),
    ),
)

PARTITION_METADATA = Message(
    "StreamsGroupPartitionMetadataValue",
    (
        Shape(
            (
                Field(
                    "topics",
                    Array(
                        Struct(
                            "topic_metadata",
                            (
                                TOPIC_ID,
                                TOPIC_NAME,
                                Field("num_partitions", Kind.INT32, "How many partitions the topic has."),
                            ),
                        )
                    ),
                    "The source topics as the coordinator sees them.",
                ),
            ),
            releases="development builds between 4.0 and 4.1, never by a release",
            provenance=KIP,
            flexible_from=0,
        ),
    ),
)

MEMBER_METADATA = Message(
    "StreamsGroupMemberMetadataValue",
    (
        Shape(
            (
                Field(
                    "instance_id", Kind.STRING, "The member's own static id, null for dynamic members.", nullable=True
                ),
                Field("rack_id", Kind.STRING, "The member's rack.", nullable=True),
                Field("client_id", Kind.STRING, "The client id of the member's connection."),
                Field("client_host", Kind.STRING, "The member's address as Java prints it."),
                Field("rebalance_timeout_ms", Kind.INT32, "How long the member may take to give tasks up.", default=-1),
                Field("topology_epoch", Kind.INT32, "Epoch of the topology that the member runs."),
                Field("process_id", Kind.STRING, "The process in which the member runs."),
                Field(
                    "user_endpoint",
                    Struct(
                        "endpoint",
                        (Field("host", Kind.STRING, "Host name."), Field("port", Kind.UINT16, "Port.")),
                    ),
                    "Where the process answers interactive queries.",
                    nullable=True,
                ),
                Field("client_tags", Array(KEY_VALUE), "Tags for rack-aware standby tasks, sorted by key."),
            ),
            releases="4.1+",
            provenance=KIP,
            flexible_from=0,
        ),
    ),
)

TARGET_METADATA = Message(
    "StreamsGroupTargetAssignmentMetadataValue",
    (
        Shape(
            (ASSIGNMENT_EPOCH, ASSIGNMENT_TIMESTAMP),
            releases="4.1+",
            provenance="KIP-1071; timestamp by KIP-1263",
            flexible_from=0,
        ),
    ),
)

TARGET_MEMBER = Message(
    "StreamsGroupTargetAssignmentMemberValue",
    (Shape(tasks(TARGET_TASKS, "", "that the member must run"), releases="4.1+", provenance=KIP, flexible_from=0),),
)

CURRENT_ASSIGNMENT = Message(
    "StreamsGroupCurrentMemberAssignmentValue",
    (
        Shape(
            (
                MEMBER_EPOCH,
                PREVIOUS_MEMBER_EPOCH,
                Field(
                    "state",
                    Kind.INT8,
                    "1 stable, 2 unrevoked tasks, 3 unreleased tasks: not the codes of consumer groups.",
                ),
                *tasks(OWNED_TASKS, "", "that the member runs"),
                *tasks(OWNED_TASKS, "_pending_revocation", "that the member is asked to give up"),
            ),
            releases="4.1+",
            provenance="KIP-1071; assignment epochs since 4.2",
            flexible_from=0,
        ),
    ),
)

TOPIC_INFO = Struct(
    "topic_info",
    (
        Field("name", Kind.STRING, "The topic's name."),
        Field("partitions", Kind.INT32, "How many partitions the topic must have; 0 is any number."),
        Field("replication_factor", Kind.INT16, "Replication factor of the topic; 0 is the broker's default."),
        Field("topic_configs", Array(KEY_VALUE), "Its settings."),
    ),
)

COPARTITION_GROUP = Struct(
    "copartition_group",
    (
        Field("source_topics", Array(Kind.INT16), "Indexes into the subtopology's source topics."),
        Field("source_topic_regex", Array(Kind.INT16), "Indexes into its source patterns."),
        Field("repartition_source_topics", Array(Kind.INT16), "Indexes into its repartition source topics."),
    ),
)

SUBTOPOLOGY = Struct(
    "subtopology",
    (
        SUBTOPOLOGY_ID,
        Field("source_topics", Array(Kind.STRING), "Topics that it reads."),
        Field("source_topic_regex", Array(Kind.STRING), "Patterns of topics that it reads."),
        Field("state_changelog_topics", Array(TOPIC_INFO), "Changelogs of its state stores."),
        Field("repartition_sink_topics", Array(Kind.STRING), "Repartition topics that it writes."),
        Field("repartition_source_topics", Array(TOPIC_INFO), "Repartition topics that it reads."),
        Field("copartition_groups", Array(COPARTITION_GROUP), "Topics that must have equal partition counts."),
    ),
)

TOPOLOGY = Message(
    "StreamsGroupTopologyValue",
    (
        Shape(
            (
                Field("epoch", Kind.INT32, "Epoch of the topology."),
                Field("subtopologies", Array(SUBTOPOLOGY), "Its parts."),
            ),
            releases="4.1+",
            provenance=KIP,
            flexible_from=0,
        ),
    ),
)

RECORDS = (
    RecordType(
        17,
        "StreamsGroupMetadata",
        "group_metadata",
        GroupType.STREAMS,
        GROUP_KEY,
        GROUP_METADATA,
        "The group epoch.",
        "4.1+",
    ),
    RecordType(
        18,
        "StreamsGroupPartitionMetadata",
        "group_partition_metadata",
        GroupType.STREAMS,
        GROUP_KEY,
        PARTITION_METADATA,
        "The source topics, as the coordinator sees them.",
        "development builds between 4.0 and 4.1; no release",
    ),
    RecordType(
        19,
        "StreamsGroupMemberMetadata",
        "group_member_metadata",
        GroupType.STREAMS,
        MEMBER_KEY,
        MEMBER_METADATA,
        "A member and the process in which it runs.",
        "4.1+",
    ),
    RecordType(
        20,
        "StreamsGroupTargetAssignmentMetadata",
        "target_assignment_metadata",
        GroupType.STREAMS,
        GROUP_KEY,
        TARGET_METADATA,
        "The epoch of the target assignment: the last record of a target, which completes it.",
        "4.1+",
    ),
    RecordType(
        21,
        "StreamsGroupTargetAssignmentMember",
        "target_assignment_members",
        GroupType.STREAMS,
        MEMBER_KEY,
        TARGET_MEMBER,
        "Tasks that one member must run.",
        "4.1+",
    ),
    RecordType(
        22,
        "StreamsGroupCurrentMemberAssignment",
        "current_member_assignments",
        GroupType.STREAMS,
        MEMBER_KEY,
        CURRENT_ASSIGNMENT,
        "Tasks that one member runs now.",
        "4.1+",
    ),
    RecordType(
        23,
        "StreamsGroupTopology",
        "streams_group_topologies",
        GroupType.STREAMS,
        GROUP_KEY,
        TOPOLOGY,
        "The topology that the group runs.",
        "4.1+",
    ),
)
