"""A cluster of three real nodes, each broker and controller, of which one may be lost."""

import base64
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.kafka.broker import Broker, free_ports, kafka_command

NODES: Final = 3
REPLICATED: Final = {
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "default.replication.factor": "3",
    # What a lost node led is soon led by another.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}


@dataclass
class Node(Broker):
    number: int = 0
    of_cluster: dict[str, str] = field(default_factory=dict)
    cluster_id: str = ""

    def write_properties(self, overrides):
        of_node = {"node.id": str(self.number), "broker.rack": f"rack-{self.number}"}
        return super().write_properties(of_node | self.of_cluster | overrides)

    def format(self):
        features = [argument for feature in self.release.features for argument in ("--feature", feature)]
        arguments = ["format", "--config", str(self.write_properties({})), f"--cluster-id={self.cluster_id}", *features]
        subprocess.run(
            kafka_command(self.release, "kafka.tools.StorageTool", arguments),
            capture_output=True,
            check=True,
            timeout=240,
        )

    def kill(self):
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()


@contextmanager
def three_running(release, folder):
    ports = free_ports(2 * NODES)
    voters = ",".join(f"{number + 1}@127.0.0.1:{ports[2 * number + 1]}" for number in range(NODES))
    of_cluster = REPLICATED | {"controller.quorum.voters": voters}
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    nodes = []
    with ExitStack() as held:
        for number in range(NODES):
            home = folder / str(number + 1)
            home.mkdir(parents=True)
            port, controller_port = ports[2 * number : 2 * number + 2]
            node = Node(release, home, port, controller_port, None, number + 1, of_cluster, cluster_id)
            node.format()
            # Without the others a node waits for minutes before it ends by itself.
            held.callback(node.kill)
            nodes.append(node)
        with ThreadPoolExecutor(NODES) as pool:
            # None is serving before a second one is there.
            list(pool.map(lambda node: node.start({}), nodes))
        yield nodes
