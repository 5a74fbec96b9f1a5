"""A consumer of confluent-kafka, which is librdkafka."""

import confluent_kafka

from tests.kafka.handovers.obeying import POLL_SECONDS, Partition, Reader

MOST_MESSAGES = 1_000


class Consumer:
    def __init__(self, bootstrap: str, reader: Reader) -> None:
        self._reader, order = reader, reader.order
        settings = {
            "bootstrap.servers": bootstrap,
            "group.id": order["group"],
            "client.id": order["client"],
            "max.poll.interval.ms": order["max_poll_ms"],
            "enable.auto.commit": order["commit_ms"] > 0,
            "auto.commit.interval.ms": order["commit_ms"],
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 1_000,
            "fetch.min.bytes": 1 << 20,
            "fetch.wait.max.ms": 100,
        }
        if order["is_static"]:
            settings["group.instance.id"] = order["client"]
        if order["protocol"] == "consumer":
            settings["group.protocol"] = "consumer"
        else:
            settings |= {
                "partition.assignment.strategy": order["protocol"],
                "session.timeout.ms": order["session_ms"],
                "heartbeat.interval.ms": order["heartbeat_ms"],
            }
        self._consumer = confluent_kafka.Consumer(settings)
        self._consumer.subscribe(order["topics"], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)

    def _assigned(self, _, partitions):
        self._reader.write("assigned", pairs(partitions))

    def _revoked(self, _, partitions):
        self._reader.revoked(pairs(partitions))

    def _lost(self, _, partitions):
        self._reader.write("lost", pairs(partitions))

    def poll(self) -> dict[Partition, int]:
        last = {}
        for message in self._consumer.consume(MOST_MESSAGES, POLL_SECONDS):
            if message.error() is None:
                last[message.topic(), message.partition()] = message.offset()
        return last

    def assignment(self) -> list[Partition]:
        return pairs(self._consumer.assignment())

    def close(self) -> None:
        self._consumer.close()


def pairs(partitions) -> list[Partition]:
    return [(each.topic, each.partition) for each in partitions]
