"""Where a story plays: a real broker, clients that do as they are told, names and numbers that its seed draws, and the
log that is left of it.

Several stories play on one broker at the same time. Names of groups are drawn until Kafka puts them into offsets
partitions that belong to the story alone, and names of topics begin with a word of its own. So the segments of these
partitions are the log of a cluster on which nothing else happened, byte by byte as the broker wrote it; of snapshots
the story has the lines of its time, without the topics of others.
"""

import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command, running
from tests.kafka.java_programs import compile_java
from tests.kafka.releases import KAFKA_4_3

HERE: Final = Path(__file__).parent
KAFKA_JAVA: Final = HERE.parent / "kafka" / "java"
PROGRAMS: Final = (
    KAFKA_JAVA / "Cluster.java",
    KAFKA_JAVA / "sample" / "Snapshots.java",
    *sorted((HERE / "java").glob("*.java")),
)
PARTITIONS_OF_A_STORY: Final = 2
# And a place that no story has.
MOST_STORIES: Final = 19
OFFSETS_PARTITIONS: Final = PARTITIONS_OF_A_STORY * (MOST_STORIES + 1)
# Consumer groups have the session that clients of classic groups have by default.
SETTINGS: Final = {
    "offsets.topic.num.partitions": str(OFFSETS_PARTITIONS),
    "group.consumer.session.timeout.ms": "45000",
    "group.consumer.heartbeat.interval.ms": "500",
}
SNAPSHOT_MS: Final = 2_000
# So many at the same time keep half a core busy.
TOGETHER: Final = 8
CALL_SECONDS: Final = 200
# A client that did not poll for so long, though nothing in the story kept it, had no processor: then nothing is known
# of what an audit should say.
LONGEST_PAUSE_MS: Final = 2_500

DOMAINS: Final = (
    "billing", "shop", "fleet", "claims", "ledger", "search", "parcel", "stock", "media", "risk", "travel", "energy",
    "clinic", "games", "mail", "sensor", "hotel", "bank", "farm", "rail",
)  # fmt: skip
TOPIC_WORDS: Final = ("orders", "events", "prices", "clicks", "updates", "payments", "views", "changes", "moves")
GROUP_WORDS: Final = (
    "writer", "indexer", "sync", "reader", "worker", "loader", "mailer", "cache", "stats", "export", "audit-trail",
    "enricher", "router", "alerts", "rollup", "archive", "scorer", "feed", "joiner", "backfill",
)  # fmt: skip
GROUP_ENDINGS: Final = ("", "-v2", "-eu", "-us", "-prod", "-1", "-blue", "-green", ".main", "_app")
CLASSIC: Final = ("range", "cooperative-sticky")
PROTOCOLS: Final = (*CLASSIC, "consumer")
ASSIGNORS: Final = {"range": "RangeAssignor", "cooperative-sticky": "CooperativeStickyAssignor"}


class Clients:
    """A process of clients. The first one also writes the traffic and takes snapshots; a second one is there to die."""

    def __init__(self, broker: Broker, classes: Path, output: Path, *arguments: str) -> None:
        command = kafka_command(
            KAFKA_4_3, "Clients", [broker.bootstrap, *arguments], classes, options=broker.scratch_options
        )
        self.output = output
        self._said = output.open("wb")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True, encoding="utf-8"
        )
        self._ids = count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def _listen(self) -> None:
        for line in self._process.stdout:
            told = json.loads(line)
            waiting = self._waiting.pop(told["id"])
            if "error" in told:
                waiting.set_exception(RuntimeError(told["error"]))
            else:
                waiting.set_result(told["answer"])
        for waiting in list(self._waiting.values()):
            waiting.set_exception(RuntimeError(f"the clients ended: {self.output.read_text(errors='replace')[-4000:]}"))

    def later(self, do: str, **wish: Any) -> "Future[Any]":
        waiting: Future[Any] = Future()
        with self._lock:
            number = next(self._ids)
            self._waiting[number] = waiting
            self._process.stdin.write(json.dumps({"id": number, "do": do, **wish}) + "\n")
            self._process.stdin.flush()
        return waiting

    def now(self, do: str, **wish: Any) -> Any:
        return self.later(do, **wish).result(CALL_SECONDS)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout, self._said):
            with suppress(BrokenPipeError):
                pipe.close()


@dataclass
class Group:
    """Clients that read the same topics in one way."""

    name: str
    protocol: str
    topics: tuple[str, ...]
    # What the members of it that are there are called, and whose process they are in.
    members: dict[str, Clients] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    commit_ms: int = 0
    # The topic that it writes to, in transactions; none: it has no transactions.
    output: str | None = None
    # Messages a second that each of its members can work off; 0: any number.
    rate: float = 0.0
    is_static: bool = False

    def __str__(self) -> str:
        by = "in transactions" if self.output else "by a timer" if self.settings.get("enable.auto.commit") else "itself"
        how = f"commits {by} every {self.commit_ms} ms" if self.settings else "commits in one moment"
        return f"{self.protocol}, reads {' and '.join(self.topics)}, {how}"


class Stage:
    """One story: what it draws, what it does and when, and what an audit should say of that."""

    def __init__(self, name: str, seed: int, place: int, clients: Clients, second: Callable[[], Clients]) -> None:
        self.name, self.seed = name, seed
        self.rng = random.Random(f"{seed} {name}")
        self.clients, self.second_process = clients, second
        domains = sorted(DOMAINS)
        random.Random(seed).shuffle(domains)
        self.place, self.domain = place, domains[place]
        self.offsets_partitions = range(place * PARTITIONS_OF_A_STORY, (place + 1) * PARTITIONS_OF_A_STORY)
        self.topics: dict[str, list[float]] = {}
        self.groups: dict[str, Group] = {}
        self.done: list[dict[str, str]] = []
        self.wanted: list[dict[str, Any]] = []
        self.quiet: dict[str, str] = {}
        self.begun = time.time()

    def seconds(self, least: float, most: float) -> float:
        return round(self.rng.uniform(least, most), 1)

    def now(self) -> float:
        """The second of the story."""
        return time.time() - self.begun

    def until(self, second: float) -> None:
        time.sleep(max(0.0, second - self.now()))

    def note(self, what: str) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.done.append({"at": at.replace("+00:00", "Z"), "what": what})

    def want(
        self, group: Group, severity: str, *kinds: str, why: str, may_be_silent: bool = False, **of_one: Any
    ) -> None:
        """One finding about the group, of one of the kinds: each is as right. `of_one`: its topic and partition."""
        self.quiet.pop(group.name, None)
        self.wanted.append(
            {"group": group.name, "severity": severity, "kinds": list(kinds), **of_one, "why": why}
            | ({"may_be_silent": True} if may_be_silent else {})
        )

    # Topics and their traffic.

    def topic(self, partitions: int, rate: float, quieter: float = 0.2) -> str:
        """Of so many messages a second in each partition, but for some that are quieter."""
        name = self.rng.choice([name for word in TOPIC_WORDS if (name := f"{self.domain}.{word}") not in self.topics])
        self.clients.now("topic", topic=name, partitions=partitions)
        self.traffic(name, [rate * self.rng.choice([1, 1, 1, quieter]) for _ in range(partitions)])
        return name

    def traffic(self, topic: str, rates: list[float]) -> None:
        self.topics[topic] = rates
        self.clients.now("traffic", topic=topic, rates=rates)

    # Groups and their members.

    def group_name(self) -> str:
        while True:
            endings = (*GROUP_ENDINGS, f"-{self.rng.randint(2, 40)}")
            name = f"{self.domain}-{self.rng.choice(GROUP_WORDS)}{self.rng.choice(endings)}"
            if name not in self.groups and place_of(name) == self.place:
                return name

    def group(self, *topics: str, commit_ms: int = 0, protocols: Sequence[str] = PROTOCOLS, **settings: Any) -> Group:
        """It commits by the client's timer or by itself, as the seed draws."""
        made = Group(self.group_name(), self.rng.choice(protocols), topics)
        made.commit_ms = commit_ms or self.rng.randrange(500, 1_100, 100)
        made.settings = {"metadata.max.age.ms": 2_000, "enable.auto.commit": self.rng.random() < 0.5, **settings}
        if made.settings["enable.auto.commit"]:
            made.settings["auto.commit.interval.ms"] = made.commit_ms
        if made.protocol == "consumer":
            made.settings["group.protocol"] = "consumer"
        else:
            made.settings["heartbeat.interval.ms"] = 500
            assignor = f"org.apache.kafka.clients.consumer.{ASSIGNORS[made.protocol]}"
            made.settings["partition.assignment.strategy"] = assignor
        self.groups[made.name] = made
        return made

    def short_session(self, group: Group, session: int) -> None:
        """In milliseconds. Before its members come."""
        if group.protocol == "consumer":
            timers = {"consumer.session.timeout.ms": str(session), "consumer.heartbeat.interval.ms": "500"}
            self.clients.now("configure", group=group.name, settings=timers)
        else:
            group.settings["session.timeout.ms"] = session

    def healthy(self, *topics: str) -> None:
        """One or two groups that do as they should from the story's beginning to its end."""
        for _ in range(self.rng.randint(1, 2)):
            is_idle = self.rng.random() < 0.2
            read = [self.topic(2, 0)] if is_idle else topics
            group = self.group(*read, commit_ms=self.rng.choice([0, 0, 0, 3_000]))
            self.join(group, self.rng.randint(1, 2))
            what = "it has read all there is, and nothing comes" if is_idle else "it reads and commits all the time"
            self.quiet[group.name] = what

    def join(self, group: Group, number: int = 1, process: Clients | None = None) -> list[str]:
        """Returns when the group has given out every partition."""
        names = [f"{group.name}-{each + 1}" for each in range(number)]
        for name in names:
            self.come(group, name, process)
        self.settle(group)
        return names

    def come(self, group: Group, client: str, process: Clients | None = None) -> None:
        group.members[client] = process or self.clients
        settings = group.settings | ({"group.instance.id": client} if group.is_static else {})
        group.members[client].now(
            "join", client=client, group=group.name, topics=group.topics, settings=settings,
            commit_ms=group.commit_ms, output=group.output, rate=group.rate,
        )  # fmt: skip

    def settle(self, group: Group) -> None:
        partitions = sum(len(self.topics[topic]) for topic in group.topics)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            held = [at for client in group.members for at in self.owned(group, client)]
            if len(held) == len({*held}) >= partitions:
                return
            time.sleep(0.1)
        raise TimeoutError(f"{group.name} did not settle: {held}")

    def owned(self, group: Group, client: str) -> list[str]:
        """Texts such as `orders-3`."""
        return group.members[client].now("owned", client=client)

    def leave(self, group: Group, *clients: str) -> None:
        """At the same time; each says goodbye."""
        leaving = [group.members.pop(client).later("leave", client=client) for client in clients or list(group.members)]
        for each in leaving:
            each.result(CALL_SECONDS)

    def tell(self, group: Group, do: str, client: str, **wish: Any) -> None:
        group.members[client].now(do, client=client, **wish)

    # What is left.

    def end(self, broker: Broker, snapshots: Path, folder: Path) -> TimeoutError | None:
        """Copies the log before anybody leaves: who is a member at the end stays one in it."""
        self.clients.now("snapshot")
        pauses = {
            client: process.now("longest_pause_ms", client=client)
            for group in self.groups.values() if not group.rate for client, process in group.members.items()
        }  # fmt: skip
        log = b""
        for partition in self.offsets_partitions:
            for segment in sorted(broker.log_dir.glob(f"__consumer_offsets-{partition}/*.log")):
                if content := whole_batches(segment.read_bytes()):
                    copy = folder / "log" / segment.relative_to(broker.log_dir)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(content)
                    log += content
        if absent := [group for group in self.groups if group.encode() not in log]:
            raise RuntimeError(f"{self.name}: the log has nothing of {', '.join(absent)}")
        # The next snapshot may be half written.
        lines, _, _ = snapshots.read_text(encoding="utf-8").rpartition("\n")
        (folder / "snapshots.jsonl").write_text("".join(self.own_snapshots(lines.splitlines())), encoding="utf-8")
        (folder / "wanted.json").write_text(json.dumps(self.page(), indent=1) + "\n", encoding="utf-8")
        for group in self.groups.values():
            for client, process in group.members.items():
                process.later("leave", client=client)
        for topic in self.topics:
            self.clients.now("traffic", topic=topic, rates=[])
        slow = [f"{client} did not poll for {pause} ms" for client, pause in pauses.items() if pause > LONGEST_PAUSE_MS]
        return TimeoutError(", ".join(slow)) if slow else None

    def own_snapshots(self, lines: Sequence[str]) -> Iterator[str]:
        """Of the offsets topic all partitions, since groups are found by their number; those of others are empty."""
        for line in map(json.loads, lines):
            if line["captured_at"] < self.begun * 1_000:
                continue
            topics = [each for each in line["topics"] if each["topic"] in (*self.topics, "__consumer_offsets")]
            for topic in topics:
                if topic["topic"] == "__consumer_offsets":
                    for partition in topic["partitions"]:
                        if partition["partition"] not in self.offsets_partitions:
                            partition["log_end_offset"] = 0
            yield json.dumps({**line, "topics": topics}, separators=(",", ":")) + "\n"

    def page(self) -> dict[str, Any]:
        return {
            "story": self.name,
            "seed": self.seed,
            "release": KAFKA_4_3.name,
            "groups": {each.name: str(each) for each in self.groups.values()},
            "done": self.done,
            "wanted": self.wanted,
            "quiet": self.quiet,
        }


def offsets_partition(group: str) -> int:
    """Where Kafka keeps a group: by Java's hash of its name, whose sign does not count."""
    number = 0
    for letter in group:
        number = (31 * number + ord(letter)) & 0xFFFFFFFF
    return min(number, 2**32 - number) % OFFSETS_PARTITIONS


def place_of(group: str) -> int:
    return offsets_partition(group) // PARTITIONS_OF_A_STORY


def whole_batches(segment: bytes) -> bytes:
    """The broker may be writing just now."""
    end = 0
    while end + 12 <= len(segment):
        (size,) = struct.unpack_from(">i", segment, end + 8)
        if end + 12 + size > len(segment):
            break
        end += 12 + size
    return segment[:end]


Play = Callable[[Stage], None]


def play_all(plays: dict[str, Play], names: Sequence[str], seed: int, folder: Path, tries: int = 3) -> None:
    """Each of the named stories leaves a folder of its name. Whichever are told with it, a story draws the same.

    Those for which the machine was too busy are told again, on a fresh broker.
    """
    scratch = tempfile.TemporaryDirectory(prefix="groupscope-broker-")
    with scratch, running(KAFKA_4_3, Path(scratch.name), SETTINGS) as broker:
        failures = play_on(broker, plays, names, seed, folder)
    for name, failure in failures.items():
        shutil.rmtree(folder / name, ignore_errors=True)
        if not tries:
            raise failure
        sys.stderr.write(f"{name}: {failure}; it is told again\n")
    if failures:
        play_all(plays, list(failures), seed, folder, tries - 1)


def play_on(
    broker: Broker, plays: dict[str, Play], names: Sequence[str], seed: int, folder: Path
) -> dict[str, TimeoutError]:
    """The stories that took too long somewhere."""
    classes = compile_java(PROGRAMS, [jar_folder(each) for each in KAFKA_4_3.jar_sets])
    scratch = broker.folder / "stories"
    scratch.mkdir()
    snapshots = scratch / "snapshots.jsonl"
    processes: list[Clients] = []

    def started(*arguments: str) -> Clients:
        processes.append(Clients(broker, classes, scratch / f"clients-{len(processes)}.out", *arguments))
        return processes[-1]

    def tell(name: str, clients: Clients) -> TimeoutError | None:
        stage = Stage(name, seed, list(plays).index(name), clients, started)
        try:
            plays[name](stage)
        except TimeoutError as failure:
            return failure
        return stage.end(broker, snapshots, folder / name)

    try:
        clients = started(str(snapshots), str(SNAPSHOT_MS))
        # Its first group has the broker make the offsets topic, which no story waits for then.
        first = next(name for name in map("first-{}".format, count()) if place_of(name) == MOST_STORIES)
        clients.now("topic", topic="first", partitions=1)
        clients.now("once", client="first", group=first, topics=["first"], settings={}, commits=1)
        with ThreadPoolExecutor(TOGETHER) as pool:
            ended = list(pool.map(lambda name: tell(name, clients), names))
        return {name: failure for name, failure in zip(names, ended, strict=True) if failure}
    finally:
        for process in processes:
            process.kill()
