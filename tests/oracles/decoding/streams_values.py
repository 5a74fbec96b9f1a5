"""Values of streams groups (types 17 to 19 and 21 to 23): version 0, flexible. Type 20 has the layout of 6 and 12."""

from tests.oracles.decoding.reader import (
    Struct,
    compact_array,
    compact_string,
    int8,
    int16,
    int32,
    int64,
    nullable_compact_array,
    nullable_compact_string,
    nullable_struct,
    struct,
    uint16,
    uuid,
)


@struct
def key_value(pair: Struct) -> None:
    pair.read("key", compact_string)
    pair.read("value", compact_string)
    pair.tags()


@struct
def streams_group_metadata(value: Struct) -> None:
    value.read("epoch", int32)
    value.read("metadata_hash", int64)
    value.tags(
        {
            0: ("validated_topology_epoch", int32),
            1: ("last_assignment_configs", nullable_compact_array(key_value)),
            2: ("stored_description_topology_epoch", int32),
            3: ("failed_description_topology_epoch", int32),
        }
    )


@struct
def partition_count(topic: Struct) -> None:
    topic.read("topic_id", uuid)
    topic.read("topic_name", compact_string)
    topic.read("num_partitions", int32)
    topic.tags()


@struct
def streams_group_partition_metadata(value: Struct) -> None:
    value.read("topics", compact_array(partition_count))
    value.tags()


@struct
def endpoint(value: Struct) -> None:
    value.read("host", compact_string)
    value.read("port", uint16)
    value.tags()


@struct
def streams_group_member_metadata(value: Struct) -> None:
    value.read("instance_id", nullable_compact_string)
    value.read("rack_id", nullable_compact_string)
    value.read("client_id", compact_string)
    value.read("client_host", compact_string)
    value.read("rebalance_timeout_ms", int32)
    value.read("topology_epoch", int32)
    value.read("process_id", compact_string)
    value.read("user_endpoint", nullable_struct(endpoint))
    value.read("client_tags", compact_array(key_value))
    value.tags()


@struct
def task_ids(tasks: Struct) -> None:
    tasks.read("subtopology_id", compact_string)
    tasks.read("partitions", compact_array(int32))
    tasks.tags()


@struct
def task_ids_with_epochs(tasks: Struct) -> None:
    tasks.read("subtopology_id", compact_string)
    tasks.read("partitions", compact_array(int32))
    tasks.tags({0: ("assignment_epochs", nullable_compact_array(int32))})


@struct
def streams_group_target_assignment_member(value: Struct) -> None:
    value.read("active_tasks", compact_array(task_ids))
    value.read("standby_tasks", compact_array(task_ids))
    value.read("warmup_tasks", compact_array(task_ids))
    value.tags()


@struct
def streams_group_current_member_assignment(value: Struct) -> None:
    value.read("member_epoch", int32)
    value.read("previous_member_epoch", int32)
    value.read("state", int8)
    value.read("active_tasks", compact_array(task_ids_with_epochs))
    value.read("standby_tasks", compact_array(task_ids_with_epochs))
    value.read("warmup_tasks", compact_array(task_ids_with_epochs))
    value.read("active_tasks_pending_revocation", compact_array(task_ids_with_epochs))
    value.read("standby_tasks_pending_revocation", compact_array(task_ids_with_epochs))
    value.read("warmup_tasks_pending_revocation", compact_array(task_ids_with_epochs))
    value.tags()


@struct
def topic_info(topic: Struct) -> None:
    topic.read("name", compact_string)
    topic.read("partitions", int32)
    topic.read("replication_factor", int16)
    topic.read("topic_configs", compact_array(key_value))
    topic.tags()


@struct
def copartition_group(group: Struct) -> None:
    group.read("source_topics", compact_array(int16))
    group.read("source_topic_regex", compact_array(int16))
    group.read("repartition_source_topics", compact_array(int16))
    group.tags()


@struct
def subtopology(value: Struct) -> None:
    value.read("subtopology_id", compact_string)
    value.read("source_topics", compact_array(compact_string))
    value.read("source_topic_regex", compact_array(compact_string))
    value.read("state_changelog_topics", compact_array(topic_info))
    value.read("repartition_sink_topics", compact_array(compact_string))
    value.read("repartition_source_topics", compact_array(topic_info))
    value.read("copartition_groups", compact_array(copartition_group))
    value.tags()


@struct
def streams_group_topology(value: Struct) -> None:
    value.read("epoch", int32)
    value.read("subtopologies", compact_array(subtopology))
    value.tags()
