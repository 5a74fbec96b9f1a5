"""Decoded tables of consumer, share and streams groups: record types 3 to 23."""

from schemas.declarations.columns import Column, ListOf, StructOf, Type
from schemas.tables.record_columns import GROUP_ID, PARTITIONS, decoded_table

GROUP_TYPE = Column("group_type", Type.STRING, "consumer, share or streams.", is_nullable=False)
MEMBER_ID = Column("member_id", Type.STRING, "The member.", is_nullable=False)
GROUP = (GROUP_TYPE, GROUP_ID)
MEMBER = (*GROUP, MEMBER_ID)

TOPIC_ID = Column("topic_id", Type.STRING, "The topic's id, 22 characters.")
ASSIGNMENT_EPOCHS = Column(
    "assignment_epochs",
    ListOf(Type.INT),
    "Epoch at which each partition or task was assigned, in the order of the partitions; NULL: not written (before "
    "4.3).",
)
TOPIC_ID_PARTITIONS = ListOf(StructOf((TOPIC_ID, PARTITIONS)))
OWNED_PARTITIONS = ListOf(StructOf((TOPIC_ID, PARTITIONS, ASSIGNMENT_EPOCHS)))
SUBTOPOLOGY_ID = Column("subtopology_id", Type.STRING, "The subtopology.")
TASKS = ListOf(StructOf((SUBTOPOLOGY_ID, PARTITIONS)))
OWNED_TASKS = ListOf(StructOf((SUBTOPOLOGY_ID, PARTITIONS, ASSIGNMENT_EPOCHS)))
KEY_VALUES = ListOf(StructOf((Column("key", Type.STRING, "Name."), Column("value", Type.STRING, "Value."))))

# Early access of the consumer protocol (3.7) kept an assignor's own bytes beside each assignment.
EARLY = (
    Column("error", Type.INT, "Only 3.7: error code of the client-side assignor."),
    Column("metadata_version", Type.INT, "Only 3.7: version of the client-side assignor's metadata."),
    Column("metadata_bytes", Type.BINARY, "Only 3.7: metadata of the client-side assignor."),
)

GROUP_METADATA = decoded_table(
    "group_metadata",
    "a group epoch, or the group's deletion",
    "Record types 3, 11 and 17: epochs of consumer, share and streams groups.",
    (
        *GROUP,
        Column("group_epoch", Type.INT, "Rises when members, subscriptions or topics change; NULL: tombstone."),
        Column(
            "metadata_hash",
            Type.BIGINT,
            "Hash of the subscribed topics (names, ids, partitions, racks). 0: no topics; consumer groups without "
            "topics may have NULL too. NULL also before 4.1.",
        ),
        Column(
            "validated_topology_epoch",
            Type.INT,
            "Streams: topology epoch that the coordinator found valid; NULL: none.",
        ),
        Column(
            "stored_description_topology_epoch",
            Type.INT,
            "Streams: topology epoch whose description is stored; -2: the broker does not know whether it is. NULL: "
            "none.",
        ),
        Column(
            "failed_description_topology_epoch",
            Type.INT,
            "Streams: topology epoch whose description could not be stored; NULL: none.",
        ),
    ),
    (
        Column(
            "last_assignment_configs",
            KEY_VALUES,
            "Streams: assignment settings of the last assignment; NULL: not written.",
        ),
    ),
)

GROUP_MEMBER_METADATA = decoded_table(
    "group_member_metadata",
    "a member of a group, or the deletion of one",
    "Record types 5, 10 and 19: members of consumer, share and streams groups and what they subscribe to.",
    (
        *MEMBER,
        Column("group_instance_id", Type.STRING, "The member's own static id; NULL: a dynamic member."),
        Column("rack_id", Type.STRING, "The member's rack; NULL: none."),
        Column("client_id", Type.STRING, "Client id of the member's connection; NULL: tombstone."),
        Column("client_host", Type.STRING, "The member's address as Java prints it; NULL: tombstone."),
        Column(
            "subscribed_topic_regex", Type.STRING, "The pattern that the member subscribes to; NULL or empty: none."
        ),
        Column(
            "rebalance_timeout_ms",
            Type.INT,
            "How long the member may take to give up partitions or tasks; NULL: not written.",
        ),
        Column("server_assignor", Type.STRING, "The assignor that the member asks for; NULL: none."),
        Column("topology_epoch", Type.INT, "Streams: epoch of the topology that the member runs; else NULL."),
        Column("process_id", Type.STRING, "Streams: the process in which the member runs; else NULL."),
    ),
    (
        Column("subscribed_topic_names", ListOf(Type.STRING), "Topics subscribed by name; NULL for streams."),
        Column(
            "user_endpoint",
            StructOf((Column("host", Type.STRING, "Host name."), Column("port", Type.INT, "Port."))),
            "Streams: where the process answers interactive queries; NULL: nowhere.",
        ),
        Column("client_tags", KEY_VALUES, "Streams: tags for rack-aware standby tasks; else NULL."),
        Column(
            "classic_member",
            StructOf(
                (
                    Column("session_timeout_ms", Type.INT, "Session timeout of the member's join request."),
                    Column(
                        "supported_protocols",
                        ListOf(
                            StructOf(
                                (
                                    Column("name", Type.STRING, "Name of the assignor."),
                                    Column(
                                        "metadata",
                                        Type.BINARY,
                                        "The member's subscription, as bytes, for this assignor.",
                                    ),
                                )
                            )
                        ),
                        "Assignors that the member offered when it joined.",
                    ),
                )
            ),
            "Set if the member uses the classic protocol in a consumer group; otherwise NULL.",
        ),
        Column(
            "assignors",
            ListOf(
                StructOf(
                    (
                        Column("name", Type.STRING, "Name of the client-side assignor."),
                        Column("minimum_version", Type.INT, "Lowest metadata version that it reads."),
                        Column("maximum_version", Type.INT, "Highest metadata version that it reads."),
                        Column("reason", Type.INT, "The assignor's own code for why it wants a new assignment."),
                        Column("version", Type.INT, "Version of the metadata."),
                        Column("metadata", Type.BINARY, "The assignor's metadata."),
                    )
                )
            ),
            "Only 3.7: client-side assignors of the member.",
        ),
    ),
)

TARGET_ASSIGNMENT_METADATA = decoded_table(
    "target_assignment_metadata",
    "a completed target assignment, or its deletion",
    "Record types 6, 12 and 20: the epoch of a new target assignment, written after the targets of its members.",
    (
        *GROUP,
        Column("assignment_epoch", Type.INT, "Epoch of the target assignment; NULL: tombstone."),
        Column(
            "assignment_time",
            Type.TIMESTAMP,
            "When the assignor finished; NULL: before 4.3, or a group without members.",
        ),
    ),
)

TARGET_ASSIGNMENT_MEMBERS = decoded_table(
    "target_assignment_members",
    "the partitions that one member must own, or the deletion of its target",
    "Record types 7, 13 and 21: the target of each member, written for members whose target changed.",
    MEMBER,
    (
        Column(
            "topic_partitions",
            TOPIC_ID_PARTITIONS,
            "Partitions that the member must own; NULL: streams group or tombstone.",
        ),
        Column("active_tasks", TASKS, "Streams: tasks that the member must run; else NULL."),
        Column("standby_tasks", TASKS, "Streams: standby tasks that the member must keep; else NULL."),
        Column("warmup_tasks", TASKS, "Streams: tasks that the member must warm up; else NULL."),
        *EARLY,
    ),
)

CURRENT_MEMBER_ASSIGNMENTS = decoded_table(
    "current_member_assignments",
    "the partitions that one member owns, or the deletion of its assignment",
    "Record types 8, 14 and 22: what each member owns now, written when it changes.",
    (
        *MEMBER,
        Column(
            "member_epoch",
            Type.INT,
            "Epoch that the member has reached; -1: the member left; -2: a static member that is away for a while.",
        ),
        Column("previous_member_epoch", Type.INT, "The member's epoch before this one; -1, -2: as member_epoch."),
        Column(
            "member_state",
            Type.STRING,
            "STABLE, UNREVOKED_PARTITIONS or UNRELEASED_PARTITIONS, in streams groups UNREVOKED_TASKS or "
            "UNRELEASED_TASKS; UNKNOWN: a number that no release of Kafka writes. NULL: tombstone, or a record of "
            "3.7.",
        ),
        Column("target_member_epoch", Type.INT, "Only 3.7: epoch that the member must reach."),
    ),
    (
        Column(
            "assigned_partitions",
            OWNED_PARTITIONS,
            "Partitions that the member owns; NULL: streams group or tombstone.",
        ),
        Column(
            "partitions_pending_revocation",
            OWNED_PARTITIONS,
            "Partitions that the member must give up and still owns; NULL: share or streams group, or tombstone.",
        ),
        Column("partitions_pending_assignment", TOPIC_ID_PARTITIONS, "Only 3.7: partitions that the member waits for."),
        Column("active_tasks", OWNED_TASKS, "Streams: tasks that the member runs; else NULL."),
        Column("standby_tasks", OWNED_TASKS, "Streams: standby tasks that the member keeps; else NULL."),
        Column("warmup_tasks", OWNED_TASKS, "Streams: tasks that the member warms up; else NULL."),
        Column("active_tasks_pending_revocation", OWNED_TASKS, "Streams: active tasks to give up; else NULL."),
        Column("standby_tasks_pending_revocation", OWNED_TASKS, "Streams: standby tasks to give up; else NULL."),
        Column("warmup_tasks_pending_revocation", OWNED_TASKS, "Streams: warm-up tasks to give up; else NULL."),
        *EARLY,
    ),
)

GROUP_PARTITION_METADATA = decoded_table(
    "group_partition_metadata",
    "the subscribed topics as the coordinator sees them, or their deletion",
    "Record types 4, 9, 15 and 18: the topics of consumer groups (releases up to 4.0), share and streams groups, with "
    "their partitions.",
    (
        *GROUP,
        Column("epoch", Type.INT, "Only 3.7: the group epoch with these topics."),
    ),
    (
        Column(
            "topics",
            ListOf(
                StructOf(
                    (
                        Column(
                            "state",
                            Type.STRING,
                            "subscribed; or a stage of a share group's state: initializing, initialized, deleting.",
                        ),
                        TOPIC_ID,
                        Column("topic_name", Type.STRING, "The topic's name."),
                        Column("num_partitions", Type.INT, "Partitions that the topic has; NULL: not written."),
                        Column("partitions", ListOf(Type.INT), "Share state: the partitions in this stage; else NULL."),
                        Column(
                            "partition_metadata",
                            ListOf(
                                StructOf(
                                    (
                                        Column("partition", Type.INT, "The partition."),
                                        Column("racks", ListOf(Type.STRING), "Racks of its replicas."),
                                    )
                                )
                            ),
                            "Racks by partition; empty: no rack is known. NULL: not written.",
                        ),
                    )
                )
            ),
            "The topics in the order of the record. A share group's state lists initializing topics first, then "
            "initialized ones, then deleting ones. NULL: tombstone.",
        ),
    ),
)

GROUP_REGULAR_EXPRESSIONS = decoded_table(
    "group_regular_expressions",
    "a resolved pattern of a consumer group, or its deletion",
    "Record type 16: the topics that a subscribed pattern matches. The coordinator writes it each time it resolves "
    "the pattern, such as after a change of topics.",
    (
        GROUP_ID,
        Column("regular_expression", Type.STRING, "The pattern.", is_nullable=False),
        Column("metadata_version", Type.BIGINT, "Version of the cluster metadata that was used; NULL: tombstone."),
        Column("resolved_time", Type.TIMESTAMP, "When the pattern was resolved; NULL: tombstone, or see out_of_range."),
    ),
    (Column("topics", ListOf(Type.STRING), "Topics that the pattern matched; NULL: tombstone."),),
)

TOPIC_INFOS = ListOf(
    StructOf(
        (
            Column("name", Type.STRING, "The topic's name."),
            Column("partitions", Type.INT, "Partitions that the topic must have; 0: any number."),
            Column("replication_factor", Type.INT, "Its replication factor; 0: the broker's default."),
            Column("topic_configs", KEY_VALUES, "Its settings."),
        )
    )
)

STREAMS_GROUP_TOPOLOGIES = decoded_table(
    "streams_group_topologies",
    "a topology of a streams group, or its deletion",
    "Record type 23: the topology that a streams group runs.",
    (GROUP_ID, Column("epoch", Type.INT, "Epoch of the topology; NULL: tombstone.")),
    (
        Column(
            "subtopologies",
            ListOf(
                StructOf(
                    (
                        SUBTOPOLOGY_ID,
                        Column("source_topics", ListOf(Type.STRING), "Topics that it reads."),
                        Column("source_topic_regex", ListOf(Type.STRING), "Patterns of topics that it reads."),
                        Column("state_changelog_topics", TOPIC_INFOS, "Changelogs of its state stores."),
                        Column("repartition_sink_topics", ListOf(Type.STRING), "Repartition topics that it writes."),
                        Column("repartition_source_topics", TOPIC_INFOS, "Repartition topics that it reads."),
                        Column(
                            "copartition_groups",
                            ListOf(
                                StructOf(
                                    (
                                        Column(
                                            "source_topics", ListOf(Type.INT), "Indexes into source_topics, from 0."
                                        ),
                                        Column(
                                            "source_topic_regex", ListOf(Type.INT), "Indexes into source_topic_regex."
                                        ),
                                        Column(
                                            "repartition_source_topics",
                                            ListOf(Type.INT),
                                            "Indexes into repartition_source_topics.",
                                        ),
                                    )
                                )
                            ),
                            "Topics that must have equal partition counts.",
                        ),
                    )
                )
            ),
            "Parts of the topology; NULL: tombstone.",
        ),
    ),
)

TABLES = (
    GROUP_METADATA,
    GROUP_MEMBER_METADATA,
    TARGET_ASSIGNMENT_METADATA,
    TARGET_ASSIGNMENT_MEMBERS,
    CURRENT_MEMBER_ASSIGNMENTS,
    GROUP_PARTITION_METADATA,
    GROUP_REGULAR_EXPRESSIONS,
    STREAMS_GROUP_TOPOLOGIES,
)
