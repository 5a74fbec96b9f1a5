"""A live cluster: its nodes, topics, offsets and settings. It can send any other request to one of its brokers.

with KafkaCluster("broker-1:9092,broker-2:9092", client_properties(path)) as cluster:
    topic = cluster.topics(["__consumer_offsets"])["__consumer_offsets"]
"""

import random
import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final, Self

from jobs.broker.client_properties import ClientProperties
from jobs.broker.client_security import security
from jobs.broker.connection import CLIENT_ID, KafkaConnection
from jobs.broker.errors import (
    ABSENT_TOPIC,
    FORBIDDEN_CLUSTER,
    FORBIDDEN_TOPIC,
    ConnectionLost,
    Forbidden,
    error_name,
    is_passing,
    leave_out,
    needs,
)
from jobs.broker.metadata import BOOTSTRAP, Node, Offsets, Partition, Topic, metadata_request, topic_of
from jobs.broker.patience import Patience
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

__all__ = ["KafkaCluster", "Node", "Offsets", "Partition", "Topic"]

# A wrong address should fail soon.
OPEN_SECONDS: Final = 5.0
BROKER_RESOURCE: Final = 4
# Neither a URL nor a user name belongs before the port.
HOST: Final = re.compile(r"[^\s/@]+")
PORT: Final = re.compile(r"0*[0-9]{1,5}", re.ASCII)


class KafkaCluster:
    """Open it where it is used: connections cannot be passed to tasks."""

    def __init__(self, servers: str, properties: ClientProperties, is_known_to_answer: bool = False) -> None:
        """A cluster that has answered before gets more time: its brokers may be restarting."""
        self._servers = addresses(servers)
        if find_spec("kafka") is None:
            line = "reading a cluster needs kafka-python: pip install 'groupscope[kafka]'"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)
        self.cluster_id: str | None = None
        self.properties = properties
        self._security = security(properties.values)
        self._connections: dict[int, KafkaConnection] = {}
        self._nodes: dict[int, Node] = {}
        self._leaders: dict[tuple[str, int], int] = {}
        seconds = properties.seconds("default.api.timeout.ms")
        self._open(Patience(seconds if is_known_to_answer else min(OPEN_SECONDS, seconds)))

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
        """The response of that node, or of any node, to a request of kafka.protocol. The caller handles errors inside
        it."""
        patience = self.patience()
        while True:
            try:
                return self.ask_once(request, node)
            except ConnectionLost as error:
                patience.wait(str(error))

    def ask_once(self, request: Any, node: int | None = None) -> Any:
        """Raises ConnectionLost where `ask` retries."""
        if node is None:
            return self._any_answer(request)
        connection = self._connection(node)
        try:
            return connection.ask(request)
        except BaseException:
            # After a request without a response, all later responses would be assigned to the wrong requests.
            self._connections.pop(node).close()
            raise

    def topics(
        self, names: Sequence[str] | None = None, left_out: dict[str, str] | None = None
    ) -> dict[str, Topic | None]:
        """Topics by name; None for a topic that does not exist. Without names: all visible topics. Forbidden topics go
        to `left_out` with the reason; without `left_out`, the call fails.
        """
        patience = self.patience()
        while True:
            answer = self.ask(metadata_request(names))
            self._learn(answer)
            passing = [
                each for each in answer.topics if each.error_code != ABSENT_TOPIC and is_passing(each.error_code)
            ]
            if not passing:
                break
            patience.wait(f"topic {passing[0].name}: {error_name(passing[0].error_code)}")
        by_name: dict[str, Topic | None] = {}
        for each in answer.topics:
            if each.error_code in {0, ABSENT_TOPIC}:
                by_name[each.name] = None if each.error_code else topic_of(each)
            else:
                leave_out(left_out, each.name, topic_problem(each.name, each.error_code))
        return by_name

    def settings(self, names: Sequence[str]) -> dict[str, str]:
        """Settings of one of the brokers, without those that it does not know or may not show."""
        from kafka.protocol.admin import DescribeConfigsRequest

        def request(node: int) -> Any:
            resource = DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=BROKER_RESOURCE, resource_name=str(node), configuration_keys=list(names)
            )
            return DescribeConfigsRequest(resources=[resource])

        patience = self.patience()
        while True:
            try:
                # Only the broker itself knows its settings.
                answer = self._any_answer(request).results[0]
                break
            except ConnectionLost as error:
                patience.wait(str(error))
        if answer.error_code == FORBIDDEN_CLUSTER:
            raise Forbidden(
                "settings of the brokers are left out: the Kafka user has no DESCRIBE_CONFIGS permission on the cluster"
            )
        if answer.error_code:
            line = f"settings of broker {answer.resource_name}: {error_name(answer.error_code)}"
            raise Failure(ExitCode.UNREADABLE_INPUT, line)
        return {each.name: each.value for each in answer.configs if each.value is not None and each.name in names}

    def leader(self, topic: str, partition: int) -> int | None:
        """The leader at the last request; None if there was none."""
        return self._leaders.get((topic, partition))

    def forget_leader(self, topic: str, partition: int) -> None:
        self._leaders.pop((topic, partition), None)

    def refresh(self, names: Sequence[str] = ()) -> dict[str, int]:
        """Asks once who leads these topics and which nodes exist; returns the errors of topics."""
        answer = self.ask_once(metadata_request(names))
        self._learn(answer)
        return {each.name: each.error_code for each in answer.topics}

    def _open(self, patience: Patience) -> None:
        while True:
            reasons = []
            failures = []
            for node in self._servers:
                try:
                    return self._learn(self._asked_server(node, metadata_request([])))
                except ConnectionLost as error:
                    reasons.append(str(error))
                except Failure as error:
                    failures.append(error)
            if failures:
                raise failures[0]
            patience.wait("; ".join(reasons))

    def _asked_server(self, node: Node, request: Any) -> Any:
        from kafka.errors import IncompatibleBrokerVersion

        connection = self._connect(node)
        try:
            return connection.ask(request)
        except IncompatibleBrokerVersion as error:
            line = (
                f"{connection.name}: this is a KRaft controller, or a broker older than Kafka 1.0; give the address "
                "of a broker of Kafka 1.0 or later"
            )
            raise Failure(ExitCode.UNREADABLE_INPUT, line) from error
        finally:
            connection.close()

    def _connect(self, node: Node) -> KafkaConnection:
        connect = self.properties.seconds("socket.connection.setup.timeout.ms")
        answer = self.properties.seconds("request.timeout.ms")
        return KafkaConnection(node, self._security, connect, answer, self.properties.get("client.id", CLIENT_ID))

    def _connection(self, node: int) -> KafkaConnection:
        if node not in self._connections:
            if node not in self._nodes:
                raise ConnectionLost(f"node {node} is not among the brokers of the cluster")
            self._connections[node] = self._connect(self._nodes[node])
        return self._connections[node]

    def _any_answer(self, request: Any) -> Any:
        """From a connected node if there is one. The request may be built for its node."""
        reasons = []
        for node in sorted(self._nodes, key=lambda node: (node not in self._connections, random.random())):
            try:
                return self.ask_once(request(node) if callable(request) else request, node)
            except ConnectionLost as error:
                reasons.append(str(error))
        # All brokers may have moved.
        for server in [] if callable(request) else self._servers:
            try:
                return self._asked_server(server, request)
            except (ConnectionLost, Failure) as error:
                reasons.append(str(error))
        raise ConnectionLost("; ".join(dict.fromkeys(reasons)))

    def _learn(self, metadata: Any) -> None:
        if not metadata.brokers:
            raise ConnectionLost("the cluster's metadata lists no broker yet")
        self._nodes = {each.node_id: Node(each.node_id, each.host, each.port, each.rack) for each in metadata.brokers}
        self.cluster_id = metadata.cluster_id
        for topic in metadata.topics:
            for each in topic.partitions:
                self.forget_leader(topic.name, each.partition_index)
                if each.leader_id >= 0:
                    self._leaders[topic.name, each.partition_index] = each.leader_id


def topic_problem(name: str, code: int) -> Failure:
    if code == FORBIDDEN_TOPIC:
        return needs("DESCRIBE", name)
    return Failure(ExitCode.UNREADABLE_INPUT, f"topic {name}: {error_name(code)}")


def addresses(servers: str) -> list[Node]:
    """Addresses in "HOST:PORT,[IPV6]:PORT,…", as given on the command line."""
    nodes = []
    for each in servers.split(","):
        host, _, port = each.strip().rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (HOST.fullmatch(host) and PORT.fullmatch(port) and 0 < int(port) < 1 << 16):
            line = f"{each.strip()!r} is no HOST:PORT; give the host and port of a broker, such as broker-1:9092"
            raise Failure(ExitCode.USAGE, f"--source kafka:{servers}: {line}")
        nodes.append(Node(BOOTSTRAP, host, int(port), None))
    return nodes
