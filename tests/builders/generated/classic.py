"""A classic group as its coordinator writes it: one value a generation, and one a static instance's return."""

import random
from dataclasses import dataclass, field, replace

from schemas.records import ASSIGNMENT, SUBSCRIPTION
from tests.builders.generated.offsets import Topics
from tests.builders.generated.topics import KeyValue, Place, by_first, uuid, written
from tests.builders.records.encoder import encode_payload

SUBSCRIPTION_VERSION, ASSIGNMENT_VERSION = 3, 3
# Loaded members expire like live ones.
SESSION_MS = 600_000


@dataclass(frozen=True)
class ClassicMember:
    member_id: str
    instance: str | None
    client_id: str
    topics: tuple[str, ...]
    assigned: frozenset[Place] = frozenset()


@dataclass
class Classic:
    group: str
    topics: Topics
    chance: random.Random
    generation: int = 0
    protocol: str = "range"
    members: list[ClassicMember] = field(default_factory=list)

    def begin(self, time: int) -> list[KeyValue]:
        """Only the newer coordinator writes a value before the first generation; so both ways occur."""
        return [self.value(time, "")] if self.chance.random() < 0.5 else self.round(time)

    def round(self, time: int) -> list[KeyValue]:
        """Members came, went, or not; a generation now and then never came to its assignment."""
        chance = self.chance
        claims = {member.member_id: member.assigned for member in self.members}
        self.members = [member for member in self.members if chance.random() < 0.8]
        while not self.members or (len(self.members) < 5 and chance.random() < 0.4):
            self.members.append(self.newcomer())
        self.generation += chance.choice((1, 1, 1, 2))
        if chance.random() < 0.2:
            self.protocol = chance.choice(("range", "roundrobin", "sticky", "cooperative-sticky"))
        if self.protocol != "cooperative-sticky":
            claims = {}
        self.assign(claims)
        return [self.value(time, "consumer", claims)]

    def newcomer(self) -> ClassicMember:
        chance, number = self.chance, len(self.members)
        instance = f"instance-{chance.randrange(10**6)}" if chance.random() < 0.3 else None
        client = f"client-{number}"
        topics = tuple(sorted(chance.sample(sorted(self.topics), chance.randint(1, len(self.topics)))))
        return ClassicMember(f"{instance or client}-{uuid(chance)}", instance, client, topics)

    def assign(self, claims: dict[str, frozenset[Place]]) -> None:
        """What a member claims nobody else is given in the same round: it has to give it up first."""
        claimed = {place: member.member_id for member in self.members for place in claims.get(member.member_id, ())}
        given: dict[str, set[Place]] = {member.member_id: set() for member in self.members}
        for topic, (_, number) in self.topics.items():
            readers = [member.member_id for member in self.members if topic in member.topics]
            for partition in range(number):
                if readers and self.chance.random() < 0.9:
                    reader = self.chance.choice(readers)
                    if claimed.get((topic, partition), reader) == reader:
                        given[reader].add((topic, partition))
        self.members = [replace(member, assigned=frozenset(given[member.member_id])) for member in self.members]

    def static_return(self, time: int) -> list[KeyValue]:
        """The instance comes back under another id: the same generation and assignment."""
        static = [place for place, member in enumerate(self.members) if member.instance]
        if not static:
            return self.round(time)
        place = self.chance.choice(static)
        old = self.members[place]
        self.members[place] = replace(old, member_id=f"{old.instance}-{uuid(self.chance)}")
        return [self.value(time, "consumer")]

    def empty(self, time: int) -> list[KeyValue]:
        self.members = []
        self.generation += 1
        return [self.value(time, "consumer")]

    def tombstone(self) -> KeyValue:
        return written(2, {"group": self.group}, None)

    def value(self, time: int, protocol_type: str, claims: dict[str, frozenset[Place]] | None = None) -> KeyValue:
        value = {
            "protocol_type": protocol_type,
            "generation": self.generation,
            "protocol": self.protocol if self.members else None,
            "leader": self.members[0].member_id if self.members else None,
            "current_state_timestamp": time - self.chance.randint(0, 3),
            "members": [self.member(each, (claims or {}).get(each.member_id, frozenset())) for each in self.members],
        }
        return written(2, {"group": self.group}, value, 3)

    def member(self, of: ClassicMember, claims: frozenset[Place]) -> dict[str, object]:
        return {
            "member_id": of.member_id,
            "group_instance_id": of.instance,
            "client_id": of.client_id,
            "client_host": "/10.0.0.1",
            "rebalance_timeout": SESSION_MS,
            "session_timeout": SESSION_MS,
            "subscription": subscription(of.topics, claims, self.generation - 1),
            "assignment": assignment(of.assigned),
        }


def subscription(topics: tuple[str, ...], claims: frozenset[Place], generation: int) -> bytes:
    owned = [{"topic": topic, "partitions": some} for topic, some in by_first(claims).items()]
    value = {
        "topics": list(topics), "user_data": None, "owned_partitions": owned, "generation_id": generation,
        "rack_id": None,
    }  # fmt: skip
    return encode_payload(SUBSCRIPTION, SUBSCRIPTION_VERSION, value)


def assignment(places: frozenset[Place]) -> bytes:
    assigned = [{"topic": topic, "partitions": some} for topic, some in by_first(places).items()]
    return encode_payload(ASSIGNMENT, ASSIGNMENT_VERSION, {"assigned_partitions": assigned, "user_data": None})
