"""The processes whose readers are members of groups, and what their diaries say while the play goes on."""

import json
import subprocess
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.handovers.diaries import GIVES_UP, POLLS, Line, Partition, lines_of
from tests.kafka.java_programs import compile_java
from tests.kafka.releases import KAFKA_4_3

ROOT: Final = Path(__file__).parents[3]
JAVA: Final = ROOT / "tests" / "kafka" / "java"
PROGRAMS: Final = (
    JAVA / "Cluster.java",
    JAVA / "outages" / "Diary.java",
    JAVA / "outages" / "SteadyTraffic.java",
    JAVA / "sample" / "Snapshots.java",
    *sorted((JAVA / "handovers").glob("*.java")),
)
PATIENCE_SECONDS: Final = 90
# Of the one process that asks the broker for topics and snapshots.
STAGE: Final = "stage"
EVERY_SECONDS: Final = 0.1
# Who is at work polls ten times a second.
SEEN_MS: Final = 2_000


class Process:
    """By the newest clients of its library. Its readers end with it, and say no goodbye."""

    def __init__(self, broker: Broker, folder: Path, library: str, name: str) -> None:
        self.clients: dict[str, str] = {}
        self.diary = folder / f"diary-{name}.txt"
        self._said = folder / f"{name}.out"
        self._waiting: dict[int, Future[None]] = {}
        self._lock = threading.Lock()
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                command_of(broker, folder, library, name, self.diary),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                cwd=ROOT,
            )
        threading.Thread(target=self._hear, daemon=True).start()

    def order(self, word: str, **more: Any) -> None:
        """Returns when it is done."""
        assert self._process.stdin is not None
        with self._lock:
            number = len(self._waiting)
            answer = self._waiting[number] = Future()
            self._process.stdin.write(json.dumps({"number": number, "order": word, **more}) + "\n")
            self._process.stdin.flush()
        answer.result(timeout=PATIENCE_SECONDS)

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said, _, number = line.strip().partition(" ")
            if said == "done":
                self._waiting[int(number)].set_result(None)
            elif said == "failed":
                failure = RuntimeError(f"{self._said.name}: {self._said.read_text(errors='replace')[-4000:]}")
                self._waiting[int(number)].set_exception(failure)

    def kill(self) -> None:
        """Returns when none of its readers does anything any more."""
        self._process.kill()
        self._process.wait()


def command_of(broker: Broker, folder: Path, library: str, name: str, diary: Path) -> list[str]:
    if library == "java":
        classes = compile_java(PROGRAMS, [jar_folder(jar_set) for jar_set in KAFKA_4_3.jar_sets])
        snapshots = str(folder / "snapshots.jsonl") if name == STAGE else "/dev/null"
        arguments = [broker.bootstrap, str(diary), snapshots]
        return kafka_command(KAFKA_4_3, "Obeying", arguments, classes, options=broker.scratch_options)
    return [sys.executable, "-m", "tests.kafka.handovers.obeying", library, broker.bootstrap, str(diary)]


@dataclass
class Watched:
    """What the members of a group wrote until now."""

    held: dict[Partition, str] = field(default_factory=dict)
    # When somebody got or lost something, and when each member last did anything.
    changed_ms: int = 0
    seen_ms: dict[str, int] = field(default_factory=dict)
    readers: set[str] = field(default_factory=set)
    # All but polls.
    lines: list[Line] = field(default_factory=list)

    def add(self, line: Line) -> None:
        self.seen_ms[line.client] = line.ms
        if line.word == "read":
            self.readers.add(line.client)
        if line.word not in POLLS:
            self.lines.append(line)
        if line.word == "assigned":
            self.held |= dict.fromkeys(line.partitions, line.client)
            self.changed_ms = line.ms
        elif line.word in GIVES_UP:
            for at in [at for at, client in self.held.items() if client == line.client]:
                if not line.partitions or at in line.partitions:
                    del self.held[at]
            self.changed_ms = line.ms


class Diaries:
    """Of all processes, read again and again by one thread, as they grow."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}
        self._groups: dict[str, Watched] = defaultdict(Watched)
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_over.wait(EVERY_SECONDS):
            self._read_on()

    def _read_on(self) -> None:
        found = []
        for path in sorted(self._folder.glob("diary-*.txt")):
            with path.open("rb") as file:
                file.seek(begin := self._read.get(path, 0))
                text = file.read()
            whole = text[: text.rfind(b"\n") + 1]
            self._read[path] = begin + len(whole)
            found += lines_of(whole.decode())
        with self._lock:
            for line in sorted(found, key=lambda line: line.ms):
                self._groups[line.group].add(line)

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()

    def write(self, line: Line) -> None:
        """What a member that is gone would have written."""
        with (self._folder / "diary-killed.txt").open("a", encoding="utf-8") as file:
            file.write(f"{line.ms} {line.group} {line.client} {line.word}\n")

    def is_settled(self, group: str, members: list[str], num_partitions: int | None, calm_ms: int) -> bool:
        """They have all partitions, each has some, or without callbacks (NULL) has read; all of them are at work, and
        nothing has changed lately."""
        now = time.time() * 1000
        with self._lock:
            watched = self._groups[group]
            if watched.lines and watched.lines[-1].word == "failed":
                raise RuntimeError(f"a reader failed: {watched.lines[-1]}")
            owners = list(watched.held.values())
            has_all = len(owners) == num_partitions and set(owners) == set(members)
            return (
                (watched.readers.issuperset(members) if num_partitions is None else has_all)
                and now - watched.changed_ms > calm_ms
                and all(now - watched.seen_ms.get(member, 0) < SEEN_MS for member in members)
            )

    def described(self, group: str) -> str:
        with self._lock:
            return "\n".join(map(repr, self._groups[group].lines))
