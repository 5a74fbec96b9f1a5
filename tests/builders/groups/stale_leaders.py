"""Groups whose leader does not know the topics as they are: its assignments by Kafka's own client classes, which are
told other topics than the snapshots show."""

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.builders.generated.topics import written
from tests.builders.groups.classic_lives import Life, lived
from tests.builders.logs.by_hand import Event, commit, write_snapshot
from tests.make.log import T0
from tests.udfs.assignors.client.test_client_assignors import JARS

IDS: Final = {name: f"{name:A<22}" for name in ("lead", "side", "k")}
# What snapshots show, every half minute; topics are of one age.
TOPICS: Final = {"lead": 6, "side": 2, "k": 2}
FIRST, EVERY, LAST = 0, 30, 1_140
ROUNDS: Final = (60.0, 120.0)


def life(assignor: str, known: Sequence[Mapping[str, int]], subscribed: Sequence[str]) -> Life:
    """Two members. `known`: by round, the topics that their leader knows."""
    members = [{"member_id": name, "subscribed_topics": sorted(subscribed)} for name in ("m-1", "m-2")]
    rounds = [
        {"members": members, "topics": [{"name": name, "partitions": count} for name, count in topics.items()]}
        for topics in known
    ]
    return {"assignor": assignor, "topics": [], "rounds": rounds}


def assigned_of(of: Life) -> list[Any]:
    """By round and member, the bytes of its subscription and assignment."""
    return assigned(json.dumps(of))


@functools.cache
def assigned(text: str) -> list[Any]:
    (rounds,) = lived([json.loads(text)], JARS[4, 4, 0])
    return rounds


def generations(of: Life, group: str = "g", times: Sequence[float] = ROUNDS) -> list[Event]:
    """The records of its rounds."""
    return [
        generation(group, number, time, of["assignor"], round_["members"], members)
        for number, (time, round_, members) in enumerate(
            zip(times, of["rounds"], assigned_of(of), strict=False), start=1
        )
    ]


def generation(
    group: str, number: int, time: float, assignor: str, members: Sequence[Mapping[str, Any]], raw: Sequence[Any]
) -> Event:
    rows = [
        {
            "member_id": member["member_id"], "group_instance_id": None, "client_id": "app", "client_host": "/10.0.0.1",
            "rebalance_timeout": 300_000, "session_timeout": 10_000,
            "subscription": bytes.fromhex(subscription), "assignment": bytes.fromhex(assignment),
        }
        for member, (subscription, assignment) in zip(members, raw, strict=True)
    ]  # fmt: skip
    value = {
        "protocol_type": "consumer", "generation": number, "protocol": assignor, "leader": members[0]["member_id"],
        "current_state_timestamp": T0 + round(time * 1000) - 100, "members": rows,
    }  # fmt: skip
    return time, [written(2, {"group": group}, value, 3)]


def commits(group: str, topics: Mapping[str, int], since: float, until: float, every: float = 10.0) -> list[Event]:
    """Of a group that reads all the time."""
    moments = [since + each * every for each in range(int((until - since) / every))]
    return [
        commit(group, topic, partition, at, offset=min(9, 1 + number))
        for number, at in enumerate(moments)
        for topic, count in topics.items()
        for partition in range(count)
    ]


def snapshots(folder: Path, topics: Mapping[str, int] = TOPICS, times: Sequence[float] | None = None) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    every = range(FIRST, LAST + EVERY, EVERY) if times is None else times
    return [write_snapshot(folder / f"{at}.jsonl", at, topics, IDS) for at in every]
