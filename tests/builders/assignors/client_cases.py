"""Random specs for the leader's assignors: names that collide in Java's tables, conflicting and stale claims, racks."""

import struct
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

import numpy as np

Spec = dict[str, Any]
TopicPartition = tuple[str, int]

GENERATION = 5


def random_spec(rng: np.random.Generator, assignor: str, release: tuple[int, int, int]) -> Spec:
    random = Random(int(rng.integers(2**62)))
    num_members = random.choice([1, 2, 3, 4, 5, 8, 13, 20, 40])
    member_ids = crowded(random, num_members) if random.random() < 0.1 else names(random, num_members)
    topic_names = names(random, random.choice([1, 2, 3, 5, 9, 14]) + 2)
    # The last two are unknown to the leader, but may be subscribed to.
    known = topic_names[:-2]
    same = random.choice([0, 0, 3, 6, 10])
    counts = {name: same or random.choice([1, 1, 2, 3, 4, 5, 7, 12, 20]) for name in known}
    racks = [f"r{i}" for i in range(random.choice([1, 2, 3, 4]))] if random.random() < 0.35 else []
    topics = [{"name": name, "partitions": count} | topic_racks(random, count, racks) for name, count in counts.items()]
    subscriptions = random_subscriptions(random, member_ids, known, topic_names)
    owned = random_claims(random, counts, subscriptions)
    members = [
        random_member(random, assignor, member_id, topics_of, claims, racks)
        for member_id, topics_of, claims in zip(member_ids, subscriptions, owned, strict=True)
    ]
    spec = {"group_protocol": "classic", "assignor": assignor, "topics": topics, "members": members}
    if "sticky" in assignor and release >= (3, 0, 0) and random.random() < 0.2:
        spec["leader_memory"] = random.choice([GENERATION, GENERATION + 2])
    return spec | {"release": ".".join(map(str, release))}


def one_chain_spec(rng: np.random.Generator, assignor: str, release: tuple[int, int, int]) -> Spec:
    """Members of one hash code, more of them with two partitions than may have two: those that Java walks first keep
    theirs. It walks a map that was filled while another was walked, and a tree is walked in another order each time."""
    random = Random(int(rng.integers(2**62)))
    member_ids = crowded(random, 20)
    counts = {"a": 8, "b": random.choice([14, 15, 16])}
    owned: list[dict[str, list[int]]] = [{} for _ in member_ids]
    for member in random.sample(range(20), 8):
        owned[member] = {"a": [], "b": []}
    for topic in counts:
        for partition, own in enumerate(filter(None, owned)):
            own[topic].append(partition)
    members: list[Spec] = []
    for member_id, own in zip(member_ids, owned, strict=True):
        claims = (
            {"user_data": sticky_data(own, GENERATION).hex()}
            if assignor == "sticky"
            else {"owned": [list(each) for each in own.items()]}
        )
        members.append({"member_id": member_id, "subscribed_topics": [*counts], "generation": GENERATION, **claims})
    topics = [{"name": name, "partitions": count} for name, count in counts.items()]
    spec = {"group_protocol": "classic", "assignor": assignor, "topics": topics, "members": members}
    return spec | {"release": ".".join(map(str, release))}


def names(random: Random, count: int) -> list[str]:
    """Distinct ones. "Aa" and "BB" have one hash code."""
    kinds = [
        lambda i: f"n{i}",
        lambda i: f"consumer-{i}-{random.getrandbits(32):08x}",
        lambda i: "".join(random.choices("abcxyzABC_.0", k=random.randint(1, 12))),
        lambda i: "".join(random.choices(["Aa", "BB"], k=random.choice([2, 3]))),
        # One of these is two UTF-16 units, which sort before the one above them.
        lambda i: "".join(random.choices("éЖ\uffee\U0001f600z", k=random.randint(1, 4))),
    ]
    made = random.choice(kinds if count <= 4 else kinds[:3])
    result: dict[str, None] = {}
    while len(result) < count:
        result.setdefault((made if random.random() < 0.9 else kinds[2])(len(result)))
    return list(result)


def crowded(random: Random, count: int) -> list[str]:
    """Distinct ones of one hash code: more than ten make a tree of their chain in Java's map, which orders them by
    compareTo. A tree of topics' partitions has no such order: Java shapes it by chance."""
    return ["".join(each) for each in random.sample(list(product(["Aa", "BB"], repeat=7)), count)]


def topic_racks(random: Random, count: int, racks: Sequence[str]) -> Spec:
    if not racks or random.random() < 0.1:
        return {}
    places: list[str | None] = [*racks, None] if random.random() < 0.1 else [*racks]
    return {"racks": [random.choices(places, k=random.choice([1, 2, 2, 3])) for _ in range(count)]}


def random_subscriptions(
    random: Random, member_ids: Sequence[str], known: Sequence[str], topic_names: Sequence[str]
) -> list[list[str]]:
    pool = topic_names if random.random() < 0.3 else known
    some = [name for name in pool if random.random() < 0.8] or [pool[0]]
    others = [[name for name in pool if random.random() < 0.6] for _ in range(random.choice([1, 2, 3, 30]))]
    is_equal = random.random() < 0.5
    chosen = [some if is_equal and random.random() < 0.99 else random.choice([some, *others]) for _ in member_ids]
    return [random.sample(names, len(names)) if random.random() < 0.3 else sorted(names) for names in chosen]


def random_claims(
    random: Random, counts: dict[str, int], subscriptions: Sequence[Sequence[str]]
) -> list[list[TopicPartition]]:
    """What each member claims: nothing, each partition once, or one of several; some of what is not subscribed."""
    owned: list[list[TopicPartition]] = [[] for _ in subscriptions]
    mode = random.choice(["nothing", "all", "all", "some", "several"])
    if mode == "nothing":
        return owned
    everything = [(name, partition) for name, count in counts.items() for partition in range(count)]
    is_skewed, newcomers = random.random() < 0.4, random.randrange(len(owned))
    for partition in everything:
        takers = [m for m, names in enumerate(subscriptions) if partition[0] in names or random.random() < 0.02]
        takers = [m for m in takers if m >= newcomers] or takers
        if takers and random.random() < (0.6 if mode == "some" else 0.95):
            owned[min(random.choice(takers) for _ in range(3 if is_skewed else 1))].append(partition)
    contested = everything if mode == "several" else random.choices(everything, k=random.choice([0, 0, 0, 1]))
    for claims in owned:
        claims += [each for each in contested if random.random() < 0.1 and each not in claims]
    if random.random() < 0.05:
        # A topic that was made anew with fewer partitions.
        random.choice(owned).append((random.choice(list(counts)), random.choice([20, 21, 30])))
    if random.random() < 0.1:
        random.choice(owned).append(("gone", 0))
    return [random.sample(claims, len(claims)) if random.random() < 0.3 else sorted(claims) for claims in owned]


def random_member(
    random: Random,
    assignor: str,
    member_id: str,
    topics: Sequence[str],
    claims: Sequence[TopicPartition],
    racks: Sequence[str],
) -> Spec:
    member: Spec = {"member_id": member_id, "subscribed_topics": list(topics)}
    grouped: dict[str, list[int]] = {}
    for topic, partition in claims:
        grouped.setdefault(topic, []).append(partition)
    # Below 0, a subscription has no generation, but user data has one.
    generation = random.choice([*[GENERATION] * 3, GENERATION - 1, GENERATION - 2, -1, -7, None])
    is_known = random.random() < 0.8
    if assignor != "sticky" or random.random() < 0.5:
        member |= {"owned": [list(each) for each in grouped.items()]}
        if is_known and generation is not None and generation >= -1:
            member["generation"] = generation
    if assignor == "sticky" and (claims or random.random() < 0.5):
        member["user_data"] = spoilt(random, sticky_data(grouped, generation)).hex()
    elif assignor == "cooperative-sticky" and random.random() < 0.5:
        said = GENERATION if generation is None else generation
        member["user_data"] = spoilt(random, struct.pack(">i", said)).hex()
    if random.random() < 0.15:
        member["group_instance_id"] = f"i{random.randrange(100)}-{member_id}"
    if racks and random.random() < 0.85:
        member["rack_id"] = random.choice([*racks, "elsewhere"])
    return member


def sticky_data(owned: dict[str, list[int]], generation: int | None) -> bytes:
    """The sticky assignor's user data; the form before 2.3 has no generation."""
    data = struct.pack(">i", len(owned))
    for topic, partitions in owned.items():
        name = topic.encode()
        data += struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions)
    return data if generation is None else data + struct.pack(">i", generation)


def spoilt(random: Random, data: bytes) -> bytes:
    return random.choice([b"", b"\xff\xff", data[:-2]]) if random.random() < 0.04 else data
