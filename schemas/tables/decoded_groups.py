"""Decoded tables of consumer, share and streams groups: record types 3 to 23."""

from schemas.declarations.columns import Column, ListOf, StructOf, Type
from schemas.tables.record_columns import GROUP_ID, PARTITIONS, decoded

GROUP_TYPE = Column("group_type", Type.STRING, "consumer, share or streams.", is_nullable=False)
MEMBER_ID = Column("member_id", Type.STRING, "The member.", is_nullable=False)
GROUP = (GROUP_TYPE, GROUP_ID)
MEMBER = (*GROUP, MEMBER_ID)

TOPIC_ID = Column("topic_id", Type.STRING, "The topic's id, 22 characters.")
ASSIGNMENT_EPOCHS = Column(
    "assignment_epochs",
    ListOf(Type.INT),
    "Epoch at which each partition was assigned, in the order of the partitions; NULL: not written (before 4.3).",
)
TOPIC_ID_PARTITIONS = ListOf(StructOf((TOPIC_ID, PARTITIONS)))
OWNED_PARTITIONS = ListOf(StructOf((TOPIC_ID, PARTITIONS, ASSIGNMENT_EPOCHS)))
SUBTOPOLOGY_ID = Column("subtopology_id", Type.STRING, "The subtopology.")
TASKS = ListOf(StructOf((SUBTOPOLOGY_ID, PARTITIONS)))
OWNED_TASKS = ListOf(StructOf((SUBTOPOLOGY_ID, PARTITIONS, ASSIGNMENT_EPOCHS)))
KEY_VALUES = ListOf(StructOf((Column("key", Type.STRING, "Name."), Column("value", Type.STRING, "Value."))))

# Early access of the consumer protocol (3.7) kept an assignor's own bytes beside each assignment.
EARLY = (
    Column("error", Type.INT, "Error code of the client-side assignor; NULL but in 3.7's records."),
    Column("metadata_version", Type.INT, "Version of its metadata; NULL but in 3.7's records."),
    Column("metadata_bytes", Type.BINARY, "Its metadata; NULL but in 3.7's records."),
)

GROUP_METADATA = decoded(
    "group_metadata",
    "a group epoch, or the group's deletion",
    "Record types 3, 11 and 17: epochs of consumer, share and streams groups.",
    (
        *GROUP,
        Column("group_epoch", Type.INT, "Rises when members, subscriptions or topics change; NULL: tombstone."),
        Column(
            "metadata_hash",
            Type.BIGINT,
            "Hash over the subscribed topics; 0, in consumer groups also NULL: no topics; NULL before 4.1.",
        ),
        Column("validated_topology_epoch", Type.INT, "Streams: topology epoch found in order; NULL: none."),
        Column(
            "stored_description_topology_epoch",
            Type.INT,
            "Streams: topology epoch whose description is stored, -2 uncertain; NULL: none.",
        ),
        Column(
            "failed_description_topology_epoch",
            Type.INT,
            "Streams: topology epoch whose description could not be stored; NULL: none.",
        ),
    ),
    (Column("last_assignment_configs", KEY_VALUES, "Streams: settings of the last assignment; NULL: not written."),),
)

GROUP_MEMBER_METADATA = decoded(
    "group_member_metadata",
    "a member of a group, or its leaving",
    "Record types 5, 10 and 19: members of consumer, share and streams groups and what they subscribe to.",
    (
        *MEMBER,
        Column("group_instance_id", Type.STRING, "The member's own static id; NULL: a dynamic member."),
        Column("rack_id", Type.STRING, "The member's rack; NULL: none."),
        Column("client_id", Type.STRING, "Client id of the member's connection; NULL: tombstone."),
        Column("client_host", Type.STRING, "The member's address as Java prints it; NULL: tombstone."),
        Column("subscribed_topic_regex", Type.STRING, "Pattern subscribed; NULL and empty both mean none."),
        Column("rebalance_timeout_ms", Type.INT, "Time to give partitions or tasks up; NULL: none written."),
        Column("server_assignor", Type.STRING, "The assignor that the member asks for; NULL: none."),
        Column("topology_epoch", Type.INT, "Streams: epoch of the topology that the member runs; else NULL."),
        Column("process_id", Type.STRING, "Streams: the process that the member lives in; else NULL."),
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
                                    Column("metadata", Type.BINARY, "The member's subscription for it."),
                                )
                            )
                        ),
                        "Every protocol that the member offered.",
                    ),
                )
            ),
            "Of a member that speaks the classic protocol in a consumer group; else NULL.",
        ),
        Column(
            "assignors",
            ListOf(
                StructOf(
                    (
                        Column("name", Type.STRING, "Name of the client-side assignor."),
                        Column("minimum_version", Type.INT, "Lowest metadata version that it reads."),
                        Column("maximum_version", Type.INT, "Highest metadata version that it reads."),
                        Column("reason", Type.INT, "Why the member asks for a new assignment."),
                        Column("version", Type.INT, "Version of the metadata."),
                        Column("metadata", Type.BINARY, "The assignor's metadata."),
                    )
                )
            ),
            "Client-side assignors of the member; NULL but in 3.7's records.",
        ),
    ),
)

TARGET_ASSIGNMENT_METADATA = decoded(
    "target_assignment_metadata",
    "a completed target assignment, or its deletion",
    "Record types 6, 12 and 20: the record that completes a target assignment.",
    (
        *GROUP,
        Column("assignment_epoch", Type.INT, "Epoch of the target assignment; NULL: tombstone."),
        Column(
            "assignment_time", Type.TIMESTAMP, "When the assignor finished; NULL: unknown (before 4.3, emptied group)."
        ),
    ),
)

TARGET_ASSIGNMENT_MEMBERS = decoded(
    "target_assignment_members",
    "what one member must own, or that it is no longer a target",
    "Record types 7, 13 and 21: targets by member, written for members whose target changed.",
    MEMBER,
    (
        Column("topic_partitions", TOPIC_ID_PARTITIONS, "What the member must own; NULL: streams, tombstone."),
        Column("active_tasks", TASKS, "Streams: tasks that it must run; else NULL."),
        Column("standby_tasks", TASKS, "Streams: standby tasks that it must keep; else NULL."),
        Column("warmup_tasks", TASKS, "Streams: tasks that it must warm up; else NULL."),
        *EARLY,
    ),
)

CURRENT_MEMBER_ASSIGNMENTS = decoded(
    "current_member_assignments",
    "what one member owns, or its leaving",
    "Record types 8, 14 and 22: what members own now, written when it changes.",
    (
        *MEMBER,
        Column("member_epoch", Type.INT, "Epoch that the member has reached; -1 left, -2 static and away for a while."),
        Column("previous_member_epoch", Type.INT, "The member's epoch before this one, kept as written."),
        Column(
            "member_state",
            Type.STRING,
            "STABLE, UNREVOKED_PARTITIONS, UNRELEASED_PARTITIONS, streams UNREVOKED_TASKS, UNRELEASED_TASKS; UNKNOWN: "
            "a code of no release; NULL: tombstone, 3.7's records.",
        ),
        Column("target_member_epoch", Type.INT, "Epoch that the member is going to; NULL but in 3.7's records."),
    ),
    (
        Column("assigned_partitions", OWNED_PARTITIONS, "What the member owns; NULL: streams, tombstone."),
        Column(
            "partitions_pending_revocation",
            OWNED_PARTITIONS,
            "What it is asked to give up and still owns; NULL: share, streams, tombstone.",
        ),
        Column("partitions_pending_assignment", TOPIC_ID_PARTITIONS, "What it waits for; NULL but in 3.7's records."),
        Column("active_tasks", OWNED_TASKS, "Streams: tasks that it runs; else NULL."),
        Column("standby_tasks", OWNED_TASKS, "Streams: standby tasks that it keeps; else NULL."),
        Column("warmup_tasks", OWNED_TASKS, "Streams: tasks that it warms up; else NULL."),
        Column("active_tasks_pending_revocation", OWNED_TASKS, "Streams: active tasks to give up; else NULL."),
        Column("standby_tasks_pending_revocation", OWNED_TASKS, "Streams: standby tasks to give up; else NULL."),
        Column("warmup_tasks_pending_revocation", OWNED_TASKS, "Streams: warm-up tasks to give up; else NULL."),
        *EARLY,
    ),
)

GROUP_PARTITION_METADATA = decoded(
    "group_partition_metadata",
    "the subscribed topics as the coordinator sees them, or their deletion",
    "Record types 4, 9, 15 and 18: topics of consumer (to 4.0), share and streams groups.",
    (*GROUP, Column("epoch", Type.INT, "The group epoch that saw these topics; NULL but in 3.7's records.")),
    (
        Column(
            "topics",
            ListOf(
                StructOf(
                    (
                        Column(
                            "state", Type.STRING, "subscribed, or of share state initializing, initialized, deleting."
                        ),
                        TOPIC_ID,
                        Column("topic_name", Type.STRING, "The topic's name."),
                        Column("num_partitions", Type.INT, "Partitions that the topic has; NULL: not written."),
                        Column("partitions", ListOf(Type.INT), "Of share state: partitions meant; else NULL."),
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
                            "Racks by partition, empty when none is known; NULL: not written.",
                        ),
                    )
                )
            ),
            "The topics in the record's order, initializing before initialized before deleting; NULL: tombstone.",
        ),
    ),
)

GROUP_REGULAR_EXPRESSIONS = decoded(
    "group_regular_expressions",
    "a resolved pattern of a consumer group, or its deletion",
    "Record type 16: topics that subscribed patterns match; written again while cluster metadata changes.",
    (
        GROUP_ID,
        Column("regular_expression", Type.STRING, "The pattern.", is_nullable=False),
        Column("metadata_version", Type.BIGINT, "Version of the cluster metadata it was matched with; NULL: none."),
        Column("resolved_time", Type.TIMESTAMP, "When it was matched; NULL: tombstone, or see out_of_range."),
    ),
    (Column("topics", ListOf(Type.STRING), "Topics that the pattern matched; NULL: tombstone."),),
)

TOPIC_INFOS = ListOf(
    StructOf(
        (
            Column("name", Type.STRING, "The topic's name."),
            Column("partitions", Type.INT, "Partitions that it must have; 0 is not enforced."),
            Column("replication_factor", Type.INT, "Its replication factor; 0 is the broker's default."),
            Column("topic_configs", KEY_VALUES, "Its settings."),
        )
    )
)

STREAMS_GROUP_TOPOLOGIES = decoded(
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
