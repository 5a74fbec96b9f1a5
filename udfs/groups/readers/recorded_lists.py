"""What a record of a consumer, share or streams group assigns: partitions or tasks, in the order of its list, which
decides what Kafka's assignors answer, and as a set, which is what ownership compares."""

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from udfs.groups.readers.record_columns import PartitionLists
from udfs.topics.partition_codes import SHIFT, Plain, TopicCodes

TP_BYTES = 8
# The bit that is set if the partition is below 0. No topic has such partitions, but clients can write any number.
BELOW_0 = 1 << (SHIFT - 1)

Task = tuple[str, int]


class Partitions:
    """A list of topic partitions (see `partition_codes`)."""

    __slots__ = ("as_set", "raw")

    def __init__(self, raw: bytes = b"") -> None:
        """`raw`: 8 bytes for each topic partition."""
        self.raw = raw
        self.as_set: frozenset[int] | None = None

    @classmethod
    def of(cls, tps: Iterable[int]) -> "Partitions":
        return cls(np.fromiter(tps, np.int64).tobytes())

    @property
    def tps(self) -> frozenset[int]:
        """As a set, without partitions below 0."""
        if self.as_set is None:
            listed = np.frombuffer(self.raw, np.int64)
            is_below = listed & BELOW_0 != 0
            self.as_set = frozenset((listed[~is_below] if is_below.any() else listed).tolist())
        return self.as_set

    @property
    def topics(self) -> NDArray[np.int64]:
        """Codes of the topics, in the list's order."""
        return np.frombuffer(self.raw, np.int64) >> SHIFT

    @property
    def partitions(self) -> NDArray[np.int32]:
        """Partition numbers, in the list's order."""
        return np.frombuffer(self.raw, np.int64).astype(np.int32)

    def __len__(self) -> int:
        """How many the list has, those below 0 included."""
        return len(self.raw) // TP_BYTES

    def plain(self, codes: TopicCodes) -> Plain:
        """In the form for JSON: topics with their partitions, in the list's order."""
        return codes.made_once(self.raw, lambda _: self.in_order(codes))

    def in_order(self, codes: TopicCodes) -> Plain:
        pairs = zip(self.topics.tolist(), self.partitions.tolist(), strict=True)
        return [
            (*codes.topics[code], [each for _, each in some]) for code, some in groupby(pairs, lambda pair: pair[0])
        ]

    @classmethod
    def from_plain(cls, plain: Plain, codes: TopicCodes) -> "Partitions":
        return cls.of(codes.numbers_of(plain))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partitions) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"Partitions.of({np.frombuffer(self.raw, np.int64).tolist()})"


class Tasks:
    """A list of tasks of a streams group: pairs of subtopology and partition."""

    __slots__ = ("as_set", "listed")

    def __init__(self, listed: Iterable[Task] = ()) -> None:
        self.listed = tuple(listed)
        self.as_set: frozenset[Task] | None = None

    @property
    def tasks(self) -> frozenset[Task]:
        """As a set, without partitions below 0."""
        if self.as_set is None:
            self.as_set = frozenset(task for task in self.listed if task[1] >= 0)
        return self.as_set

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tasks) and self.listed == other.listed

    def __hash__(self) -> int:
        return hash(self.listed)

    def __repr__(self) -> str:
        return f"Tasks({self.listed})"


Share = Partitions | Tasks
# By role: `TaskRole` in streams groups, else None.
ByRole = Mapping[str | None, Share]
NOTHING = Partitions()


def partitions_of(by_role: ByRole) -> Partitions:
    """Of a consumer or share group. Streams groups have none."""
    share = by_role.get(None, NOTHING)
    return share if isinstance(share, Partitions) else NOTHING


def join_lists(lists: Iterable[Partitions]) -> Partitions:
    """One after another."""
    return Partitions(b"".join(each.raw for each in lists))


def has_some(by_role: ByRole) -> bool:
    return any(share.tps if isinstance(share, Partitions) else share.tasks for share in by_role.values())


def tps_of(lists: PartitionLists, code_of: Callable[[str], int]) -> NDArray[np.int64]:
    """The topic partitions of all lists. `code_of`: the code of a topic."""
    codes = np.array([code_of(name) for name in lists.names] or [0], np.int64)
    tps: NDArray[np.int64] = codes[lists.topics] << SHIFT | lists.partitions.view(np.uint32)
    return tps


def shared_partitions(lists: PartitionLists, code_of: Callable[[str], int]) -> list[Partitions]:
    """Equal lists become one object: most appear in many records."""
    raw = tps_of(lists, code_of).tobytes()
    known = {b"": NOTHING}
    shared = []
    for first, last in pairwise((lists.starts * TP_BYTES).tolist()):
        own = raw[first:last]
        of = known.get(own)
        if of is None:
            of = known[own] = Partitions(own)
        shared.append(of)
    return shared
