"""Groups whose members come, go, are killed and subscribe anew, all at once. A seed draws what they do."""

import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.kafka.handovers.processes import Process
from tests.kafka.rdkafka.hosts import Host
from tests.kafka.rdkafka.strangers import Stranger, drawn_subscription

# Their names are in another order than their counts, and than the broker's set of them.
TOPICS: Final[Mapping[str, int]] = {
    "walnut": 1, "beech": 6, "oak": 3, "ash": 6, "elm": 2, "maple": 9, "birch": 3, "lime": 4, "yew": 3,
}  # fmt: skip
RANGE, ROUNDROBIN, COOPERATIVE = "range", "roundrobin", "cooperative-sticky"
PAUSES: Final = (0.0, 0.0, 0.3, 0.8, 1.2)
# A stranger that would lead goes, and comes again.
STRANGE_SECONDS: Final = 12
JAVA_SETTINGS: Final = {
    "commit_ms": 0, "slow_ms": 0, "max_poll_ms": 60_000, "session_ms": 3_000, "heartbeat_ms": 300,
}  # fmt: skip


@dataclass
class Stage:
    """Where members live: each group has a host of its own, and all share another one."""

    bootstrap: str
    folder: Path
    java: Process
    shared_host: Host | None = None

    def host(self) -> Host:
        return Host(self.bootstrap, self.folder / "hosts.out")


@dataclass
class Life:
    """A group. Client ids begin with the library: `rdkafka`, `java` or `stranger`."""

    name: str
    seed: int
    stage: Stage
    members: dict[str, tuple[str, Any]] = field(default_factory=dict)
    # Whether some of its members may live beside those of other groups.
    are_shared: bool = False
    # How often the process of its leader ended by itself.
    num_failed: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.protocol = self.chance.choice((COOPERATIVE, COOPERATIVE, COOPERATIVE, RANGE, ROUNDROBIN))
        self.topics = dict(self.chance.sample(sorted(TOPICS.items()), self.chance.randint(1, 7)))
        self.num_named = 0
        self.own_host = self.stage.host()

    def live(self, num_events: int) -> None:
        raise NotImplementedError

    def drawn_topics(self, is_equal: bool) -> list[str]:
        number = len(self.topics) if is_equal else self.chance.randint(1, len(self.topics))
        return self.chance.sample(sorted(self.topics), number)

    def named(self, library: str) -> str:
        self.num_named += 1
        # So that ids come in any order.
        return f"{library}-{self.chance.choice('abcdefgh')}{self.num_named}-{self.name}"

    def join(self, library: str, topics: Sequence[str], is_static: bool, *, name: str | None = None) -> None:
        client = name or self.named(library)
        if library == "java":
            order = {"group": self.name, "protocol": self.protocol, "is_static": is_static, "topics": list(topics)}
            self.stage.java.order("join", client=client, **order, **JAVA_SETTINGS)
            self.members[client] = library, None
            return
        settings = {"group.id": self.name, "client.id": client, "partition.assignment.strategy": self.protocol}
        if is_static:
            settings["group.instance.id"] = client
        if self.chance.random() < 0.2:
            settings["client.rack"] = self.chance.choice(("rack-a", "rack-b"))
        host = self.own_host
        if self.are_shared and self.stage.shared_host is not None and self.chance.random() < 0.5:
            host = self.stage.shared_host
        host.order("join", client, settings=settings, topics=list(topics))
        self.members[client] = library, host

    def leave(self, client: str) -> None:
        library, host = self.members.pop(client)
        if library == "java":
            self.stage.java.order("close", client=client)
        else:
            host.order("close", client)

    def kill(self) -> list[str]:
        """Its host, and so the members there. Another host takes its place."""
        self.end()
        killed = [client for client, (_, host) in self.members.items() if host is self.own_host]
        self.own_host = self.stage.host()
        for client in killed:
            del self.members[client]
        return killed

    def end(self) -> None:
        self.num_failed += self.own_host.has_failed
        self.own_host.kill()

    def pause(self) -> None:
        time.sleep(self.chance.choice(PAUSES))


class RealLife(Life):
    """Members of librdkafka, in every third group beside members of Kafka's own library."""

    def live(self, num_events: int) -> None:
        has_java = self.protocol != ROUNDROBIN and self.chance.random() < 0.35
        libraries = ("rdkafka", "java") if has_java else ("rdkafka",)
        # With unequal subscriptions a leader may end its process.
        self.are_shared = are_equal = self.chance.random() < 0.5
        static = self.chance.choice((0.0, 0.0, 0.5, 1.0))
        for at in range(self.chance.randint(1, 4) + num_events):
            word = (
                "join" if at < 2 or len(self.members) < 2 else self.chance.choice(("join", "leave", "change", "kill"))
            )
            client = self.chance.choice(sorted(self.members) or [""])
            if word == "join" and len(self.members) < 6:
                self.join(self.chance.choice(libraries), self.drawn_topics(are_equal), self.chance.random() < static)
            elif word == "kill":
                for name in self.kill():
                    if self.chance.random() < 0.7:
                        self.join("rdkafka", self.drawn_topics(are_equal), static > 0, name=name)
            elif word == "change" and self.members[client][0] == "rdkafka" and not are_equal:
                self.members[client][1].order("subscribe", client, topics=self.drawn_topics(False))
            else:
                self.leave(client)
            self.pause()
        time.sleep(1.2)
        for client in list(self.members):
            self.leave(client)
        time.sleep(0.3)
        self.end()


class StrangeLife(Life):
    """A member of librdkafka leads others that claim anything."""

    def live(self, num_events: int) -> None:
        self.join("rdkafka", self.drawn_topics(self.chance.random() < 0.5), self.chance.random() < 0.3)
        time.sleep(1.5)
        port = int(self.stage.bootstrap.rpartition(":")[2])
        racks = self.chance.choice(((None,), (None, ""), (None, "", "rack-a", "rack-b")))
        static = self.chance.choice((0.0, 0.5))
        for_all = self.chance.random() < 0.5

        def live_one(client: str, chance: random.Random) -> None:
            instance = client if chance.random() < static else None
            one = Stranger(port, self.name, client, instance, self.protocol)
            left, end = num_events, time.monotonic() + STRANGE_SECONDS
            while left and time.monotonic() < end:
                said = drawn_subscription(chance, self.topics, one.generation, racks, for_all)
                if one.join(said):
                    left -= 1
                    one.stay(chance.choice((0.5, 1.0, 1.5)))
                else:
                    time.sleep(0.5)
            one.close()

        strangers = [
            threading.Thread(target=live_one, args=(self.named("stranger"), random.Random(self.chance.random())))
            for _ in range(self.chance.randint(1, 6))
        ]
        for each in strangers:
            each.start()
        for each in strangers:
            each.join()
        self.end()
