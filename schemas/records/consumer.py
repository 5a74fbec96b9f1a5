"""Types 3 to 8 and 16: groups of the consumer protocol (KIP-848)."""

from schemas.declarations.fields import Array, Field, Kind, Message, RecordType, Shape, Struct
from schemas.records.modern_fields import (
    ASSIGNMENT_EPOCH,
    ASSIGNMENT_EPOCHS,
    ASSIGNMENT_TIMESTAMP,
    EARLY_ERROR,
    EARLY_METADATA,
    GROUP_KEY,
    MEMBER_EPOCH,
    MEMBER_KEY,
    PARTITIONS,
    PREVIOUS_MEMBER_EPOCH,
    TOPIC_ID,
    TOPIC_METADATA,
    TOPIC_PARTITIONS,
)
from schemas.words.records import GroupType

EARLY_ACCESS = "KIP-848 in early access; the bytes changed in 3.8 under the same version"

GROUP_METADATA = Message(
    "ConsumerGroupMetadataValue",
    (
        Shape(
            (
                Field(
                    "epoch",
                    Kind.INT32,
                    "The group epoch: rises when members, subscriptions or topics change.",
                    since="3.7",
                ),
                Field(
                    "metadata_hash",
                    Kind.INT64,
                    "Hash over the subscribed topics' ids, names, partition counts and racks; 0 without topics.",
                    tag=0,
                    default=0,
                    since="4.1, KIP-1101",
                ),
            ),
            releases="3.7+",
            provenance="KIP-848; metadata hash by KIP-1101",
            flexible_from=0,
        ),
    ),
)

TOPICS = Field("topics", Array(TOPIC_METADATA), "The subscribed topics as the coordinator sees them.")

PARTITION_METADATA = Message(
    "ConsumerGroupPartitionMetadataValue",
    (
        Shape(
            (TOPICS,),
            releases="3.8 to 4.0",
            provenance="KIP-848; replaced by the metadata hash, KIP-1101",
            flexible_from=0,
        ),
        Shape(
            (Field("epoch", Kind.INT32, "The group epoch with these topics."), TOPICS),
            releases="3.7",
            provenance=EARLY_ACCESS,
            flexible_from=0,
        ),
    ),
)

MEMBER_FIELDS = (
    Field("instance_id", Kind.STRING, "The member's own static id, null for dynamic members.", nullable=True),
    Field("rack_id", Kind.STRING, "The member's rack.", nullable=True),
    Field("client_id", Kind.STRING, "The client id of the member's connection."),
    Field("client_host", Kind.STRING, "The member's address as Java prints it."),
    Field("subscribed_topic_names", Array(Kind.STRING), "Topics subscribed by name, sorted."),
    Field(
        "subscribed_topic_regex",
        Kind.STRING,
        "Topics subscribed by pattern; null and empty both mean none.",
        nullable=True,
    ),
    Field("rebalance_timeout_ms", Kind.INT32, "How long the member may take to give partitions up.", default=-1),
    Field("server_assignor", Kind.STRING, "The assignor that the member asks for.", nullable=True),
)

CLASSIC_MEMBER = Struct(
    "classic_member_metadata",
    (
        Field("session_timeout_ms", Kind.INT32, "Session timeout of the member's join request."),
        Field(
            "supported_protocols",
            Array(
                Struct(
                    "classic_protocol",
                    (
                        Field("name", Kind.STRING, "Name of the assignor."),
                        Field("metadata", Kind.BYTES, "The member's subscription for this assignor."),
                    ),
                )
            ),
            "Every protocol that the member offered.",
        ),
    ),
)

EARLY_ASSIGNOR = Struct(
    "assignor",
    (
        Field("name", Kind.STRING, "Name of the client-side assignor."),
        Field("minimum_version", Kind.INT16, "Lowest metadata version that the assignor reads."),
        Field("maximum_version", Kind.INT16, "Highest metadata version that the assignor reads."),
        Field("reason", Kind.INT8, "Why the member asks for a new assignment."),
        Field("version", Kind.INT16, "Version of the metadata."),
        Field("metadata", Kind.BYTES, "The assignor's metadata."),
    ),
)

MEMBER_METADATA = Message(
    "ConsumerGroupMemberMetadataValue",
    (
        Shape(
            (
                *MEMBER_FIELDS,
                Field(
                    "classic_member_metadata",
                    CLASSIC_MEMBER,
                    "Set while the member uses the classic protocol.",
                    nullable=True,
                    tag=0,
                    since="3.8",
                ),
            ),
            releases="3.8+",
            provenance="KIP-848",
            flexible_from=0,
        ),
        Shape(
            (*MEMBER_FIELDS, Field("assignors", Array(EARLY_ASSIGNOR), "Client-side assignors of the member.")),
            releases="3.7",
            provenance=EARLY_ACCESS,
            flexible_from=0,
        ),
    ),
)

TARGET_METADATA = Message(
    "ConsumerGroupTargetAssignmentMetadataValue",
    (
        Shape(
            (ASSIGNMENT_EPOCH, ASSIGNMENT_TIMESTAMP),
            releases="3.7+",
            provenance="KIP-848; timestamp by KIP-1263",
            flexible_from=0,
        ),
    ),
)

TARGET = Field("topic_partitions", Array(TOPIC_PARTITIONS), "Partitions that the member must own.")

TARGET_MEMBER = Message(
    "ConsumerGroupTargetAssignmentMemberValue",
    (
        Shape((TARGET,), releases="3.8+", provenance="KIP-848", flexible_from=0),
        Shape((EARLY_ERROR, TARGET, *EARLY_METADATA), releases="3.7", provenance=EARLY_ACCESS, flexible_from=0),
    ),
)

OWNED = Struct("topic_partitions", (TOPIC_ID, PARTITIONS, ASSIGNMENT_EPOCHS))

CURRENT_ASSIGNMENT = Message(
    "ConsumerGroupCurrentMemberAssignmentValue",
    (
        Shape(
            (
                MEMBER_EPOCH,
                PREVIOUS_MEMBER_EPOCH,
                Field("state", Kind.INT8, "0 stable, 1 unrevoked partitions, 2 unreleased partitions."),
                Field("assigned_partitions", Array(OWNED), "Partitions that the member owns."),
                Field(
                    "partitions_pending_revocation",
                    Array(OWNED),
                    "Partitions that the member must give up and still owns.",
                ),
            ),
            releases="3.8+",
            provenance="KIP-848; assignment epochs since 4.3, KIP-1251",
            flexible_from=0,
        ),
        Shape(
            (
                MEMBER_EPOCH,
                PREVIOUS_MEMBER_EPOCH,
                Field("target_member_epoch", Kind.INT32, "Epoch that the member must reach."),
                Field("assigned_partitions", Array(TOPIC_PARTITIONS), "Partitions that the member owns."),
                Field("partitions_pending_revocation", Array(TOPIC_PARTITIONS), "What the member is asked to give up."),
                Field("partitions_pending_assignment", Array(TOPIC_PARTITIONS), "What the member waits for."),
                EARLY_ERROR,
                *EARLY_METADATA,
            ),
            releases="3.7",
            provenance=EARLY_ACCESS,
            flexible_from=0,
        ),
    ),
)

REGULAR_EXPRESSION = Message(
    "ConsumerGroupRegularExpressionValue",
    (
        Shape(
            (
                Field("topics", Array(Kind.STRING), "Topics that the pattern matched, sorted."),
                Field(
                    "version",
                    Kind.INT64,
                    "Version of the cluster metadata with which the pattern was matched, -1 for none.",
                ),
                Field("timestamp", Kind.INT64, "When the pattern was matched, in ms."),
            ),
            releases="4.0+",
            provenance="KIP-848",
            flexible_from=0,
        ),
    ),
)

RECORDS = (
    RecordType(
        3,
        "ConsumerGroupMetadata",
        "group_metadata",
        GroupType.CONSUMER,
        GROUP_KEY,
        GROUP_METADATA,
        "The group epoch.",
        "3.7+",
    ),
    RecordType(
        4,
        "ConsumerGroupPartitionMetadata",
        "group_partition_metadata",
        GroupType.CONSUMER,
        GROUP_KEY,
        PARTITION_METADATA,
        "The subscribed topics, as the coordinator sees them.",
        "3.7 to 4.0; later releases write only tombstones",
    ),
    RecordType(
        5,
        "ConsumerGroupMemberMetadata",
        "group_member_metadata",
        GroupType.CONSUMER,
        MEMBER_KEY,
        MEMBER_METADATA,
        "A member and what it subscribes to.",
        "3.7+",
    ),
    RecordType(
        6,
        "ConsumerGroupTargetAssignmentMetadata",
        "target_assignment_metadata",
        GroupType.CONSUMER,
        GROUP_KEY,
        TARGET_METADATA,
        "The epoch of the target assignment: the last record of a target, which completes it.",
        "3.7+",
    ),
    RecordType(
        7,
        "ConsumerGroupTargetAssignmentMember",
        "target_assignment_members",
        GroupType.CONSUMER,
        MEMBER_KEY,
        TARGET_MEMBER,
        "Partitions that one member must own.",
        "3.7+",
    ),
    RecordType(
        8,
        "ConsumerGroupCurrentMemberAssignment",
        "current_member_assignments",
        GroupType.CONSUMER,
        MEMBER_KEY,
        CURRENT_ASSIGNMENT,
        "Partitions that one member owns now.",
        "3.7+",
    ),
    RecordType(
        16,
        "ConsumerGroupRegularExpression",
        "group_regular_expressions",
        GroupType.CONSUMER,
        (*GROUP_KEY, Field("regular_expression", Kind.STRING, "The pattern.")),
        REGULAR_EXPRESSION,
        "The topics that a subscribed pattern matches.",
        "4.0+",
    ),
)
