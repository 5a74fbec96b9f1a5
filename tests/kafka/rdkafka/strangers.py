"""Members by hand: they join with any claims that bytes can say, as no library's member would, and never lead."""

import random
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = (11, 5), (12, 3), (13, 1), (14, 3)
NO_ERROR, REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED = 0, 27, 79
SESSION_MS: Final = 6_000
REBALANCE_MS: Final = 20_000
BEAT_SECONDS: Final = 0.2
Claims = Mapping[str, Sequence[int]]


def text(value: str | None) -> bytes:
    return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value)) + value.encode()


def blob(value: bytes | None) -> bytes:
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value


def texts(answer: bytes, at: int, number: int) -> list[str]:
    found = []
    for _ in range(number):
        (size,) = struct.unpack_from(">h", answer, at)
        end = at + 2 + max(size, 0)
        found.append(answer[at + 2 : end].decode())
        at = end
    return found


def array(items: Sequence[bytes]) -> bytes:
    return struct.pack(">i", len(items)) + b"".join(items)


@dataclass(frozen=True)
class Subscription:
    version: int
    topics: Sequence[str]
    owned: Claims
    generation: int
    rack: str | None

    @property
    def payload(self) -> bytes:
        owned = [
            text(name) + array([struct.pack(">i", each) for each in numbers]) for name, numbers in self.owned.items()
        ]
        parts = [struct.pack(">h", self.version), array([text(name) for name in self.topics]), blob(None), array(owned)]
        parts += [struct.pack(">i", self.generation)] * (self.version >= 2)
        return b"".join(parts + [text(self.rack)] * (self.version >= 3))


class Stranger:
    def __init__(self, port: int, group: str, client: str, instance: str | None, protocol: str) -> None:
        self.group, self.client, self.instance, self.protocol = group, client, instance, protocol
        self.member_id = ""
        self.generation = -1
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=REBALANCE_MS / 1000)
        self._correlation = 0

    def ask(self, request: tuple[int, int], body: bytes) -> bytes:
        self._correlation += 1
        sent = struct.pack(">hhi", *request, self._correlation) + text(self.client) + body
        self._socket.sendall(struct.pack(">i", len(sent)) + sent)
        (size,) = struct.unpack(">i", self._receive(4))
        return self._receive(size)[4:]

    def _receive(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            more = self._socket.recv(size - len(got))
            if not more:
                raise ConnectionError("the broker hung up")
            got += more
        return got

    def join(self, subscription: Subscription) -> bool:
        """Whether it is a member of a complete generation now."""
        for _ in range(2):
            answer = self.ask(
                JOIN_GROUP,
                text(self.group) + struct.pack(">ii", SESSION_MS, REBALANCE_MS) + text(self.member_id)
                + text(self.instance) + text("consumer") + array([text(self.protocol) + blob(subscription.payload)]),
            )  # fmt: skip
            error, generation = struct.unpack_from(">hi", answer, 4)
            _, leader, self.member_id = texts(answer, 10, 3)
            if error != MEMBER_ID_REQUIRED:
                break
        if error:
            self.member_id = self.member_id if error == REBALANCE_IN_PROGRESS else ""
            return False
        self.generation = generation
        if leader == self.member_id:
            self.leave()
            return False
        who = text(self.group) + struct.pack(">i", generation) + text(self.member_id) + text(self.instance)
        (error,) = struct.unpack_from(">h", self.ask(SYNC_GROUP, who + array([])), 4)
        return error == NO_ERROR

    def stay(self, seconds: float) -> None:
        """Until the time is over, or the group rebalances."""
        end = time.monotonic() + seconds
        who = text(self.group) + struct.pack(">i", self.generation) + text(self.member_id) + text(self.instance)
        while time.monotonic() < end:
            (error,) = struct.unpack_from(">h", self.ask(HEARTBEAT, who), 4)
            if error != NO_ERROR:
                return
            time.sleep(BEAT_SECONDS)

    def leave(self) -> None:
        self.ask(LEAVE_GROUP, text(self.group) + text(self.member_id))
        self.member_id = ""

    def close(self) -> None:
        self.leave()
        self._socket.close()


def drawn_subscription(
    chance: random.Random, counts: Mapping[str, int], generation: int, racks: Sequence[str | None], for_all: bool
) -> Subscription:
    """Most claims are of partitions that exist, of topics that it subscribes to. `for_all`: it subscribes to all."""
    topics = chance.sample(sorted(counts), len(counts) if for_all else chance.randint(1, len(counts)))
    owned: dict[str, list[int]] = {}
    for name in chance.sample(sorted(counts), chance.randint(0, len(counts))):
        if name in topics or chance.random() < 0.2:
            numbers = range(counts[name] + (chance.random() < 0.1))
            owned[name] = chance.sample(numbers, chance.randint(0, len(numbers)))
    if chance.random() < 0.05:
        owned["nowhere"] = [0, 1]
    return Subscription(
        version=chance.choice((1, 2, 3, 3, 3)),
        topics=topics,
        owned=owned,
        generation=chance.choice((-1, max(-1, generation - 1), generation, generation, generation + 1)),
        rack=chance.choice(racks),
    )
