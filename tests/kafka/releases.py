"""The brokers that the tests run: three generations of the group coordinator."""

from dataclasses import dataclass
from typing import Final

from jobs.spark.jars import JarSet
from tests.kafka.jar_sets import KAFKA_3_7_2, KAFKA_3_9_1, KAFKA_4_1_2, KAFKA_4_3_1, KAFKA_4_4_0, LOGGING

# A broker as small and as hasty as it can be: one replica of everything, timers that fire within a test's patience.
COMMON: Final = {
    "node.id": "1",
    "broker.rack": "rack-a",
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    # The sweep deletes empty groups without offsets at once: only whoever wants that turns it on.
    "offsets.retention.check.interval.ms": "600000",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    "group.initial.rebalance.delay.ms": "100",
    "group.min.session.timeout.ms": "1000",
}

NEW_COORDINATOR: Final = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
}

SHARE_AND_STREAMS: Final = {
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "200",
    "group.share.min.session.timeout.ms": "1000",
    "group.share.session.timeout.ms": "6000",
    "group.streams.min.heartbeat.interval.ms": "100",
    "group.streams.heartbeat.interval.ms": "200",
    "group.streams.min.session.timeout.ms": "1000",
    "group.streams.session.timeout.ms": "6000",
    "group.streams.initial.rebalance.delay.ms": "100",
}


@dataclass(frozen=True)
class Release:
    """One release of Kafka with one coordinator switched on."""

    name: str
    jar_sets: tuple[JarSet, ...]
    properties: dict[str, str]
    dump_tool: str
    features: tuple[str, ...] = ()

    @property
    def is_modern(self) -> bool:
        """It has share and streams groups, clients and tools for them, and groups with settings of their own."""
        return any(feature.startswith("streams.") for feature in self.features)


KAFKA_4_4: Final = Release(
    "4.4.0",
    (KAFKA_4_4_0, LOGGING),
    COMMON | NEW_COORDINATOR | SHARE_AND_STREAMS,
    "org.apache.kafka.tools.DumpLogSegments",
    ("group.version=1", "share.version=2", "streams.version=1", "transaction.version=2"),
)
KAFKA_4_3: Final = Release(
    "4.3.1",
    (KAFKA_4_3_1, LOGGING),
    COMMON | NEW_COORDINATOR | SHARE_AND_STREAMS,
    "org.apache.kafka.tools.DumpLogSegments",
    ("group.version=1", "share.version=1", "streams.version=1", "transaction.version=2"),
)
KAFKA_4_1: Final = Release(
    "4.1.2",
    (KAFKA_4_1_2, LOGGING),
    COMMON | NEW_COORDINATOR | SHARE_AND_STREAMS,
    "org.apache.kafka.tools.DumpLogSegments",
    ("group.version=1", "share.version=1", "transaction.version=2"),
)
# Formatting a 3.9 node knows no `group.version`: both coordinators are chosen by properties alone.
KAFKA_3_9_OLD: Final = Release(
    "3.9.1-old",
    (KAFKA_3_9_1,),
    COMMON | {"group.coordinator.new.enable": "false", "group.coordinator.rebalance.protocols": "classic"},
    "kafka.tools.DumpLogSegments",
)
KAFKA_3_9_NEW: Final = Release(
    "3.9.1-new",
    (KAFKA_3_9_1,),
    COMMON
    | NEW_COORDINATOR
    | {
        "group.coordinator.new.enable": "true",
        "group.coordinator.rebalance.protocols": "classic,consumer",
        # Off by default before 4.0.
        "group.consumer.migration.policy": "bidirectional",
    },
    "kafka.tools.DumpLogSegments",
)

# The first preview of the new coordinator.
KAFKA_3_7_NEW: Final = Release(
    "3.7.2-new",
    (KAFKA_3_7_2, LOGGING),
    COMMON
    | NEW_COORDINATOR
    | {
        "group.coordinator.new.enable": "true",
        "group.coordinator.rebalance.protocols": "classic,consumer",
        # It does not verify transactions before it appends to them, and the log refuses what nobody verified.
        "transaction.partition.verification.enable": "false",
    },
    "kafka.tools.DumpLogSegments",
)

# That of tests which need a broker of no certain release.
NEWEST: Final = KAFKA_4_4
# Those of which everything that a release can write is captured.
RELEASES: Final = {release.name: release for release in (NEWEST, KAFKA_3_9_OLD, KAFKA_3_9_NEW)}
# Once the newest ones. Longer captures of theirs stay, that of everything is for soak.
FORMER: Final = {release.name: release for release in (KAFKA_4_3,)}
