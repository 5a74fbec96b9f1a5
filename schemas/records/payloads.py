"""What clients put into the opaque bytes of a classic group's members; brokers store it without looking."""

from schemas.declarations.fields import Array, Field, Kind, Message, Shape, Struct

TOPIC_PARTITIONS = Struct(
    "topic_partitions",
    (Field("topic", Kind.STRING, "The topic."), Field("partitions", Array(Kind.INT32), "Partitions of it.")),
)
USER_DATA = Field("user_data", Kind.BYTES, "The assignor's own bytes.", nullable=True)

# Protocol type "consumer"

SUBSCRIPTION = Message(
    "ConsumerProtocolSubscription",
    (
        Shape(
            (
                Field("topics", Array(Kind.STRING), "Topics subscribed; sorted by the Java client.", since="0.9"),
                USER_DATA,
                Field(
                    "owned_partitions",
                    Array(TOPIC_PARTITIONS),
                    "Partitions that the member owns when it joins.",
                    first=1,
                    since="2.4, KIP-429",
                ),
                Field(
                    "generation_id",
                    Kind.INT32,
                    "Generation in which the member got these partitions; -1: the member has no generation.",
                    first=2,
                    default=-1,
                    since="3.4, KIP-792",
                ),
                Field("rack_id", Kind.STRING, "The member's rack.", first=3, nullable=True, since="3.4, KIP-881"),
            ),
            releases="clients 0.9+ (version 0), 2.4+ (1), 3.4+ (3); no Java client sends 2, other libraries do",
            provenance="Version 1 by KIP-429, version 2 by KIP-792, version 3 by KIP-881",
            last=3,
        ),
    ),
)

ASSIGNMENT = Message(
    "ConsumerProtocolAssignment",
    (
        Shape(
            (
                Field(
                    "assigned_partitions",
                    Array(TOPIC_PARTITIONS),
                    "Partitions assigned to the member, in the leader's order.",
                ),
                USER_DATA,
            ),
            releases="clients 0.9+",
            provenance="The layout is the same in all versions",
            last=3,
        ),
    ),
)

PREVIOUS_ASSIGNMENT = Field(
    "previous_assignment", Array(TOPIC_PARTITIONS), "Partitions that the member owned after the previous rebalance."
)
GENERATION = Field("generation", Kind.INT32, "Generation in which the member got these partitions.", since="2.3")

KAFKA_PYTHON_VERSION = 1

# User data of the sticky assignors has no version: the right form is the one that consumes every byte.
STICKY_FORMS = (
    Shape((PREVIOUS_ASSIGNMENT, GENERATION), releases="clients 2.3+", provenance="The generation is by KIP-341"),
    Shape((PREVIOUS_ASSIGNMENT,), releases="clients up to 2.2", provenance="KIP-54"),
    Shape(
        (Field("version", Kind.INT16, "1 in kafka-python."), PREVIOUS_ASSIGNMENT, GENERATION),
        releases="kafka-python",
        provenance="It begins with a version number of the library's own; then the same fields",
    ),
)
COOPERATIVE_STICKY_FORMS = (
    Shape(
        (
            Field(
                "generation",
                Kind.INT32,
                "Generation of the owned partitions; the subscription's own field wins from version 2.",
            ),
        ),
        releases="clients 2.4+",
        provenance="KIP-429",
    ),
)

# Kafka Streams as a classic group (protocol "stream")

LATEST_STREAMS_VERSION = 11
LATEST_SUPPORTED = Field("latest_supported_version", Kind.INT32, "The highest version that the client reads.", first=3)
OLD_TASK = Struct(
    "task_id",
    (Field("topic_group_id", Kind.INT32, "The subtopology."), Field("partition", Kind.INT32, "The partition.")),
)
OFFSET_SUM = Field(
    "offset_sum",
    Kind.INT64,
    "Sum of the changelog offsets of the task, which shows how far its state is restored; -2: the task is running, "
    "-3: unknown.",
)

STREAMS_SUBSCRIPTION = Message(
    "SubscriptionInfo",
    (
        Shape(
            (
                LATEST_SUPPORTED,
                Field("process_id", Kind.UUID, "The process in which the member runs."),
                Field("prev_tasks", Array(OLD_TASK), "Active tasks that the member had before.", last=6),
                Field("standby_tasks", Array(OLD_TASK), "Standby tasks that the member had before.", last=6),
                Field("user_end_point", Kind.BYTES, "host:port for interactive queries; empty for none.", first=2),
                Field(
                    "task_offset_sums",
                    Array(
                        Struct(
                            "task_offset_sum",
                            (
                                Field("topic_group_id", Kind.INT32, "The subtopology."),
                                Field(
                                    "partition_to_offset_sum",
                                    Array(
                                        Struct(
                                            "partition_offset_sum",
                                            (Field("partition", Kind.INT32, "The partition."), OFFSET_SUM),
                                        )
                                    ),
                                    "For each task of the subtopology: how far its state is restored.",
                                ),
                            ),
                        )
                    ),
                    "For each task of the member: how far its state is restored.",
                    first=7,
                    last=9,
                ),
                Field(
                    "task_offset_sums",
                    Array(
                        Struct(
                            "task_offset_sum",
                            (
                                *OLD_TASK.fields,
                                OFFSET_SUM,
                                Field("named_topology", Kind.STRING, "The named topology.", nullable=True),
                            ),
                        )
                    ),
                    "For each task of the member: how far its state is restored.",
                    first=10,
                ),
                Field(
                    "unique_field",
                    Kind.INT8,
                    "A byte that makes equal subscriptions differ, to force a rebalance.",
                    first=8,
                ),
                Field("error_code", Kind.INT32, "Error code of the member; 0: no error.", first=9),
                Field(
                    "client_tags",
                    Array(
                        Struct(
                            "client_tag",
                            (
                                Field("key", Kind.BYTES, "Name of the tag, UTF-8."),
                                Field("value", Kind.BYTES, "Its value, UTF-8."),
                            ),
                        )
                    ),
                    "Tags for rack-aware standby tasks.",
                    first=11,
                ),
            ),
            releases="Streams 2.3+ (version 4), 2.5+ (6), 2.6+ (8), 2.8+ (9), 3.0+ (10), 3.2+ (11)",
            provenance="Version 7 by KIP-441, version 11 by KIP-708",
            first=1,
            last=LATEST_STREAMS_VERSION,
        ),
    ),
    version_kind=Kind.INT32,
)

TASK_ID = (
    Field("subtopology", Kind.INT32, "The subtopology."),
    Field("partition", Kind.INT32, "The partition."),
    Field("named_topology", Kind.UTF16_CHARS, "The named topology, empty for none.", first=10),
)
HOST = (Field("host", Kind.JAVA_UTF, "Host name."), Field("port", Kind.INT32, "Port."))
NAMED_PARTITION = Struct(
    "topic_partition",
    (Field("topic", Kind.JAVA_UTF, "The topic."), Field("partition", Kind.INT32, "The partition.")),
)
INDEXED_PARTITION = Struct(
    "topic_partition",
    (
        Field("topic_index", Kind.INT32, "Index of the topic in the dictionary."),
        Field("partition", Kind.INT32, "The partition."),
    ),
)


def by_host(name: str, partition: Struct, first: int, last: int | None = None) -> Field:
    entry = Struct(
        "host_partitions", (*HOST, Field("topic_partitions", Array(partition), "Partitions that the host serves."))
    )
    return Field(name, Array(entry), "Partitions that each host serves.", first=first, last=last)


STREAMS_ASSIGNMENT = Message(
    "AssignmentInfo",
    (
        Shape(
            (
                Field("commonly_supported_version", Kind.INT32, "The version that all members read.", first=3),
                Field("active_tasks", Array(Struct("task_id", TASK_ID)), "Tasks that the member runs."),
                Field(
                    "standby_tasks",
                    Array(
                        Struct(
                            "standby_task",
                            (
                                *TASK_ID,
                                Field("topic_partitions", Array(NAMED_PARTITION), "Input partitions of the task."),
                            ),
                        )
                    ),
                    "Standby tasks: the member keeps copies of their state.",
                ),
                by_host("partitions_by_host", NAMED_PARTITION, 2, 4),
                Field(
                    "topic_dictionary",
                    Array(
                        Struct(
                            "topic",
                            (
                                Field("index", Kind.INT32, "Index of the topic."),
                                Field("topic", Kind.JAVA_UTF, "Its name."),
                            ),
                        )
                    ),
                    "Names of the topics that the two maps mention.",
                    first=5,
                ),
                by_host("partitions_by_host", INDEXED_PARTITION, 5),
                by_host("standby_partitions_by_host", INDEXED_PARTITION, 6),
                Field("err_code", Kind.INT32, "Error code of the assignment; 0: no error.", first=4),
                Field(
                    "next_rebalance_ms", Kind.INT64, "When the next rebalance is planned; Long.MAX for never.", first=7
                ),
            ),
            releases="Streams 2.3+ (version 4), 2.5+ (6), 2.6+ (8), 2.8+ (9), 3.0+ (10), 3.2+ (11)",
            provenance="Java's DataOutputStream encodes the strings: writeUTF (`java_utf`), writeChars",
            first=1,
            last=LATEST_STREAMS_VERSION,
        ),
    ),
    version_kind=Kind.INT32,
)

# Protocol type "connect"

CONNECTOR_TASKS = Struct(
    "connector_tasks",
    (
        Field("connector", Kind.STRING, "The connector."),
        Field("tasks", Array(Kind.INT32), "Tasks of the connector; -1 is the connector itself."),
    ),
)
WORKER_URL = Field("url", Kind.STRING, "URL of the worker's REST API.")
CONFIG_OFFSET = Field("config_offset", Kind.INT64, "Offset up to which the worker has read the config topic.")

CONNECT_SUBSCRIPTION = Message(
    "WorkerState",
    (
        Shape(
            (
                WORKER_URL,
                CONFIG_OFFSET,
                Field(
                    "allocation",
                    Kind.BYTES,
                    "The worker's assignment so far, with a version of its own.",
                    first=1,
                    nullable=True,
                ),
            ),
            releases="Connect before 2.3 (version 0), 2.3+ (1), 2.4+ (2)",
            provenance="Version 1 by KIP-415, version 2 (sessions) by KIP-507",
            last=2,
        ),
    ),
)

CONNECT_ASSIGNMENT = Message(
    "ConnectAssignment",
    (
        Shape(
            (
                Field("error", Kind.INT16, "0 none, 1 config mismatch."),
                Field("leader", Kind.STRING, "Member id of the leader."),
                Field("leader_url", Kind.STRING, "URL of the leader's REST API."),
                CONFIG_OFFSET,
                Field(
                    "assignment",
                    Array(CONNECTOR_TASKS),
                    "Connectors and tasks that the worker must run.",
                    nullable=True,
                ),
                Field(
                    "revoked",
                    Array(CONNECTOR_TASKS),
                    "Connectors and tasks that the worker must stop.",
                    first=1,
                    nullable=True,
                ),
                Field("delay", Kind.INT32, "Scheduled rebalance delay in ms.", first=1, default=0),
            ),
            releases="Connect before 2.3 (version 0), 2.3+ (1), 2.4+ (2)",
            provenance="Version 1 by KIP-415, version 2 (sessions) by KIP-507",
            last=2,
        ),
    ),
)

CONSUMER, CONNECT, SCHEMA_REGISTRY = "consumer", "connect", "sr"
STREAM_PROTOCOL, STICKY_PROTOCOL, COOPERATIVE_STICKY_PROTOCOL = "stream", "sticky", "cooperative-sticky"
