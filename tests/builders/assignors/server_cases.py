"""Random specs of consumer groups: what a coordinator may meet, and what it should not."""

import base64
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

UNKNOWN = "not-there"


def random_spec(rng: np.random.Generator, assignor: str, is_equal: bool, protocol: str = "consumer") -> dict[str, Any]:
    topics = random_topics(rng)
    members = random_members(rng)
    targets = random_targets(rng, topics, len(members))
    everything = some(rng, [topic["name"] for topic in topics], 0.9) + [UNKNOWN] * int(rng.random() < 0.1)
    for i, member in enumerate(members):
        subscribed = everything if is_equal else random_subscription(rng, topics)
        member["subscribed_topics"] = shuffled(rng, subscribed) if rng.random() < 0.3 else subscribed
        target = [[topic, shuffled(rng, of) if rng.random() < 0.1 else of] for topic, of in targets[i].items() if of]
        member["target"] = shuffled(rng, target) if rng.random() < 0.3 else target
    if rng.random() < 0.05:
        crowd(rng, topics[0], members)
    return {"group_protocol": protocol, "assignor": assignor, "topics": topics, "members": members}


def crowd(rng: np.random.Generator, topic: dict[str, Any], members: list[dict[str, Any]]) -> None:
    """Targets whose partitions are a power of two apart: they share few buckets of Java's tables, or one."""
    apart = int(rng.choice([16, 32, 64, 128]))
    topic["partitions"] = max(topic["partitions"], apart * int(rng.integers(9, 30)))
    # So few that one more makes a tree, from which others may move away.
    few = slice(0, int(rng.integers(7, 10)) if rng.random() < 0.5 else None)
    for i, member in enumerate(members):
        partitions = some(rng, range(i % apart, topic["partitions"], apart), float(rng.choice([0.7, 1.0])))[few]
        if rng.random() < 0.3:
            partitions += some(rng, set(range(len(members), min(40, topic["partitions"]))) - set(partitions), 0.05)
        others = [pair for pair in member["target"] if pair[0] != topic["name"]]
        listed = shuffled(rng, partitions) if rng.random() < 0.3 else partitions
        member["target"] = [*others, [topic["name"], listed]]


def random_topics(rng: np.random.Generator) -> list[dict[str, Any]]:
    count = int(rng.integers(1, rng.choice([3, 6, 30])))
    largest = int(rng.choice([4, 30, 200]))
    topics = [
        {
            "name": f"t{rng.integers(10_000)}-{i}",
            "partitions": int(rng.integers(1, largest + 1)),
            "topic_id": base64.urlsafe_b64encode(rng.bytes(16)).decode()[:22],
        }
        for i in range(count)
    ]
    if rng.random() < 0.1:
        topics[0]["partitions"] = 0
    return topics


def random_members(rng: np.random.Generator) -> list[dict[str, Any]]:
    count = int(rng.integers(1, rng.choice([3, 8, 40])))
    ids = [f"consumer-{rng.integers(1_000_000)}-{i}" for i in range(count)]
    if rng.random() < 0.2:
        # Aa and BB have one hash code: these ids stand in one chain of Java's map, and more than ten make a tree of it.
        size = int(rng.choice([3, 6]))
        ids = list(dict.fromkeys("".join(rng.choice(["Aa", "BB"], size=size)) for _ in range(count)))
    members: list[dict[str, Any]] = [{"member_id": member_id} for member_id in ids]
    for i, member in enumerate(members):
        if rng.random() < 0.1:
            member["group_instance_id"] = f"instance-{rng.integers(10)}-{i}"
    return members


def random_subscription(rng: np.random.Generator, topics: list[dict[str, Any]]) -> list[str]:
    return some(rng, [topic["name"] for topic in topics], 0.6) + [UNKNOWN] * int(rng.random() < 0.1)


def random_targets(
    rng: np.random.Generator, topics: list[dict[str, Any]], members: int
) -> defaultdict[int, defaultdict[str, list[int]]]:
    """Of an epoch before: none, balanced, with holes, or skewed; fewer members, topics that came since."""
    targets: defaultdict[int, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    kind = rng.choice(["none", "balanced", "holes", "skewed"])
    members_before = int(rng.integers(1, members + 1)) if rng.random() < 0.5 else members
    turn = 0
    for topic in some(rng, topics, 0.85 if kind != "none" else 0.0):
        for partition in range(topic["partitions"]):
            if kind == "holes" and rng.random() < 0.3:
                continue
            turn += 1
            owner = turn % members_before if kind == "balanced" else int(rng.integers(members_before))
            targets[int(owner * rng.random()) if kind == "skewed" else owner][topic["name"]].append(partition)
    if targets and rng.random() < 0.2:
        # A second owner of a partition, or a partition that is not there.
        topic = topics[int(rng.integers(len(topics)))]
        of = targets[int(rng.choice(list(targets)))][topic["name"]]
        of[:] = sorted({*of, int(rng.integers(topic["partitions"] + 3))})
    return targets


def some(rng: np.random.Generator, values: Iterable[Any], share: float) -> list[Any]:
    return [value for value in values if rng.random() < share]


def shuffled(rng: np.random.Generator, values: list[Any]) -> list[Any]:
    return [values[i] for i in rng.permutation(len(values))]


def random_share_spec(rng: np.random.Generator, is_equal: bool) -> dict[str, Any]:
    """Of a share group: partitions with several members, more members than partitions, some not assignable."""
    spec = random_spec(rng, "simple", is_equal, "share")
    if rng.random() < 0.4:
        for topic in spec["topics"]:
            topic["partitions"] = min(topic["partitions"], int(rng.integers(1, 6)))
    if rng.random() < 0.4:
        spec["assignable"] = [
            [topic["name"], some(rng, range(topic["partitions"]), 0.7)] for topic in some(rng, spec["topics"], 0.9)
        ]
    if rng.random() < 0.6:
        for member in spec["members"]:
            member["target"] = random_share_target(rng, spec["topics"]) if rng.random() < 0.8 else []
    return spec


def random_share_target(rng: np.random.Generator, topics: list[dict[str, Any]]) -> list[Any]:
    share = rng.choice([0.1, 0.3, 0.9])
    # Also of topics that are gone, of partitions beyond the count, and without partitions: Kafka writes such records.
    target = [
        [topic["name"], some(rng, range(topic["partitions"] + 2), share)]
        for topic in some(rng, topics, float(rng.choice([0.2, 0.9])))
    ]
    return shuffled(rng, target) if rng.random() < 0.3 else target
