"""Values of consumer groups (types 3 to 8 and 16) and share groups (9 to 15): version 0, flexible.

Where releases wrote different bytes under this one version number, the function's name ends in the release.
"""

from tests.oracles.decoding.reader import (
    Struct,
    compact_array,
    compact_bytes,
    compact_string,
    int8,
    int16,
    int32,
    int64,
    nullable_compact_array,
    nullable_compact_string,
    nullable_tagged_struct,
    struct,
    uuid,
)


@struct
def topic_partitions(topic: Struct) -> None:
    topic.read("topic_id", uuid)
    topic.read("partitions", compact_array(int32))
    topic.tags()


@struct
def topic_partitions_with_epochs(topic: Struct) -> None:
    topic.read("topic_id", uuid)
    topic.read("partitions", compact_array(int32))
    topic.tags({0: ("assignment_epochs", nullable_compact_array(int32))})


@struct
def partition_racks(partition: Struct) -> None:
    partition.read("partition", int32)
    partition.read("racks", compact_array(compact_string))
    partition.tags()


@struct
def topic_metadata(topic: Struct) -> None:
    topic.read("topic_id", uuid)
    topic.read("topic_name", compact_string)
    topic.read("num_partitions", int32)
    topic.read("partition_metadata", compact_array(partition_racks))
    topic.tags()


@struct
def consumer_group_metadata(value: Struct) -> None:
    value.read("epoch", int32)
    value.tags({0: ("metadata_hash", int64)})


@struct
def consumer_group_partition_metadata(value: Struct) -> None:
    value.read("topics", compact_array(topic_metadata))
    value.tags()


@struct
def consumer_group_partition_metadata_3_7(value: Struct) -> None:
    value.read("epoch", int32)
    value.read("topics", compact_array(topic_metadata))
    value.tags()


@struct
def supported_protocol(protocol: Struct) -> None:
    protocol.read("name", compact_string)
    protocol.read("metadata", compact_bytes)
    protocol.tags()


@struct
def classic_member_metadata(member: Struct) -> None:
    member.read("session_timeout_ms", int32)
    member.read("supported_protocols", compact_array(supported_protocol))
    member.tags()


@struct
def consumer_group_member_metadata(value: Struct) -> None:
    value.read("instance_id", nullable_compact_string)
    value.read("rack_id", nullable_compact_string)
    value.read("client_id", compact_string)
    value.read("client_host", compact_string)
    value.read("subscribed_topic_names", compact_array(compact_string))
    value.read("subscribed_topic_regex", nullable_compact_string)
    value.read("rebalance_timeout_ms", int32)
    value.read("server_assignor", nullable_compact_string)
    value.tags({0: ("classic_member_metadata", nullable_tagged_struct(classic_member_metadata))})


@struct
def client_assignor_3_7(assignor: Struct) -> None:
    assignor.read("name", compact_string)
    assignor.read("minimum_version", int16)
    assignor.read("maximum_version", int16)
    assignor.read("reason", int8)
    assignor.read("version", int16)
    assignor.read("metadata", compact_bytes)
    assignor.tags()


@struct
def consumer_group_member_metadata_3_7(value: Struct) -> None:
    value.read("instance_id", nullable_compact_string)
    value.read("rack_id", nullable_compact_string)
    value.read("client_id", compact_string)
    value.read("client_host", compact_string)
    value.read("subscribed_topic_names", compact_array(compact_string))
    value.read("subscribed_topic_regex", nullable_compact_string)
    value.read("rebalance_timeout_ms", int32)
    value.read("server_assignor", nullable_compact_string)
    value.read("assignors", compact_array(client_assignor_3_7))
    value.tags()


@struct
def target_assignment_metadata(value: Struct) -> None:
    """Types 6, 12 and 20."""
    value.read("assignment_epoch", int32)
    value.tags({0: ("assignment_timestamp", int64)})


@struct
def target_assignment_member(value: Struct) -> None:
    """Types 7 and 13."""
    value.read("topic_partitions", compact_array(topic_partitions))
    value.tags()


@struct
def target_assignment_member_3_7(value: Struct) -> None:
    value.read("error", int8)
    value.read("topic_partitions", compact_array(topic_partitions))
    value.read("metadata_version", int16)
    value.read("metadata_bytes", compact_bytes)
    value.tags()


@struct
def current_member_assignment(value: Struct) -> None:
    value.read("member_epoch", int32)
    value.read("previous_member_epoch", int32)
    value.read("state", int8)
    value.read("assigned_partitions", compact_array(topic_partitions_with_epochs))
    value.read("partitions_pending_revocation", compact_array(topic_partitions_with_epochs))
    value.tags()


@struct
def current_member_assignment_3_7(value: Struct) -> None:
    value.read("member_epoch", int32)
    value.read("previous_member_epoch", int32)
    value.read("target_member_epoch", int32)
    value.read("assigned_partitions", compact_array(topic_partitions))
    value.read("partitions_pending_revocation", compact_array(topic_partitions))
    value.read("partitions_pending_assignment", compact_array(topic_partitions))
    value.read("error", int8)
    value.read("metadata_version", int16)
    value.read("metadata_bytes", compact_bytes)
    value.tags()


@struct
def consumer_group_regular_expression(value: Struct) -> None:
    value.read("topics", compact_array(compact_string))
    value.read("version", int64)
    value.read("timestamp", int64)
    value.tags()


@struct
def named_topic_partitions(topic: Struct) -> None:
    topic.read("topic_id", uuid)
    topic.read("topic_name", compact_string)
    topic.read("partitions", compact_array(int32))
    topic.tags()


@struct
def named_topic(topic: Struct) -> None:
    topic.read("topic_id", uuid)
    topic.read("topic_name", compact_string)
    topic.tags()


@struct
def share_group_partition_metadata_4_0(value: Struct) -> None:
    value.read("topics", compact_array(topic_metadata))
    value.tags()


@struct
def share_group_partition_metadata_3_9(value: Struct) -> None:
    value.read("initialized_topics", compact_array(named_topic_partitions))
    value.read("deleting_topics", compact_array(named_topic))
    value.tags()


@struct
def share_group_member_metadata(value: Struct) -> None:
    value.read("rack_id", nullable_compact_string)
    value.read("client_id", compact_string)
    value.read("client_host", compact_string)
    value.read("subscribed_topic_names", compact_array(compact_string))
    value.tags()


@struct
def share_group_metadata(value: Struct) -> None:
    value.read("epoch", int32)
    value.read("metadata_hash", int64)
    value.tags()


@struct
def share_group_metadata_4_0(value: Struct) -> None:
    value.read("epoch", int32)
    value.tags()


@struct
def share_group_current_member_assignment(value: Struct) -> None:
    value.read("member_epoch", int32)
    value.read("previous_member_epoch", int32)
    value.read("state", int8)
    value.read("assigned_partitions", compact_array(topic_partitions))
    value.tags()


@struct
def share_group_state_partition_metadata(value: Struct) -> None:
    value.read("initializing_topics", compact_array(named_topic_partitions))
    value.read("initialized_topics", compact_array(named_topic_partitions))
    value.read("deleting_topics", compact_array(named_topic))
    value.tags()


@struct
def share_group_state_partition_metadata_4_0(value: Struct) -> None:
    value.read("initialized_topics", compact_array(named_topic_partitions))
    value.read("deleting_topics", compact_array(named_topic))
    value.tags()
