"""Values of offset commits (types 0 and 1) and of classic groups (type 2): versions 0 to 3 classic, 4 flexible."""

from tests.oracles.decoding.reader import (
    Struct,
    array,
    compact_array,
    compact_bytes,
    compact_string,
    int32,
    int64,
    nullable_compact_string,
    nullable_string,
    plain_bytes,
    string,
    struct,
    uuid,
)


@struct
def offset_commit_v0(value: Struct) -> None:
    value.read("offset", int64)
    value.read("metadata", string)
    value.read("commit_timestamp", int64)


@struct
def offset_commit_v1(value: Struct) -> None:
    value.read("offset", int64)
    value.read("metadata", string)
    value.read("commit_timestamp", int64)
    value.read("expire_timestamp", int64)


@struct
def offset_commit_v2(value: Struct) -> None:
    value.read("offset", int64)
    value.read("metadata", string)
    value.read("commit_timestamp", int64)


@struct
def offset_commit_v3(value: Struct) -> None:
    value.read("offset", int64)
    value.read("leader_epoch", int32)
    value.read("metadata", string)
    value.read("commit_timestamp", int64)


@struct
def offset_commit_v4(value: Struct) -> None:
    value.read("offset", int64)
    value.read("leader_epoch", int32)
    value.read("metadata", compact_string)
    value.read("commit_timestamp", int64)
    value.tags({0: ("topic_id", uuid)})


@struct
def member_v0(member: Struct) -> None:
    member.read("member_id", string)
    member.read("client_id", string)
    member.read("client_host", string)
    member.read("session_timeout", int32)
    member.read("subscription", plain_bytes)
    member.read("assignment", plain_bytes)


@struct
def member_v1(member: Struct) -> None:
    member.read("member_id", string)
    member.read("client_id", string)
    member.read("client_host", string)
    member.read("rebalance_timeout", int32)
    member.read("session_timeout", int32)
    member.read("subscription", plain_bytes)
    member.read("assignment", plain_bytes)


@struct
def member_v3(member: Struct) -> None:
    member.read("member_id", string)
    member.read("group_instance_id", nullable_string)
    member.read("client_id", string)
    member.read("client_host", string)
    member.read("rebalance_timeout", int32)
    member.read("session_timeout", int32)
    member.read("subscription", plain_bytes)
    member.read("assignment", plain_bytes)


@struct
def member_v4(member: Struct) -> None:
    member.read("member_id", compact_string)
    member.read("group_instance_id", nullable_compact_string)
    member.read("client_id", compact_string)
    member.read("client_host", compact_string)
    member.read("rebalance_timeout", int32)
    member.read("session_timeout", int32)
    member.read("subscription", compact_bytes)
    member.read("assignment", compact_bytes)
    member.tags()


@struct
def group_metadata_v0(value: Struct) -> None:
    value.read("protocol_type", string)
    value.read("generation", int32)
    value.read("protocol", nullable_string)
    value.read("leader", nullable_string)
    value.read("members", array(member_v0))


@struct
def group_metadata_v1(value: Struct) -> None:
    value.read("protocol_type", string)
    value.read("generation", int32)
    value.read("protocol", nullable_string)
    value.read("leader", nullable_string)
    value.read("members", array(member_v1))


@struct
def group_metadata_v2(value: Struct) -> None:
    value.read("protocol_type", string)
    value.read("generation", int32)
    value.read("protocol", nullable_string)
    value.read("leader", nullable_string)
    value.read("current_state_timestamp", int64)
    value.read("members", array(member_v1))


@struct
def group_metadata_v3(value: Struct) -> None:
    value.read("protocol_type", string)
    value.read("generation", int32)
    value.read("protocol", nullable_string)
    value.read("leader", nullable_string)
    value.read("current_state_timestamp", int64)
    value.read("members", array(member_v3))


@struct
def group_metadata_v4(value: Struct) -> None:
    value.read("protocol_type", compact_string)
    value.read("generation", int32)
    value.read("protocol", nullable_compact_string)
    value.read("leader", nullable_compact_string)
    value.read("current_state_timestamp", int64)
    value.read("members", compact_array(member_v4))
    value.tags()
