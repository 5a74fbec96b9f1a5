"""Groups of given sizes, as AssignorRounds.java makes them: what the assignors are asked in either language."""

import dataclasses
import struct
import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.answers import ASSIGNORS
from udfs.assignors.groups import ABSENT, Assignment, Group, Rows
from udfs.assignors.questions import GroupProtocol

BUCKETS = 5
GENERATION = 1


@dataclass(frozen=True)
class Case:
    side: str
    assignor: str
    members: int
    topics: int
    partitions: int
    is_equal: bool = True
    history: str = "fresh"

    def __str__(self) -> str:
        return f"{self.assignor} ({self.side}) of {self.members:,} x {self.topics:,} x {self.partitions:,}, {self.kind}"

    @property
    def kind(self) -> str:
        return f"{'equal' if self.is_equal else 'unequal'}, {self.history}"

    def command(self, copies: int = 1) -> str:
        sizes = f"{self.members} {self.topics} {self.partitions}"
        kind = "equal" if self.is_equal else "unequal"
        return f"case {self.side} {self.assignor} {sizes} {kind} {self.history} {copies}"

    @cached_property
    def group(self) -> Group:
        if self.history == "fresh":
            return self.asked(self.present(is_after=False), None)
        first = self.present(is_after=False)
        before = self.answer(self.asked(first, None))
        return self.asked(self.present(is_after=True), self.carried(first, before))

    def seconds(self) -> float:
        """Of a round in which nothing is known from rounds before."""
        group = dataclasses.replace(self.group)
        start = time.perf_counter()
        self.answer(group)
        return time.perf_counter() - start

    def answer(self, group: Group) -> Assignment:
        protocol = {"client": GroupProtocol.CLASSIC, "server": GroupProtocol.CONSUMER, "share": GroupProtocol.SHARE}
        return ASSIGNORS[protocol[self.side], self.assignor].assign(group)

    def digest(self) -> int:
        """As Digest of AssignorRounds.java."""
        rows = by_member(self.answer(dataclasses.replace(self.group)))
        sizes = np.bincount(rows.members, minlength=len(self.group.members))
        numbers = rows.topics.astype(np.int64) * 1_000_003 + rows.partitions
        starts = np.cumsum(sizes) - sizes
        with_marks = np.insert(numbers, starts, -1).astype(np.uint64)
        powers = np.full(len(with_marks), 31, np.uint64)
        powers[:1] = 1
        return int((with_marks * np.multiply.accumulate(powers)[::-1]).sum())

    def present(self, is_after: bool) -> list[int]:
        """The numbers of the members that are there at first, or after the change."""
        present = list(range(self.members))
        if is_after and self.history in ("left", "both"):
            present.remove(self.members // 2)
        if is_after and self.history in ("joined", "both"):
            present.append(self.members)
        return present

    def bucket_of(self, member: int) -> int:
        """With unequal subscriptions each fifth of the members takes a fifth of the topics."""
        return 0 if self.is_equal else min(BUCKETS - 1, member // max(1, self.members // BUCKETS))

    def topics_of(self, bucket: int) -> NDArray[np.int32]:
        if self.is_equal:
            return np.arange(self.topics, dtype=np.int32)
        bounds = [number * self.topics // BUCKETS for number in (bucket, bucket + 1)]
        return np.arange(*bounds, dtype=np.int32)

    def carried(self, first: list[int], before: Assignment) -> Rows:
        """What members that are still there had, by their new positions."""
        position = np.full(self.members + 1, ABSENT, np.int32)
        after = self.present(is_after=True)
        position[after] = np.arange(len(after))
        rows = by_member(before)
        rows = Rows(position[np.array(first)[rows.members]], rows.topics, rows.partitions)
        return rows.take(rows.members != ABSENT)

    def asked(self, present: list[int], owned: Rows | None) -> Group:
        rows = owned if owned is not None else Rows(*(np.empty(0, np.int32) for _ in range(3)))
        buckets = [self.bucket_of(member) for member in present]
        members = [f"member{member}" for member in present]
        names = [f"topic-{topic:05d}" for topic in range(self.topics)]
        counts = np.full(self.topics, self.partitions, np.int64)
        classes = np.array(buckets, np.int32)
        topics_of_class = [self.topics_of(bucket) for bucket in range(1 if self.is_equal else BUCKETS)]
        nothing = [None] * len(members)
        group = Group(members, nothing, names, counts, classes, topics_of_class, rows)
        if self.side != "client":
            return dataclasses.replace(group, ids=topic_ids(self.topics))
        has = np.bincount(rows.members, minlength=len(members)) > 0
        is_eager = self.assignor == "sticky"
        return dataclasses.replace(
            group,
            owned=Rows(*(np.empty(0, np.int32) for _ in range(3))) if is_eager else rows,
            generations=np.where(has, GENERATION, ABSENT).tolist(),
            user_data=user_data(rows, names, len(members)) if is_eager else nothing,
            racks=nothing,
        )


def by_member(rows: Rows) -> Rows:
    return rows.take(np.argsort(rows.members, kind="stable"))


def topic_ids(topics: int) -> list[tuple[int, int]]:
    with np.errstate(over="ignore"):
        numbers = np.arange(topics, dtype=np.int64)
        most, least = 0x1234567890ABCDEF * (numbers + 1), 0x7654321FEDCBA98 * (numbers + 7)
    return list(zip(most.tolist(), least.tolist(), strict=True))


def user_data(rows: Rows, names: list[str], members: int) -> list[bytes | None]:
    """What each member of the eager sticky assignor says it had."""
    had: list[dict[int, list[int]]] = [{} for _ in range(members)]
    lists = (rows.members.tolist(), rows.topics.tolist(), rows.partitions.tolist())
    for member, topic, partition in zip(*lists, strict=True):
        had[member].setdefault(topic, []).append(partition)
    return [said(names, of) if of else None for of in had]


def said(names: list[str], had: dict[int, list[int]]) -> bytes:
    data = struct.pack(">i", len(had))
    for topic, partitions in had.items():
        name = names[topic].encode()
        data += struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions)
    return data + struct.pack(">i", GENERATION)
