"""Writes segments of classic groups whose generations follow from each other as cooperative-sticky makes them: members
come and go, and what one must give up first goes to its new owner a generation later."""

import json
import random
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.batches import Headers, framed, record_bodies
from benchmarks.byte_columns import text
from benchmarks.cast import offsets_partition
from benchmarks.group_records import NULL_BYTES, NULL_TEXT, i4
from benchmarks.traffic import Records
from udfs.assignors.answers import assigned_lists
from udfs.assignors.questions import GroupProtocol, Member, Owned, Spec, Topic

ASSIGNOR = "cooperative-sticky"
FIRST_TIME, MS_PER_GENERATION = 1_700_000_000_000, 5_000
V3 = b"\0\3"


@dataclass(frozen=True)
class Shape:
    groups: int
    generations: int
    members: int = 50
    topics: int = 5
    partitions_per_topic: int = 100
    offsets_partitions: int = 4


def write_generations(folder: Path, shape: Shape, seed: int = 1) -> None:
    """Segments below `folder`, and beside them snapshots.jsonl with the topics' numbers of partitions, before and after
    all generations: without these nothing confirms an assignment."""
    topics = tuple(Topic(f"orders-{number}", shape.partitions_per_topic) for number in range(shape.topics))
    logs: dict[int, list[tuple[bytes, bytes]]] = {}
    for number in range(shape.groups):
        name = f"billing-{number * 7919:x}"
        log = logs.setdefault(offsets_partition(name, shape.offsets_partitions), [])
        life = ClassicLife(name, topics, shape.members, random.Random(seed + number))
        log += [life.generation(FIRST_TIME + place * MS_PER_GENERATION) for place in range(1, shape.generations + 1)]
    for partition, records in logs.items():
        home = folder / f"__consumer_offsets-{partition}"
        home.mkdir(parents=True)
        # Groups take turns, as in a broker's log.
        turns = [records[place] for start in range(shape.generations)
                 for place in range(start, len(records), shape.generations)]  # fmt: skip
        (home / f"{0:020}.log").write_bytes(log_bytes(turns))
    most = shape.groups * (shape.generations + 1)
    times = (FIRST_TIME, FIRST_TIME + most * MS_PER_GENERATION)
    (folder / "snapshots.jsonl").write_text("".join(f"{json.dumps(snapshot(topics, time))}\n" for time in times))


class ClassicLife:
    """A group whose members leave and join in turn."""

    def __init__(self, name: str, topics: tuple[Topic, ...], members: int, rng: random.Random) -> None:
        self.topics, self.most_members, self.rng = topics, members, rng
        self.key = b"\0\2" + text(name)
        self.names = tuple(topic.name for topic in topics)
        self.ids = [new_id(rng) for _ in range(members)]
        self.owned: dict[str, Owned] = {}
        self.number = 0
        self.is_settled = False

    def generation(self, time: int) -> tuple[bytes, bytes]:
        """The next one: key and value of its record."""
        if self.is_settled:
            self.leave_or_join()
        members = tuple(self.member(each) for each in self.ids)
        spec = Spec(GroupProtocol.CLASSIC, ASSIGNOR, self.topics, members)
        answer = assigned_lists(spec)
        self.number += 1
        self.owned = {member_id: by_topic(partitions) for member_id, partitions in answer}
        assigned = sum(len(partitions) for _, partitions in answer)
        self.is_settled = assigned == sum(topic.partitions for topic in self.topics)
        return self.key, value(self.names, members, self.owned, self.number, time)

    def leave_or_join(self) -> None:
        if len(self.ids) >= self.most_members:
            self.ids.pop(self.rng.randrange(len(self.ids)))
        else:
            self.ids.insert(self.rng.randrange(len(self.ids) + 1), new_id(self.rng))

    def member(self, member_id: str) -> Member:
        owned = self.owned.get(member_id)
        generation = None if owned is None else self.number
        return Member(member_id, None, None, self.names, owned or (), generation)


def new_id(rng: random.Random) -> str:
    return f"consumer-billing-{rng.randrange(16)}-{rng.getrandbits(128):032x}"


def by_topic(partitions: list[tuple[str, int]]) -> Owned:
    partitions_of: dict[str, list[int]] = {}
    for topic, partition in partitions:
        partitions_of.setdefault(topic, []).append(partition)
    return tuple((topic, tuple(some)) for topic, some in partitions_of.items())


def value(
    names: tuple[str, ...],
    members: tuple[Member, ...],
    assigned: Mapping[str, Owned],
    generation: int,
    time: int,
) -> bytes:
    """GroupMetadataValue, version 3."""
    head = V3 + text("consumer") + i4(generation) + text(ASSIGNOR) + text(members[0].member_id)
    body = [head, struct.pack(">qi", time, len(members))]
    for member in members:
        subscription = b"".join(subscribed(names, member))
        assignment = V3 + topic_partitions(assigned[member.member_id]) + NULL_BYTES
        body += [
            text(member.member_id), NULL_TEXT, text("billing"), text("/10.0.0.1"), i4(300_000), i4(45_000),
            i4(len(subscription)), subscription, i4(len(assignment)), assignment,
        ]  # fmt: skip
    return b"".join(body)


def subscribed(names: tuple[str, ...], member: Member) -> Iterator[bytes]:
    generation = i4(-1 if member.generation is None else member.generation)
    yield V3 + i4(len(names)) + b"".join(map(text, names))
    yield NULL_BYTES if member.generation is None else i4(4) + generation
    yield topic_partitions(member.owned) + generation + NULL_TEXT


def topic_partitions(owned: Owned) -> bytes:
    each = [text(topic) + struct.pack(f">{len(some) + 1}i", len(some), *some) for topic, some in owned]
    return i4(len(each)) + b"".join(each)


def log_bytes(records: list[tuple[bytes, bytes]], at: list[int] | None = None) -> bytes:
    """A batch for each. `at`: the time of each; None: they follow each other as generations of one group do."""
    number = len(records)
    none, one = np.zeros(number, np.int64), np.ones(number, np.int64)
    times = FIRST_TIME + np.arange(number) * MS_PER_GENERATION if at is None else np.array(at, np.int64)
    keys, values = (pa.array(side, pa.binary()) for side in zip(*records, strict=True))
    bodies = record_bodies(Records(none, none, times, keys, values), none, none)
    headers = Headers(np.arange(number), one, none, none, times, times, -one, -one, -one)
    return b"".join(framed(headers, bodies).to_pylist())


def snapshot(topics: tuple[Topic, ...], time: int = FIRST_TIME) -> dict[str, object]:
    return {
        "captured_at": time,
        "topics": [
            {
                "topic": topic.name,
                **({"topic_id": topic.topic_id} if topic.topic_id else {}),
                "partitions": [{"partition": number, "log_end_offset": 0} for number in range(topic.partitions)],
            }
            for topic in topics
        ],
    }
