"""Groups of given sizes, as AssignorRounds.java makes them: what the assignors are asked in either language."""

import dataclasses
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from udfs.assignors.answers import ASSIGNORS
from udfs.assignors.groups import ABSENT, Group, Lists, Partition, Rows
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

    def answer(self, group: Group) -> Lists:
        protocol = {"client": GroupProtocol.CLASSIC, "server": GroupProtocol.CONSUMER, "share": GroupProtocol.SHARE}
        return ASSIGNORS[protocol[self.side], self.assignor].assign(group)

    def digest(self) -> int:
        """As Digest of AssignorRounds.java."""
        rows = Rows.of_lists(self.answer(dataclasses.replace(self.group)))
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

    def topics_of(self, bucket: int) -> range:
        if self.is_equal:
            return range(self.topics)
        return range(*(number * self.topics // BUCKETS for number in (bucket, bucket + 1)))

    def carried(self, first: list[int], before: Lists) -> Lists:
        """What members that are still there had."""
        had = dict(zip(first, before, strict=True))
        return [had.get(member, []) for member in self.present(is_after=True)]

    def asked(self, present: list[int], had: Lists | None) -> Group:
        owned = had or [[] for _ in present]
        buckets = [self.bucket_of(member) for member in present]
        members = [f"member{member}" for member in present]
        names = [f"topic-{topic:05d}" for topic in range(self.topics)]
        subscriptions = [self.topics_of(bucket) for bucket in range(1 if self.is_equal else BUCKETS)]
        nothing = [None] * len(members)
        group = Group(members, nothing, names, [self.partitions] * self.topics, buckets, subscriptions, owned)
        if self.side != "client":
            return dataclasses.replace(group, ids=topic_ids(self.topics))
        is_eager = self.assignor == "sticky"
        return dataclasses.replace(
            group,
            owned=[[] for _ in members] if is_eager else owned,
            generations=[GENERATION if own else ABSENT for own in owned],
            user_data=[said(names, own) if own else None for own in owned] if is_eager else nothing,
            racks=nothing,
        )


def topic_ids(topics: int) -> list[tuple[int, int]]:
    with np.errstate(over="ignore"):
        numbers = np.arange(topics, dtype=np.int64)
        most, least = 0x1234567890ABCDEF * (numbers + 1), 0x7654321FEDCBA98 * (numbers + 7)
    return list(zip(most.tolist(), least.tolist(), strict=True))


def said(names: list[str], own: Sequence[Partition]) -> bytes:
    """What a member of the eager sticky assignor says it had."""
    had: dict[int, list[int]] = {}
    for topic, partition in own:
        had.setdefault(topic, []).append(partition)
    data = struct.pack(">i", len(had))
    for topic, partitions in had.items():
        name = names[topic].encode()
        data += struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions)
    return data + struct.pack(">i", GENERATION)
