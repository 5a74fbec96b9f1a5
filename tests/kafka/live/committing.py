"""Offsets that a client commits, where a whole scenario would be too much."""

from kafka import KafkaConsumer
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.structs import OffsetAndMetadata, TopicPartition


def make_topics(broker, *names):
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    admin.create_topics([NewTopic(name, num_partitions=2, replication_factor=1) for name in names])
    admin.close()


def commit(broker, group, topic, number):
    """So many commits, one after the other."""
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap, group_id=group, enable_auto_commit=False)
    for offset in range(number):
        consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(offset, "", -1)})
    consumer.close(autocommit=False)
