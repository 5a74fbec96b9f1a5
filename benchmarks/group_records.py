"""Keys and values of group records: classic groups with all their members, and groups of the consumer protocol."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.byte_columns import Bytes, chosen, compact, joined, joined_groups, lengths, packed, text, uvarint
from benchmarks.cast import GENERATIONS_PER_STATE, MOST_MEMBERS, STATES, Cast, Client, Group

Numbers = NDArray[np.int64]
NULL_BYTES, NO_BYTES, NULL_TEXT = b"\xff" * 4, bytes(4), b"\xff" * 2


def i4(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


@dataclass(frozen=True)
class ClassicPools:
    """What does not change from generation to generation; rows by group, by group and member, or by group, state and
    member."""

    key: pa.BinaryArray
    protocol: pa.BinaryArray
    leader: pa.BinaryArray
    member: pa.BinaryArray
    topics: pa.BinaryArray
    rack: pa.BinaryArray
    assigned: pa.BinaryArray
    client: Numbers
    num_members: Numbers


def classic_pools(cast: Cast) -> ClassicPools:
    def binary(rows: list[bytes]) -> pa.BinaryArray:
        return pa.array(rows, pa.binary())

    members = [(group, place) for group in cast.groups for place in range(MOST_MEMBERS)]
    states = [(group, state) for group in cast.groups for state in range(STATES)]
    return ClassicPools(
        binary([b"\0\2" + text(group.name) for group in cast.groups]),
        binary([text(protocol(group)) for group in cast.groups]),
        binary([text(group.members[0]) for group in cast.groups]),
        binary([member_head(group, place) for group, place in members]),
        binary([subscribed_topics(cast, group) for group in cast.groups]),
        binary([rack(group, place) for group, place in members]),
        binary([topic_partitions(cast, group.assigned(state, place))
                for group, state in states for place in range(MOST_MEMBERS)]),
        np.array([group.client for group in cast.groups]),
        np.array([group.num_members(state) for group, state in states]),
    )  # fmt: skip


def protocol(group: Group) -> str:
    return "cooperative-sticky" if group.client is Client.JAVA_COOPERATIVE else "range"


def member_head(group: Group, place: int) -> bytes:
    instance = text(f"static-{place}") if place % 5 == 4 else NULL_TEXT
    client_id, host = f"consumer-{group.name}-{place}", f"/10.0.{place % 4}.{place}"
    return text(group.members[place]) + instance + text(client_id) + text(host) + i4(300_000) + i4(45_000)


def subscribed_topics(cast: Cast, group: Group) -> bytes:
    version = 0 if group.client is Client.PLAIN else 3
    topics = sorted(cast.topics[topic] for topic in group.topics)
    return version.to_bytes(2, "big") + i4(len(topics)) + b"".join(map(text, topics))


def rack(group: Group, place: int) -> bytes:
    if group.client is Client.PLAIN:
        return b""
    return text(f"rack-{place % 3}") if len(group.name) % 3 == 0 else NULL_TEXT


def topic_partitions(cast: Cast, assigned: dict[int, list[int]]) -> bytes:
    each = [text(cast.topics[topic]) + i4(len(taken)) + b"".join(map(i4, taken)) for topic, taken in assigned.items()]
    return i4(len(each)) + b"".join(each)


def classic_values(pools: ClassicPools, group: Numbers, generation: Numbers, time: Numbers) -> pa.BinaryArray:
    """GroupMetadataValue, version 3."""
    state = group * STATES + state_of(generation)
    count = pools.num_members[state]
    head = joined(
        b"\0\3" + text("consumer"), packed((">i4", generation)), pools.protocol.take(pa.array(group)),
        pools.leader.take(pa.array(group)), packed((">i8", time), (">i4", count)),
    )  # fmt: skip
    row = np.repeat(np.arange(len(group)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return joined(head, joined_groups(members(pools, group[row], generation[row], place), count))


def state_of(generation: Numbers) -> Numbers:
    return generation // GENERATIONS_PER_STATE % STATES


def members(pools: ClassicPools, group: Numbers, generation: Numbers, place: Numbers) -> pa.BinaryArray:
    member = pa.array(group * MOST_MEMBERS + place)
    subscription = subscriptions(pools, group, generation, place)
    assigned = pools.assigned.take(pa.array((group * STATES + state_of(generation)) * MOST_MEMBERS + place))
    version = chosen(pools.client[group] == Client.PLAIN, b"\0\0", b"\0\3")
    assignment = joined(version, assigned, NULL_BYTES)
    return joined(
        pools.member.take(member), packed((">i4", lengths(subscription))), subscription,
        packed((">i4", lengths(assignment))), assignment,
    )  # fmt: skip


def subscriptions(pools: ClassicPools, group: Numbers, generation: Numbers, place: Numbers) -> pa.BinaryArray:
    """What each member sent when it joined: its own generation then was the one before."""
    before = packed((">i4", generation - 1))
    is_plain, is_cooperative = (pools.client[group] == kind for kind in (Client.PLAIN, Client.JAVA_COOPERATIVE))
    owned = pools.assigned.take(pa.array((group * STATES + state_of(generation - 1)) * MOST_MEMBERS + place))
    empty_array: Bytes = NO_BYTES
    return joined(
        pools.topics.take(pa.array(group)),
        chosen(is_cooperative, joined(i4(4), before), chosen(is_plain, NO_BYTES, NULL_BYTES)),
        chosen(is_cooperative, owned, chosen(is_plain, b"", empty_array)),
        chosen(is_plain, b"", before),
        pools.rack.take(pa.array(group * MOST_MEMBERS + place)),
    )  # fmt: skip


# Groups of the consumer protocol: their records are few, so each group has a small stock that comes again and again.

STOCK_PER_GROUP = 20
NO_TAGS = b"\0"


@dataclass(frozen=True)
class Stock:
    """Keys and values by group and place in its stock."""

    key: pa.BinaryArray
    value: pa.BinaryArray


def consumer_stock(cast: Cast) -> Stock:
    records = [record for group in cast.groups for record in stock_of(cast, group)]
    return Stock(*(pa.array(side, pa.binary()) for side in zip(*records, strict=True)))


def stock_of(cast: Cast, group: Group) -> list[tuple[bytes, bytes]]:
    name = text(group.name)
    stock = []
    for turn in range(STOCK_PER_GROUP // 5):
        epoch, key = i4(1 + turn), name + text(group.members[turn])
        assigned = id_partitions(cast, group.assigned(turn, turn))
        hash_tag = b"\1" + b"\0" + b"\x08" + bytes(8 - 1) + bytes([turn + 1])
        stock += [
            (b"\0\3" + name, b"\0\0" + epoch + hash_tag),
            (b"\0\5" + key, b"\0\0" + member_value(cast, group, turn)),
            (b"\0\6" + name, b"\0\0" + epoch + NO_TAGS),
            (b"\0\7" + key, b"\0\0" + assigned + NO_TAGS),
            (b"\0\x08" + key, b"\0\0" + epoch + epoch + b"\0" + assigned + uvarint(1) + NO_TAGS),
        ]
    return stock


def member_value(cast: Cast, group: Group, place: int) -> bytes:
    null = b"\0"
    topics = sorted(cast.topics[topic] for topic in group.topics)
    return b"".join((
        null, compact(b"rack-1") if place % 2 else null, compact(f"c-{group.name}".encode()), compact(b"/10.0.0.1"),
        uvarint(len(topics) + 1), *(compact(topic.encode()) for topic in topics), compact(b""), i4(300_000),
        null if place % 2 else compact(b"uniform"), NO_TAGS,
    ))  # fmt: skip


def id_partitions(cast: Cast, assigned: dict[int, list[int]]) -> bytes:
    each = [
        cast.topic_ids[topic] + uvarint(len(taken) + 1) + b"".join(map(i4, taken)) + NO_TAGS
        for topic, taken in assigned.items()
    ]
    return uvarint(len(each) + 1) + b"".join(each)


def occurrences(group: Numbers, num_groups: int) -> tuple[Numbers, Numbers]:
    """For each row how many rows of its group stand before it, and for each group how many there are."""
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group, minlength=num_groups)
    before = np.empty(len(group), np.int64)
    before[order] = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    return before, counts
