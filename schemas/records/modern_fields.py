"""Keys and structures that records of consumer, share and streams groups have in common."""

from schemas.declarations.fields import Array, Field, Kind, Struct

GROUP_KEY = (Field("group_id", Kind.STRING, "The group."),)
MEMBER_KEY = (*GROUP_KEY, Field("member_id", Kind.STRING, "The member."))

TOPIC_ID = Field("topic_id", Kind.UUID, "The topic's id.")
TOPIC_NAME = Field("topic_name", Kind.STRING, "The topic's name.")
PARTITIONS = Field("partitions", Array(Kind.INT32), "Partitions of it, in no particular order.")

TOPIC_PARTITIONS = Struct("topic_partitions", (TOPIC_ID, PARTITIONS))

ASSIGNMENT_EPOCHS = Field(
    "assignment_epochs",
    Array(Kind.INT32),
    "Epoch at which each partition was assigned, in the order of the partitions; 0 after a static return.",
    nullable=True,
    tag=0,
)

TOPIC_METADATA = Struct(
    "topic_metadata",
    (
        TOPIC_ID,
        TOPIC_NAME,
        Field("num_partitions", Kind.INT32, "How many partitions the topic has."),
        Field(
            "partition_metadata",
            Array(
                Struct(
                    "partition_metadata",
                    (
                        Field("partition", Kind.INT32, "The partition."),
                        Field("racks", Array(Kind.STRING), "Racks of its replicas."),
                    ),
                )
            ),
            "Racks of each partition; empty when none is known.",
        ),
    ),
)

MEMBER_EPOCH = Field(
    "member_epoch", Kind.INT32, "Epoch that the member has reached; -2 is a static member that left for a while."
)
PREVIOUS_MEMBER_EPOCH = Field("previous_member_epoch", Kind.INT32, "The member's epoch before this one.")
ASSIGNMENT_EPOCH = Field("assignment_epoch", Kind.INT32, "Epoch of the group's target assignment.")
ASSIGNMENT_TIMESTAMP = Field(
    "assignment_timestamp",
    Kind.INT64,
    "When the assignor finished, in ms; 0 is unknown.",
    tag=0,
    default=0,
    since="4.3, KIP-1263",
)

# Early access of the consumer protocol kept an assignor's own bytes beside each assignment.
EARLY_ERROR = Field("error", Kind.INT8, "Error code of the assignor.")
EARLY_METADATA = (
    Field("metadata_version", Kind.INT16, "Version of the assignor's metadata."),
    Field("metadata_bytes", Kind.BYTES, "The assignor's metadata."),
)
