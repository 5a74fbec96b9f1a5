"""Who appears in the generated log: groups, their members, topics, and what each group is like."""

import random
import uuid
from dataclasses import dataclass
from enum import IntEnum

TOPICS = 40
PARTITIONS = 12
MOST_MEMBERS = 10
# Membership changes now and then, between a few states that come back.
STATES = 8
GENERATIONS_PER_STATE = 4


class Client(IntEnum):
    """What a group's members run, and so what their payloads look like."""

    JAVA_RANGE = 0  # subscription version 3; nothing owned at a join, so members of a generation send equal bytes
    JAVA_COOPERATIVE = 1  # version 3 with owned partitions and the generation as user data
    PLAIN = 2  # version 0, the same bytes at every join, as non-Java clients send
    CONSUMER = 3  # the consumer protocol of KIP-848: no payloads


CLIENTS = (Client.JAVA_RANGE, Client.JAVA_RANGE, Client.JAVA_COOPERATIVE, Client.PLAIN, Client.CONSUMER)


@dataclass(frozen=True)
class Group:
    name: str
    client: Client
    topics: tuple[int, ...]  # those it subscribes to
    members: tuple[str, ...]

    def num_members(self, state: int) -> int:
        return 3 + (len(self.name) + 5 * self.topics[0] + 3 * state) % (MOST_MEMBERS - 2)

    def assigned(self, state: int, member: int) -> dict[int, list[int]]:
        """Partitions by topic as the range assignor deals them: contiguous, the first members get one more."""
        members = self.num_members(state)
        if member >= members:
            return {}
        each, more = divmod(PARTITIONS, members)
        first = member * each + min(member, more)
        taken = list(range(first, first + each + (member < more)))
        return dict.fromkeys(self.topics, taken) if taken else {}


@dataclass(frozen=True)
class Cast:
    groups: list[Group]
    topics: list[str]
    topic_ids: list[bytes]


def make_cast(seed: int, num_groups: int) -> Cast:
    rng = random.Random(seed)
    kinds = ("orders.events.v2-", "clicks-", "inventory.changelog.region-eu-west-", "pay-")
    topics = [f"{kinds[number % len(kinds)]}{number}" for number in range(TOPICS)]
    return Cast([make_group(rng, number) for number in range(num_groups)], topics, [rng.randbytes(16) for _ in topics])


def make_group(rng: random.Random, number: int) -> Group:
    name = f"billing-service-{number * 7919:x}" + ("-production" if number % 3 == 0 else "")
    first = rng.randrange(TOPICS)
    topics = tuple(sorted((first + place) % TOPICS for place in range(1 + rng.randrange(4))))
    members = tuple(f"consumer-{name}-{place}-{uuid.UUID(bytes=rng.randbytes(16))}" for place in range(MOST_MEMBERS))
    return Group(name, CLIENTS[number % len(CLIENTS)], topics, members)


def java_hash(string: str) -> int:
    """Java's String.hashCode of ASCII text."""
    value = 0
    for unit in string.encode("ascii"):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def offsets_partition(group: str, partitions: int) -> int:
    return abs(java_hash(group)) % partitions
