"""Types 0 and 1: a group's committed offsets."""

from schemas.declarations.fields import ZERO_UUID, Field, Kind, Message, RecordType, Shape

KEY = (
    Field("group", Kind.STRING, "The group that commits."),
    Field("topic", Kind.STRING, "Topic of the committed offset."),
    Field("partition", Kind.INT32, "The partition of that topic."),
)

VALUE = Message(
    "OffsetCommitValue",
    (
        Shape(
            (
                Field(
                    "offset",
                    Kind.INT64,
                    "The committed offset; may be negative, brokers do not check it.",
                    since="0.8.2",
                ),
                Field(
                    "leader_epoch",
                    Kind.INT32,
                    "Leader epoch of the last consumed message, -1 when the client sent none.",
                    first=3,
                    default=-1,
                    since="2.1, KIP-320",
                ),
                Field("metadata", Kind.STRING, "Any text that the client attached.", since="0.8.2"),
                Field(
                    "commit_timestamp",
                    Kind.INT64,
                    "The broker's clock when it received the request, in ms.",
                    since="0.8.2",
                ),
                Field(
                    "expire_timestamp",
                    Kind.INT64,
                    "When the offset expires, for requests that name a retention time, in ms.",
                    first=1,
                    last=1,
                    default=-1,
                    since="0.9.0",
                ),
                Field(
                    "topic_id",
                    Kind.UUID,
                    "Id of the topic. Plain commits have it from 4.3 on, before that if the client sends it (4.1). "
                    "Transactional ones have it from 4.4 on (KIP-1319).",
                    first=4,
                    tag=0,
                    default=ZERO_UUID,
                    since="4.1, KIP-848",
                ),
            ),
            releases="0.8.2+ (version 0), 0.9.0+ (1), 2.1+ (2 and 3), 4.1+ (4)",
            provenance="Version 1 has an expire timestamp, version 2 has none again (KIP-211), version 3 adds the "
            "leader epoch (KIP-320), version 4 is flexible (KIP-915)",
            last=4,
            flexible_from=4,
        ),
    ),
)

RECORDS = (
    RecordType(
        0,
        "LegacyOffsetCommit",
        "offset_commits",
        None,
        KEY,
        VALUE,
        "A committed offset, with the oldest version of the key. A record of type 0 and one of type 1 with the same "
        "key fields set the same offset.",
        "0.8.2 only; every release reads it",
    ),
    RecordType(
        1,
        "OffsetCommit",
        "offset_commits",
        None,
        KEY,
        VALUE,
        "A committed offset of one group and partition.",
        "0.9.0+",
    ),
)
