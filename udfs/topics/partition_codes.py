"""Topic partitions as whole numbers, since a replay compares sets of them all the time."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TypeVar

# A topic partition is the topic's code and, in the lower bits, the partition.
SHIFT = 32
PARTITION_MASK = (1 << SHIFT) - 1
# A group's state names the same set several times: what a member was given, and what it owns.
MOST_PLAIN = 64

# Name, id and partitions, as states store them.
Plain = list[tuple[str | None, str | None, list[int]]]
Listed = TypeVar("Listed", bound=Hashable)


class TopicCodes:
    """Codes for topics as records name them: by id (consumer, share) or by name (classic, streams)."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        # Names by id, from the log and snapshots.
        self.names = dict(names or {})
        self.topics: list[tuple[str | None, str | None]] = []
        self.codes: dict[tuple[str | None, str | None], int] = {}
        self.known_ranks: list[int] = []
        # By a set of topic partitions, or a list of them as bytes.
        self.known_plain: dict[Hashable, Plain] = {}

    def of_name(self, name: str) -> int:
        return self.code(name, None)

    def of_id(self, topic_id: str) -> int:
        return self.code(self.names.get(topic_id), topic_id)

    def code(self, name: str | None, topic_id: str | None) -> int:
        key = (name, topic_id)
        code = self.codes.get(key)
        if code is None:
            code = self.codes[key] = len(self.topics)
            self.topics.append(key)
        return code

    def ranks(self) -> list[int]:
        """By code, the rank of the topic among all names and ids so far."""
        if len(self.known_ranks) != len(self.topics):
            order = sorted(range(len(self.topics)), key=lambda code: tuple(each or "" for each in self.topics[code]))
            self.known_ranks = [0] * len(order)
            for rank, code in enumerate(order):
                self.known_ranks[code] = rank
        return self.known_ranks

    def name(self, tp: int) -> str | None:
        return self.topics[tp >> SHIFT][0]

    def by_name(self, tp: int) -> int:
        """The same partition of the topic as records without ids name it; itself if the name is not known."""
        name = self.name(tp)
        return tp if name is None else self.of_name(name) << SHIFT | tp & PARTITION_MASK

    def partition_text(self, tp: int) -> str:
        """As text for people."""
        name, topic_id = self.topics[tp >> SHIFT]
        return f"{name or topic_id}-{tp & PARTITION_MASK}"

    def plain(self, tps: frozenset[int]) -> Plain:
        return self.made_once(tps, self.in_order)

    def in_order(self, tps: Iterable[int]) -> Plain:
        by_topic = groupby(sorted(tps), key=lambda tp: tp >> SHIFT)
        return [(*self.topics[code], [tp & PARTITION_MASK for tp in some]) for code, some in by_topic]

    def made_once(self, listed: Listed, make: Callable[[Listed], Plain]) -> Plain:
        plain = self.known_plain.get(listed)
        if plain is None:
            if len(self.known_plain) == MOST_PLAIN:
                self.known_plain.clear()
            plain = self.known_plain[listed] = make(listed)
        return plain

    def plain_partition(self, tp: int) -> Plain:
        """Of one topic partition."""
        return [(*self.topics[tp >> SHIFT], [tp & PARTITION_MASK])]

    def from_plain(self, plain: Iterable[tuple[str | None, str | None, list[int]]]) -> frozenset[int]:
        return frozenset(self.numbers_of(plain))

    def numbers_of(self, plain: Iterable[tuple[str | None, str | None, list[int]]]) -> Iterator[int]:
        """In their order."""
        for name, topic_id, partitions in plain:
            code = self.code(self.names.get(topic_id, name) if topic_id else name, topic_id) << SHIFT
            for partition in partitions:
                yield code | partition & PARTITION_MASK
