"""A group of the consumer protocol as a coordinator of Kafka 4.3 writes it: members leave and join in turn, the uniform
assignor gives each epoch's target, and members give up what another gets before that one has it."""

import random
import struct
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from benchmarks.byte_columns import compact, text, uvarint
from benchmarks.generations import by_topic
from benchmarks.group_records import NO_TAGS, i4
from benchmarks.shapes import raw_topic_id
from udfs.assignors.answers import assigned_lists
from udfs.assignors.java.maps import string_hashes, timeline_walked
from udfs.assignors.questions import GroupProtocol, Member, Owned, Spec, Topic
from udfs.topics.metadata_hash import group_hash

ASSIGNOR = "uniform"
MOST_MEMBERS = 4
# For so many members the coordinator's own table of them has made room at most.
ROOM = MOST_MEMBERS + 1
STABLE, UNREVOKED, UNRELEASED = range(3)
NULL = b"\0"
# A tagged field of eight bytes that is the only one.
TAG_OF_LONG = b"\1\0\x08"

KeyValue = tuple[bytes, bytes | None]
Place = tuple[str, int]


@dataclass
class Reader:
    """A member. Places that it has or gives up are there with the epoch in which it got them."""

    epoch: int = 0
    state: int = STABLE
    owned: dict[Place, int] = field(default_factory=dict)
    pending: dict[Place, int] = field(default_factory=dict)
    target: Owned = ()


class ConsumerLife:
    def __init__(self, name: str, topics: tuple[Topic, ...], rng: random.Random) -> None:
        self.name, self.topics, self.rng = name, topics, rng
        self.topic_names = tuple(sorted(topic.name for topic in topics))
        self.raw_ids = {topic.name: raw_topic_id(topic.topic_id or "") for topic in topics}
        self.hash = hash_of(topics)
        self.readers: dict[str, Reader] = {}
        self.epoch = self.target_epoch = 1

    def operation(self, time: int) -> list[KeyValue]:
        """What is written at once: a member on its way to the target; if all are there, one that leaves or joins."""
        written = self.assign(time) if self.target_epoch < self.epoch else []
        for member_id in self.readers:
            if (taken := self.step(member_id)) is not None:
                return [*written, taken]
        return written or (self.leave() if len(self.readers) == MOST_MEMBERS else self.join(time))

    def join(self, time: int) -> list[KeyValue]:
        member_id = str(uuid.UUID(bytes=self.rng.randbytes(16)))
        present = list(self.readers)
        self.readers[member_id] = Reader()
        self.epoch += 1
        written = [(self.key(5, member_id), self.about(member_id)), self.epoch_record()]
        taken = self.assign(time, present, [member_id])
        first = self.step(member_id)
        return [*written, *taken, *([first] if first else [])]

    def leave(self) -> list[KeyValue]:
        member_id = self.rng.choice(list(self.readers))
        del self.readers[member_id]
        self.epoch += 1
        return [*((self.key(number, member_id), None) for number in (8, 7, 5)), self.epoch_record()]

    def assign(
        self, time: int, present: list[str] | None = None, joined: tuple[str, ...] | list[str] = ()
    ) -> list[KeyValue]:
        """Targets of those whose target changes, then the record that completes them."""
        known = list(self.readers) if present is None else present
        order = [*(known[at] for at in timeline_walked(string_hashes(known).tolist(), ROOM)), *joined]
        members = tuple(
            Member(each, subscribed_topics=self.topic_names, target=self.readers[each].target) for each in order
        )
        spec = Spec(GroupProtocol.CONSUMER, ASSIGNOR, self.topics, members)
        self.target_epoch = self.epoch
        written: list[KeyValue] = []
        for member_id, places in assigned_lists(spec):
            reader = self.readers[member_id]
            if member_id in joined or set(places) != set(places_of(reader.target)):
                reader.target = by_topic(places)
                written.append((self.key(7, member_id), self.target(reader)))
        completed = b"\0\0" + i4(self.epoch) + TAG_OF_LONG + struct.pack(">q", time)
        return [*written, (self.key(6), completed)]

    def step(self, member_id: str) -> KeyValue | None:
        """Towards the target as one heartbeat takes it."""
        reader = self.readers[member_id]
        if reader.state == STABLE and reader.epoch == self.target_epoch:
            return None
        before = (reader.epoch, reader.state, reader.owned, reader.pending)
        wanted = dict.fromkeys(places_of(reader.target), self.target_epoch)
        kept = {place: epoch for place, epoch in reader.owned.items() if place in wanted}
        reader.pending = {place: epoch for place, epoch in reader.owned.items() if place not in wanted}
        if reader.pending:
            reader.state, reader.owned = UNREVOKED, kept
        else:
            held = self.held_by_others(member_id)
            reader.owned = kept | {place: at for place, at in wanted.items() if place not in kept | held}
            reader.state = STABLE if len(reader.owned) == len(wanted) else UNRELEASED
            reader.epoch = self.target_epoch
        if before == (reader.epoch, reader.state, reader.owned, reader.pending):
            return None
        return self.key(8, member_id), self.current(reader, before[0])

    def held_by_others(self, member_id: str) -> dict[Place, int]:
        held: dict[Place, int] = {}
        for other_id, other in self.readers.items():
            if other_id != member_id:
                held |= other.owned | other.pending
        return held

    # -- records

    def key(self, number: int, member_id: str | None = None) -> bytes:
        return b"\0" + bytes([number]) + text(self.name) + (text(member_id) if member_id else b"")

    def epoch_record(self) -> KeyValue:
        return self.key(3), b"\0\0" + i4(self.epoch) + TAG_OF_LONG + self.hash

    def about(self, member_id: str) -> bytes:
        client = compact(f"consumer-{self.name}".encode())
        names = uvarint(len(self.topic_names) + 1) + b"".join(compact(each.encode()) for each in self.topic_names)
        no_pattern, timeout = compact(b""), i4(300_000)
        asked = compact(ASSIGNOR.encode())
        return b"\0\0" + NULL + NULL + client + compact(b"/10.0.0.1") + names + no_pattern + timeout + asked + NO_TAGS

    def target(self, reader: Reader) -> bytes:
        each = [self.raw_ids[topic] + numbers(some) + NO_TAGS for topic, some in reader.target]
        return b"\0\0" + uvarint(len(each) + 1) + b"".join(each) + NO_TAGS

    def current(self, reader: Reader, previous: int) -> bytes:
        head = b"\0\0" + i4(reader.epoch) + i4(previous) + bytes([reader.state])
        return head + self.with_epochs(reader.owned) + self.with_epochs(reader.pending) + NO_TAGS

    def with_epochs(self, places: Mapping[Place, int]) -> bytes:
        each = []
        for topic, some in by_topic(list(places)):
            epochs = numbers([places[topic, partition] for partition in some])
            each.append(self.raw_ids[topic] + numbers(some) + b"\1\0" + uvarint(len(epochs)) + epochs)
        return uvarint(len(each) + 1) + b"".join(each)


@cache
def hash_of(topics: tuple[Topic, ...]) -> bytes:
    return struct.pack(">q", group_hash(topics))


def places_of(owned: Owned) -> Iterator[Place]:
    return ((topic, partition) for topic, some in owned for partition in some)


def numbers(some: tuple[int, ...] | list[int]) -> bytes:
    return uvarint(len(some) + 1) + struct.pack(f">{len(some)}i", *some)
