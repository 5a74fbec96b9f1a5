"""What the offsets log does not hold: the cluster and its topics, as captured from time to time."""

from schemas.declarations.columns import Column, ListOf, MapOf, StructOf, Table, Type
from schemas.tables.record_columns import CLUSTER, JOB, RUN_ID

CAPTURED_TIME = Column("captured_time", Type.TIMESTAMP, "When the snapshot was captured.", is_nullable=False)

CLUSTER_SNAPSHOTS = Table(
    "cluster_snapshots",
    "snapshot",
    "Brokers, leaders of the offsets partitions and settings of the cluster at one time.",
    ("cluster", "captured_time"),
    ("cluster", "captured_time"),
    (
        CLUSTER,
        CAPTURED_TIME,
        RUN_ID,
        Column(
            "brokers",
            ListOf(
                StructOf(
                    (
                        Column("id", Type.INT, "The broker's id."),
                        Column("host", Type.STRING, "Its host."),
                        Column("port", Type.INT, "Its port."),
                        Column("rack", Type.STRING, "Its rack; NULL: none."),
                    )
                )
            ),
            "The brokers; NULL: not captured.",
        ),
        Column(
            "offsets_partitions",
            ListOf(
                StructOf(
                    (
                        Column("partition", Type.INT, "Partition of __consumer_offsets."),
                        Column("leader", Type.INT, "Id of the broker that leads it and coordinates its groups."),
                    )
                )
            ),
            "Leaders of the offsets partitions; NULL: not captured.",
        ),
        Column("settings", MapOf(Type.STRING, Type.STRING), "Broker settings by name; NULL: not captured."),
        Column(
            "group_settings",
            ListOf(
                StructOf(
                    (
                        Column("group_id", Type.STRING, "The group."),
                        Column("settings", MapOf(Type.STRING, Type.STRING), "Its group configs; empty: it has none."),
                    )
                )
            ),
            "Group configs: settings of single consumer, share and streams groups; NULL: not captured.",
        ),
        Column("cluster_id", Type.STRING, "Id of the Kafka cluster; NULL: not captured."),
        Column("offsets_topic_id", Type.STRING, "Id of the topic __consumer_offsets; NULL: not captured."),
    ),
    JOB,
)

TOPIC_SNAPSHOTS = Table(
    "topic_snapshots",
    "topic partition and snapshot",
    "Where the logs of topics begin and end at one time; lag is computed from them.",
    ("cluster", "captured_time", "topic", "partition"),
    ("cluster", "captured_time", "topic", "partition"),
    (
        CLUSTER,
        CAPTURED_TIME,
        Column("topic", Type.STRING, "The topic.", is_nullable=False),
        Column("partition", Type.INT, "The partition.", is_nullable=False),
        Column("topic_id", Type.STRING, "The topic's id, 22 characters; NULL: not captured."),
        Column("log_start_offset", Type.BIGINT, "First offset that can be read; NULL: not captured."),
        Column("log_end_offset", Type.BIGINT, "Offset that the next message gets; NULL: not captured."),
        Column("leader_epoch", Type.INT, "Leader epoch of the partition; NULL: not captured."),
        RUN_ID,
        Column("racks", ListOf(Type.STRING), "Racks of its replicas; NULL: not captured."),
    ),
    JOB,
)

TABLES = (CLUSTER_SNAPSHOTS, TOPIC_SNAPSHOTS)
