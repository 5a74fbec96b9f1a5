"""Types 9 to 15: share groups (KIP-932)."""

from schemas.declarations.fields import Array, Field, Kind, Message, RecordType, Shape, Struct
from schemas.records.modern_fields import (
    ASSIGNMENT_EPOCH,
    ASSIGNMENT_TIMESTAMP,
    GROUP_KEY,
    MEMBER_EPOCH,
    MEMBER_KEY,
    PARTITIONS,
    PREVIOUS_MEMBER_EPOCH,
    TOPIC_ID,
    TOPIC_METADATA,
    TOPIC_NAME,
    TOPIC_PARTITIONS,
)
from schemas.words.records import GroupType

KIP = "KIP-932"

STATE_TOPIC = Struct("topic_partitions_info", (TOPIC_ID, TOPIC_NAME, PARTITIONS))
INITIALIZING = Field(
    "initializing_topics", Array(STATE_TOPIC), "Partitions whose share state is being set up.", since="4.1"
)
INITIALIZED = Field("initialized_topics", Array(STATE_TOPIC), "Partitions whose share state is set up.")
DELETING = Field(
    "deleting_topics",
    Array(Struct("topic_info", (TOPIC_ID, TOPIC_NAME))),
    "Topics whose share state is being deleted.",
)

PARTITION_METADATA = Message(
    "ShareGroupPartitionMetadataValue",
    (
        Shape(
            (Field("topics", Array(TOPIC_METADATA), "The subscribed topics as the coordinator sees them."),),
            releases="4.0",
            provenance=KIP,
            flexible_from=0,
        ),
        Shape((INITIALIZED, DELETING), releases="declared in 3.9, never written", provenance=KIP, flexible_from=0),
    ),
)

MEMBER_METADATA = Message(
    "ShareGroupMemberMetadataValue",
    (
        Shape(
            (
                Field("rack_id", Kind.STRING, "The member's rack.", nullable=True),
                Field("client_id", Kind.STRING, "The client id of the member's connection."),
                Field("client_host", Kind.STRING, "The member's address as Java prints it."),
                Field("subscribed_topic_names", Array(Kind.STRING), "Topics subscribed by name, sorted."),
            ),
            releases="4.0+",
            provenance=KIP,
            flexible_from=0,
        ),
    ),
)

EPOCH = Field("epoch", Kind.INT32, "The group epoch.")

GROUP_METADATA = Message(
    "ShareGroupMetadataValue",
    (
        Shape(
            # Untagged, so these bytes are eight longer than 4.0's under the same version.
            (
                EPOCH,
                Field("metadata_hash", Kind.INT64, "Hash over the subscribed topics; 0 without topics.", since="4.1"),
            ),
            releases="4.1+",
            provenance="KIP-932; metadata hash by KIP-1101",
            flexible_from=0,
        ),
        Shape((EPOCH,), releases="4.0", provenance=KIP, flexible_from=0),
    ),
)

TARGET_METADATA = Message(
    "ShareGroupTargetAssignmentMetadataValue",
    (
        Shape(
            (ASSIGNMENT_EPOCH, ASSIGNMENT_TIMESTAMP),
            releases="4.0+",
            provenance="KIP-932; timestamp by KIP-1263",
            flexible_from=0,
        ),
    ),
)

TARGET_MEMBER = Message(
    "ShareGroupTargetAssignmentMemberValue",
    (
        Shape(
            (
                Field(
                    "topic_partitions",
                    Array(TOPIC_PARTITIONS),
                    "Partitions that the member must read; may be empty at first.",
                ),
            ),
            releases="4.0+",
            provenance=KIP,
            flexible_from=0,
        ),
    ),
)

CURRENT_ASSIGNMENT = Message(
    "ShareGroupCurrentMemberAssignmentValue",
    (
        Shape(
            (
                MEMBER_EPOCH,
                PREVIOUS_MEMBER_EPOCH,
                Field("state", Kind.INT8, "0 stable, 1 unrevoked partitions, 2 unreleased partitions."),
                Field(
                    "assigned_partitions",
                    Array(TOPIC_PARTITIONS),
                    "Partitions that the member reads; other members may read them too.",
                ),
            ),
            releases="4.0+",
            provenance=KIP,
            flexible_from=0,
        ),
    ),
)

STATE_METADATA = Message(
    "ShareGroupStatePartitionMetadataValue",
    (
        Shape((INITIALIZING, INITIALIZED, DELETING), releases="4.1+", provenance=KIP, flexible_from=0),
        Shape((INITIALIZED, DELETING), releases="declared in 4.0, never written", provenance=KIP, flexible_from=0),
    ),
)

RECORDS = (
    RecordType(
        9,
        "ShareGroupPartitionMetadata",
        "group_partition_metadata",
        GroupType.SHARE,
        GROUP_KEY,
        PARTITION_METADATA,
        "The subscribed topics, as the coordinator sees them.",
        "4.0; the number is unused from 4.1",
    ),
    RecordType(
        10,
        "ShareGroupMemberMetadata",
        "group_member_metadata",
        GroupType.SHARE,
        MEMBER_KEY,
        MEMBER_METADATA,
        "A member and what it subscribes to.",
        "4.0+",
    ),
    RecordType(
        11,
        "ShareGroupMetadata",
        "group_metadata",
        GroupType.SHARE,
        GROUP_KEY,
        GROUP_METADATA,
        "The group epoch.",
        "4.0+",
    ),
    RecordType(
        12,
        "ShareGroupTargetAssignmentMetadata",
        "target_assignment_metadata",
        GroupType.SHARE,
        GROUP_KEY,
        TARGET_METADATA,
        "The epoch of the target assignment: the last record of a target, which completes it.",
        "4.0+",
    ),
    RecordType(
        13,
        "ShareGroupTargetAssignmentMember",
        "target_assignment_members",
        GroupType.SHARE,
        MEMBER_KEY,
        TARGET_MEMBER,
        "Partitions that one member must read.",
        "4.0+",
    ),
    RecordType(
        14,
        "ShareGroupCurrentMemberAssignment",
        "current_member_assignments",
        GroupType.SHARE,
        MEMBER_KEY,
        CURRENT_ASSIGNMENT,
        "Partitions that one member reads now.",
        "4.0+",
    ),
    RecordType(
        15,
        "ShareGroupStatePartitionMetadata",
        "group_partition_metadata",
        GroupType.SHARE,
        GROUP_KEY,
        STATE_METADATA,
        "Topics whose state for the share group (delivery of messages) is being set up, is set up or is being deleted.",
        "4.1+",
    ),
)
