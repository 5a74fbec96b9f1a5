"""Type 2: a classic group with all its members, written whole at each completed generation."""

from schemas.declarations.fields import Array, Field, Kind, Message, RecordType, Shape, Struct
from schemas.words.records import GroupType

MEMBER = Struct(
    "member",
    (
        Field("member_id", Kind.STRING, "The id that the coordinator gave the member."),
        Field(
            "group_instance_id",
            Kind.STRING,
            "The member's own static id, null for dynamic members.",
            first=3,
            nullable=True,
            since="2.3, KIP-345",
        ),
        Field("client_id", Kind.STRING, "The client id of the member's connection."),
        Field("client_host", Kind.STRING, "The member's address as Java prints it, usually /10.0.0.1."),
        Field(
            "rebalance_timeout",
            Kind.INT32,
            "How long the member may take to join, in ms; readers of version 0 use the session timeout.",
            first=1,
            default=-1,
            since="0.10.1, KIP-62",
        ),
        Field(
            "session_timeout",
            Kind.INT32,
            "The coordinator removes the member after this time without a heartbeat, in ms.",
        ),
        Field("subscription", Kind.BYTES, "The member's metadata for the selected protocol."),
        Field(
            "assignment",
            Kind.BYTES,
            "What the leader assigned to the member; length 0: the leader sent no assignment for the member.",
        ),
    ),
)

VALUE = Message(
    "GroupMetadataValue",
    (
        Shape(
            (
                Field(
                    "protocol_type",
                    Kind.STRING,
                    "What kind of clients the group has: consumer, connect, sr; empty for none.",
                ),
                Field("generation", Kind.INT32, "The generation, written when its rebalance is complete."),
                Field(
                    "protocol",
                    Kind.STRING,
                    "The assignor that members agreed on, null in an empty group.",
                    nullable=True,
                ),
                Field("leader", Kind.STRING, "Member id of the leader, null in an empty group.", nullable=True),
                Field(
                    "current_state_timestamp",
                    Kind.INT64,
                    "When the group entered the state that it had when the record was written, in ms; -1 is unknown.",
                    first=2,
                    default=-1,
                    since="2.1, KIP-211",
                ),
                Field("members", Array(MEMBER), "Every member of the generation."),
            ),
            releases="0.9.0+ (version 0), 0.10.1+ (1), 2.1+ (2), 2.3+ (3); no release writes version 4",
            provenance="Version 1 adds the rebalance timeout (KIP-62), version 2 the time of the state (KIP-211), "
            "version 3 static ids (KIP-345), version 4 is flexible (KIP-915)",
            last=4,
            flexible_from=4,
        ),
    ),
)

RECORDS = (
    RecordType(
        2,
        "GroupMetadata",
        "classic_group_metadata",
        GroupType.CLASSIC,
        (Field("group", Kind.STRING, "The group."),),
        VALUE,
        "A classic group: generation, protocol and every member with subscription and assignment.",
        "0.9.0+",
    ),
)
