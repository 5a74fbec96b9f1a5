"""Groups whose members join, leave, are killed and stand still by order, on one broker."""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.kafka.broker import Broker
from tests.kafka.handovers.diaries import Line
from tests.kafka.handovers.processes import PATIENCE_SECONDS, STAGE, Diaries, Process

SESSION_MS: Final = 6_000
HEARTBEAT_MS: Final = 1_000
CALM_MS: Final = 500
# Members of other libraries than Kafka's own may poll on for ever and not join again: of kafka-python 3.0.12 when their
# assignment is empty, or of partitions that they did not hear of; of librdkafka when the broker was away for long.
STUCK_MS: Final = 30_000
SNAPSHOT_EVERY_SECONDS: Final = 3
RANGE, COOPERATIVE, CONSUMER = "range", "cooperative-sticky", "consumer"
STREAMS, SHARE = "streams", "share"
JAVA, KAFKA_PYTHON, CONFLUENT = "java", "kafka-python", "confluent"
CLASSIC: Final = (RANGE, COOPERATIVE)


@dataclass
class Group:
    """`commit_ms`: how often its members commit; 0: they never do."""

    name: str
    library: str
    protocol: str
    topics: tuple[str, ...] = ("orders",)
    is_static: bool = False
    commit_ms: int = 500
    slow_ms: int = 0
    max_poll_ms: int = 60_000
    session_ms: int = SESSION_MS
    heartbeat_ms: int = HEARTBEAT_MS
    members: list[str] = field(default_factory=list)
    num_named: int = 0

    @property
    def kind(self) -> str:
        return "classic" if self.protocol in CLASSIC else self.protocol


class Play:
    """`start` starts the broker again as it was started first. Since 4.0 groups have settings of their own."""

    def __init__(self, broker: Broker, folder: Path, start: Callable[[], None], is_since_4: bool) -> None:
        self.broker, self.folder, self.start = broker, folder, start
        self.is_since_4 = is_since_4
        self.is_over = False
        # The moments of a play are never those of another one: its seed only makes the draws good ones.
        self.random = random.Random(1)
        self.partitions: dict[str, int] = {}
        self.groups: dict[str, Group] = {}
        self._events: list[dict[str, Any]] = []
        self._stuck: set[str] = set()
        self._processes: list[Process] = []
        self._of_client: dict[str, Process] = {}
        self._lock = threading.Lock()
        # A snapshot that looks for a topic that is being deleted waits for it in vain.
        self._topics_stay = threading.Lock()
        self.diaries = Diaries(folder)
        self.stage = self.process(JAVA, STAGE)
        self.stayers = {JAVA: self.stage}

    # -- processes and members

    def process(self, library: str, name: str) -> Process:
        process = Process(self.broker, self.folder, library, name)
        with self._lock:
            self._processes.append(process)
        return process

    def stayer(self, library: str) -> Process:
        """The process of the library that stays to the end."""
        with self._lock:
            return self.stayers[library]

    def join(self, group: Group, process: Process | None = None, client: str | None = None) -> str:
        if client is None:
            group.num_named += 1
            client = f"{group.name}-{group.num_named}"
        if group.name not in self.groups:
            self.groups[group.name] = group
            self.configure(group)
        group.members.append(client)
        process = process or self.stayer(group.library)
        process.clients[client] = group.name
        self._of_client[client] = process
        order = {name: value for name, value in asdict(group).items() if name not in ("members", "num_named", "name")}
        process.order("join", **order, group=group.name, client=client)
        return client

    def configure(self, group: Group) -> None:
        """Members of classic groups say it themselves."""
        if self.is_since_4 and group.kind in (CONSUMER, STREAMS) and group.session_ms != SESSION_MS:
            setting = f"{group.kind}.session.timeout.ms"
            self.stage.order("configure", group=group.name, setting=setting, value=str(group.session_ms))

    def close(self, group: Group, client: str) -> None:
        group.members.remove(client)
        process = self._of_client.pop(client)
        del process.clients[client]
        process.order("close", client=client)

    def stand_still(self, client: str, ms: int) -> None:
        self._of_client[client].order("stand_still", client=client, ms=ms)

    def kill(self, process: Process) -> None:
        ms = now_ms()
        process.kill()
        for client, name in process.clients.items():
            self.groups[name].members.remove(client)
            self.diaries.write(Line(ms, name, client, "killed"))
        process.clients.clear()

    # -- what a group waits for

    def settle(self, *groups: Group) -> None:
        """Until its members share all partitions; then for as long as some commits take, and no step in step."""
        begun_ms = now_ms()
        for group in groups:
            while not (group.name in self._stuck or self.is_settled(group)):
                waited_ms = now_ms() - begun_ms
                if group.library != JAVA and waited_ms > STUCK_MS:
                    self._stuck.add(group.name)
                    self._events.append({"event": "stuck", "group": group.name, "from_ms": begun_ms})
                # Or another group's script failed.
                if self.is_over or waited_ms > 1000 * PATIENCE_SECONDS:
                    raise RuntimeError(f"{group} did not settle: {self.diaries.described(group.name)}")
                time.sleep(0.1)
        time.sleep(self.random.uniform(0.7, 1.6))

    def is_settled(self, group: Group) -> bool:
        number = None if group.kind == SHARE else sum(self.partitions[topic] for topic in group.topics)
        return self.diaries.is_settled(group.name, group.members, number, CALM_MS)

    def leave_all(self, *groups: Group) -> None:
        for group in groups:
            for client in list(group.members):
                self.close(group, client)

    # -- topics

    def topic(self, name: str, partitions: int) -> None:
        self.stage.order("topic", topic=name, partitions=partitions)
        self.traffic(name, partitions)

    def traffic(self, topic: str, partitions: int) -> None:
        """To all partitions that it has from now on."""
        self.stage.order("traffic", topic=topic, partitions=partitions)
        self.partitions[topic] = partitions

    def delete(self, topic: str) -> None:
        with self._topics_stay:
            self.stage.order("delete", topic=topic)
            time.sleep(1)

    def snapshot(self) -> None:
        with self._topics_stay:
            self.stage.order("snapshot")

    @contextmanager
    def event(self, word: str, **more: Any) -> Iterator[None]:
        line = {"event": word, "from_ms": now_ms(), **more}
        yield
        self._events.append(line | {"to_ms": now_ms()})

    @contextmanager
    def snapshots(self) -> Iterator[None]:
        """One every few seconds."""
        is_over = threading.Event()

        def run() -> None:
            while not is_over.wait(SNAPSHOT_EVERY_SECONDS):
                self.snapshot()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def end(self) -> None:
        """Whoever is a member stays one in the log: the broker stops before it would notice."""
        self.broker.stop()
        self.kill_all()
        for line in self._events:
            with (self.folder / "events.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        groups = {name: {"kind": each.kind, "library": each.library, "protocol": each.protocol,
                         "is_static": each.is_static, "commit_ms": each.commit_ms, "slow_ms": each.slow_ms,
                         "topics": list(each.topics)}
                  for name, each in sorted(self.groups.items())}  # fmt: skip
        (self.folder / "groups.json").write_text(json.dumps(groups, indent=1) + "\n", encoding="utf-8")

    def kill_all(self) -> None:
        for process in self._processes:
            process.kill()
        self.diaries.close()


def now_ms() -> int:
    return int(time.time() * 1000)
