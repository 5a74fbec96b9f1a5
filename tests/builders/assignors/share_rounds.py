"""Large share groups in several rounds: what they were given is the target of the next round, in which some members
join, leave or take other topics."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.builders.assignors.server_cases import random_share_target, shuffled, some

Pairs = Sequence[Sequence[Any]]


def large_share_spec(rng: np.random.Generator, is_equal: bool) -> dict[str, Any]:
    """Hundreds of members and partitions; some targets at first, some of them on partitions beyond the count."""
    apart = int(rng.choice([1, 16, 64]))
    topics = [
        {"name": f"t{i}", "partitions": int(rng.integers(1, 20 * apart)), "topic_id": topic_id(i, apart)}
        for i in range(int(rng.integers(2, 20)))
    ]
    names = [topic["name"] for topic in topics]
    members = [
        {
            "member_id": f"consumer-{rng.integers(1_000_000)}-{i}",
            "subscribed_topics": names if is_equal else some(rng, names, 0.6),
        }
        for i in range(int(rng.integers(100, 400)))
    ]
    for member in members if rng.random() < 0.7 else ():
        target = random_share_target(rng, topics) if rng.random() < 0.3 else []
        # A power of two apart: partitions that share few buckets of Java's tables.
        member["target"] = [[name, [each for each in of if each % apart == 0]] for name, of in target]
    spec = {"group_protocol": "share", "assignor": "simple", "topics": topics, "members": members}
    if rng.random() < 0.4:
        spec["assignable"] = [[topic["name"], some(rng, range(0, topic["partitions"], apart), 0.9)] for topic in topics]
    return spec | {"jdk": 17}


def topic_id(number: int, apart: int) -> str:
    """Ids whose hash codes are as far apart as the partitions: they crowd buckets too."""
    return base64.urlsafe_b64encode((number * apart + 2).to_bytes(16, "big")).decode()[:22]


def next_round(rng: np.random.Generator, spec: dict[str, Any], lists: Sequence[Pairs]) -> dict[str, Any]:
    names = [topic["name"] for topic in spec["topics"]]
    is_equal = len({tuple(sorted(member["subscribed_topics"])) for member in spec["members"]}) == 1
    everything = some(rng, names, 0.9) if rng.random() < 0.3 else spec["members"][0]["subscribed_topics"]
    members = []
    for member, pairs in zip(spec["members"], lists, strict=True):
        if rng.random() < 0.1:
            continue
        by_topic: dict[str, list[int]] = {}
        for name, partition in pairs:
            by_topic.setdefault(name, []).append(partition)
        target = [[name, of] for name, of in by_topic.items()]
        subscribed = everything if is_equal else member["subscribed_topics"]
        if not is_equal and rng.random() < 0.1:
            subscribed = some(rng, names, 0.6)
        members.append(member | {"subscribed_topics": subscribed, "target": target})
    joined = {"subscribed_topics": everything, "target": []}
    members += [
        joined | {"member_id": f"joined-{rng.integers(1_000_000)}-{i}"} for i in range(int(rng.integers(1, 40)))
    ]
    return spec | {"members": shuffled(rng, members)}
