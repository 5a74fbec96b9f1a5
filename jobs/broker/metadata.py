"""Reads the metadata of a cluster: nodes, topics and partitions."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

# For an address from a user: the node at it is unknown.
BOOTSTRAP: Final = -1


@dataclass(frozen=True)
class Offsets:
    """The log start offset, and the high watermark for a reader of uncommitted records."""

    start: int
    end: int
    leader_epoch: int | None


@dataclass(frozen=True)
class Partition:
    partition: int
    leader: int | None
    leader_epoch: int | None
    replicas: tuple[int, ...]


@dataclass(frozen=True)
class Topic:
    name: str
    topic_id: str | None
    partitions: tuple[Partition, ...]


@dataclass(frozen=True)
class Node:
    id: int
    host: str
    port: int
    rack: str | None


def topic_of(metadata: Any) -> Topic:
    partitions = (
        Partition(
            each.partition_index,
            none_if_negative(each.leader_id),
            none_if_negative(each.leader_epoch),
            tuple(each.replica_nodes),
        )
        for each in metadata.partitions
    )
    ordered = tuple(sorted(partitions, key=lambda each: each.partition))
    return Topic(metadata.name, printed_id(metadata.topic_id), ordered)


def printed_id(topic_id: UUID | None) -> str | None:
    """In Kafka's form; None from brokers without topic ids."""
    if topic_id is None or not topic_id.int:
        return None
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def metadata_request(names: Sequence[str] | None) -> Any:
    """Without names: all topics. Never creates one."""
    from kafka.protocol.metadata import MetadataRequest

    topics = None if names is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False, min_version=4)


def none_if_negative(number: int | None) -> int | None:
    return None if number is None or number < 0 else number
