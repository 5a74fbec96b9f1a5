"""A running cluster: its nodes, topics, offsets and settings, and any other request to one of its brokers.

with KafkaCluster("broker-1:9092,broker-2:9092", client_properties(path)) as cluster:
    topic = cluster.topics(["__consumer_offsets"])["__consumer_offsets"]
"""

import base64
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self
from uuid import UUID

from jobs.client_properties import ClientProperties
from jobs.client_security import security
from jobs.failure import Failure
from jobs.kafka_connection import KafkaConnection
from jobs.kafka_errors import (
    ABSENT_TOPIC,
    FORBIDDEN_CLUSTER,
    FORBIDDEN_TOPIC,
    ConnectionLost,
    Forbidden,
    error_name,
    leave_out,
    needs,
)
from jobs.kafka_offsets import EARLIEST, LATEST, known, listed_offsets
from jobs.patience import Patience
from schemas.exit_codes import ExitCode

# Whoever gives an address by which nobody answers shall know soon; a read that has begun waits longer.
OPEN_SECONDS: Final = 5.0
BROKER_RESOURCE: Final = 4


@dataclass(frozen=True)
class Offsets:
    """The log start, and the high watermark as a reader of uncommitted records sees it."""

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


class KafkaCluster:
    """Opened where it is used: connections cannot go to tasks."""

    def __init__(self, servers: str, properties: ClientProperties) -> None:
        self.cluster_id: str | None = None
        self.properties = properties
        self._servers = addresses(servers)
        self._security = security(properties.values)
        self._connections: dict[int, KafkaConnection] = {}
        self._nodes: dict[int, Node] = {}
        self._leaders: dict[tuple[str, int], int] = {}
        self._open(Patience(min(OPEN_SECONDS, properties.seconds("default.api.timeout.ms"))))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def patience(self) -> Patience:
        return Patience(self.properties.seconds("default.api.timeout.ms"))

    def nodes(self) -> list[Node]:
        return sorted(self._nodes.values(), key=lambda node: node.id)

    def ask(self, request: Any, node: int | None = None) -> Any:
        """The answer of that node, or of any, to a request of kafka.protocol; errors inside it are the caller's."""
        patience = self.patience()
        while True:
            try:
                return self.asked_once(request, node)
            except ConnectionLost as error:
                patience.wait(str(error))

    def asked_once(self, request: Any, node: int | None = None) -> Any:
        """ConnectionLost where `ask` tries again."""
        if node is None:
            return self._any_answer(request)
        connection = self.connection(node)
        try:
            return connection.ask(request)
        except BaseException:
            # A request without its answer would shift all later ones.
            self.lose(node)
            raise

    def connection(self, node: int) -> KafkaConnection:
        if node not in self._connections:
            found = self._nodes.get(node)
            if found is None:
                raise ConnectionLost(f"node {node} is not among the brokers of the cluster")
            self._connections[node] = self._connected(found.host, found.port)
        return self._connections[node]

    def lose(self, node: int) -> None:
        connection = self._connections.pop(node, None)
        if connection is not None:
            connection.close()

    def topics(
        self, names: Sequence[str] | None = None, left_out: dict[str, str] | None = None
    ) -> dict[str, Topic | None]:
        """By name, None where there is no such topic; all topics that may be seen, when no names are given.

        What may not be seen goes to `left_out` with the reason, or else fails.
        """
        patience = self.patience()
        while True:
            answer = self.ask(metadata_request(names))
            self._learn(answer)
            codes = {each.name: each.error_code for each in answer.topics}
            unsure = {name: code for name, code in codes.items() if code not in {0, ABSENT_TOPIC, FORBIDDEN_TOPIC}}
            if not unsure:
                break
            name, code = next(iter(unsure.items()))
            patience.wait(f"topic {name}: {error_name(code)}")
        for name in (name for name, code in codes.items() if code == FORBIDDEN_TOPIC):
            leave_out(left_out, name, needs("DESCRIBE", name))
        return {
            each.name: None if each.error_code else topic_of(each)
            for each in answer.topics
            if each.error_code != FORBIDDEN_TOPIC
        }

    def offsets(
        self, partitions: Sequence[tuple[str, int]], left_out: dict[tuple[str, int], str] | None = None
    ) -> dict[tuple[str, int], Offsets]:
        """Of each partition; what cannot be told goes to `left_out` with the reason, or else fails."""
        starts = listed_offsets(self, partitions, EARLIEST, left_out)
        ends = listed_offsets(self, list(starts), LATEST, left_out)
        return {each: Offsets(starts[each][0], end, epoch) for each, (end, epoch) in ends.items()}

    def settings(self, names: Sequence[str]) -> dict[str, str]:
        """Of one of the brokers; without those that it does not know or tell."""
        from kafka.protocol.admin import DescribeConfigsRequest

        node = self.nodes()[0].id
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=BROKER_RESOURCE, resource_name=str(node), configuration_keys=list(names)
        )
        answer = self.ask(DescribeConfigsRequest(resources=[resource]), node).results[0]
        if answer.error_code == FORBIDDEN_CLUSTER:
            raise Forbidden("settings of the brokers: the user lacks DESCRIBE_CONFIGS on the cluster")
        if answer.error_code:
            line = f"settings of broker {node}: {error_name(answer.error_code)}"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)
        return {each.name: each.value for each in answer.configs if each.value is not None and each.name in names}

    def leader(self, topic: str, partition: int) -> int | None:
        """As it was when last asked: `forget_leader` has it asked anew."""
        if (topic, partition) not in self._leaders:
            self.topics([topic])
        return self._leaders.get((topic, partition))

    def is_leader_known(self, topic: str, partition: int) -> bool:
        return (topic, partition) in self._leaders

    def forget_leader(self, topic: str, partition: int) -> None:
        self._leaders.pop((topic, partition), None)

    def refresh(self, names: Sequence[str] = ()) -> None:
        """One try at asking who leads these topics and which nodes there are."""
        self._learn(self.asked_once(metadata_request(names)))

    def _open(self, patience: Patience) -> None:
        while True:
            reasons = []
            for host, port in self._servers:
                try:
                    connection = self._connected(host, port)
                    try:
                        return self._learn(connection.ask(metadata_request([])))
                    finally:
                        connection.close()
                except ConnectionLost as error:
                    reasons.append(str(error))
            patience.wait("; ".join(reasons))

    def _connected(self, host: str, port: int) -> KafkaConnection:
        connect = self.properties.seconds("socket.connection.setup.timeout.ms")
        return KafkaConnection(host, port, self._security, connect, self.properties.seconds("request.timeout.ms"))

    def _any_answer(self, request: Any) -> Any:
        """Of a node that is connected rather than of one that is not."""
        reasons = []
        for node in sorted(self._nodes, key=lambda node: (node not in self._connections, random.random())):
            try:
                return self.asked_once(request, node)
            except ConnectionLost as error:
                reasons.append(str(error))
        raise ConnectionLost("; ".join(reasons))

    def _learn(self, metadata: Any) -> None:
        if not metadata.brokers:
            raise ConnectionLost("the cluster names no brokers yet")
        self._nodes = {each.node_id: Node(each.node_id, each.host, each.port, each.rack) for each in metadata.brokers}
        self.cluster_id = metadata.cluster_id
        for topic in metadata.topics:
            for each in topic.partitions:
                self._leaders.pop((topic.name, each.partition_index), None)
                if each.leader_id >= 0:
                    self._leaders[topic.name, each.partition_index] = each.leader_id


def addresses(servers: str) -> list[tuple[str, int]]:
    """Of "HOST:PORT,[IPV6]:PORT,…"."""
    found = []
    for each in servers.split(","):
        host, colon, port = each.strip().rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16):
            line = f"kafka source: {each.strip()!r} is no HOST:PORT"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)
        found.append((host, int(port)))
    return found


def topic_of(metadata: Any) -> Topic:
    partitions = (
        Partition(each.partition_index, known(each.leader_id), known(each.leader_epoch), tuple(each.replica_nodes))
        for each in metadata.partitions
    )
    ordered = tuple(sorted(partitions, key=lambda each: each.partition))
    return Topic(metadata.name, printed_id(metadata.topic_id), ordered)


def printed_id(topic_id: UUID | None) -> str | None:
    """As Kafka prints it; None from brokers that know none."""
    if topic_id is None or not topic_id.int:
        return None
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def metadata_request(names: Sequence[str] | None) -> Any:
    """Of all topics without names. Never creates one."""
    from kafka.protocol.metadata import MetadataRequest

    topics = None if names is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False, min_version=4)
