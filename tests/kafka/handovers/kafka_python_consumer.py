"""A consumer of kafka-python."""

from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor

from tests.kafka.handovers.obeying import POLL_SECONDS, Partition, Reader

ASSIGNORS = {"range": RangePartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}


class Consumer(ConsumerRebalanceListener):
    def __init__(self, bootstrap: str, reader: Reader) -> None:
        self._reader, order = reader, reader.order
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=order["group"],
            client_id=order["client"],
            group_instance_id=order["client"] if order["is_static"] else None,
            session_timeout_ms=order["session_ms"],
            heartbeat_interval_ms=order["heartbeat_ms"],
            max_poll_interval_ms=order["max_poll_ms"],
            partition_assignment_strategy=[ASSIGNORS[order["protocol"]]],
            enable_auto_commit=order["commit_ms"] > 0,
            auto_commit_interval_ms=order["commit_ms"] or 500,
            auto_offset_reset="earliest",
            metadata_max_age_ms=1_000,
            fetch_min_bytes=1 << 20,
            fetch_max_wait_ms=100,
        )
        self._consumer.subscribe(order["topics"], listener=self)

    def on_partitions_assigned(self, assigned):
        self._reader.write("assigned", [tuple(each) for each in assigned])

    def on_partitions_revoked(self, revoked):
        self._reader.revoked([tuple(each) for each in revoked])

    def on_partitions_lost(self, lost):
        self._reader.write("lost", [tuple(each) for each in lost])

    def poll(self) -> dict[Partition, int]:
        polled = self._consumer.poll(timeout_ms=int(POLL_SECONDS * 1000))
        return {(at.topic, at.partition): records[-1].offset for at, records in polled.items()}

    def assignment(self) -> list[Partition]:
        return [(each.topic, each.partition) for each in self._consumer.assignment()]

    def close(self) -> None:
        self._consumer.close()
