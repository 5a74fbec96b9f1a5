"""Kafka's admin client of a broker, without the tools, which take a second to start."""

from collections.abc import Iterator
from contextlib import contextmanager

from kafka.admin import KafkaAdminClient

from tests.kafka.broker import Broker


@contextmanager
def admin_of(broker: Broker) -> Iterator[KafkaAdminClient]:
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    try:
        yield admin
    finally:
        admin.close()
