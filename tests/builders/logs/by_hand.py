"""Logs of a few records, written by hand: groups in offsets partitions, second by second, and snapshots beside them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from schemas.words.records import OFFSETS_TOPIC
from tests.builders.generated.classic import assignment, subscription
from tests.builders.generated.topics import KeyValue, written
from tests.make.log import T0, write
from tests.make.log import Log as OneLog

IDS: Final = {name: f"{name:A<22}" for name in ("orders", "payments", "refunds")}
# By offsets partition: second and what is written then in one batch.
Event = tuple[float, Sequence[KeyValue]]
Log = Mapping[int, Sequence[Event]]


def commit(group: str, topic: str, partition: int, seconds: float, offset: int = 7) -> Event:
    key = {"group": group, "topic": topic, "partition": partition}
    value = {"offset": offset, "leader_epoch": -1, "metadata": "", "commit_timestamp": T0 + round(seconds * 1000)}
    return seconds, [written(1, key, value, 3)]


def generation(
    group: str,
    number: int,
    seconds: float,
    members: Mapping[str, Iterable[int]],
    topic: str = "t",
    protocol: str = "range",
) -> Event:
    """Of a classic group whose leader assigned by that assignor, or says so."""
    rows = [
        {
            "member_id": name, "group_instance_id": None, "client_id": "c", "client_host": "/h",
            "rebalance_timeout": 300_000, "session_timeout": 10_000,
            "subscription": subscription((topic,), frozenset(), -1),
            "assignment": assignment(frozenset((topic, each) for each in partitions)),
        }
        for name, partitions in members.items()
    ]  # fmt: skip
    value = {
        "protocol_type": "consumer", "generation": number, "protocol": protocol, "leader": next(iter(members)),
        "current_state_timestamp": T0 + round(seconds * 1000), "members": rows,
    }  # fmt: skip
    return seconds, [written(2, {"group": group}, value, 3)]


def target(group: str, seconds: float, topics: Mapping[str, int], subscribed: Sequence[str] = ()) -> Event:
    """A consumer group of one member, which has all partitions; records name topics by id alone."""
    owned = [{"topic_id": IDS[name], "partitions": list(range(count))} for name, count in topics.items()]
    key, of_member = {"group_id": group}, {"group_id": group, "member_id": f"{group}-1"}
    about = {
        "instance_id": None, "rack_id": None, "client_id": "c", "client_host": "/h", "rebalance_timeout_ms": 300_000,
        "subscribed_topic_names": sorted(subscribed or topics), "subscribed_topic_regex": None,
        "server_assignor": None,
    }  # fmt: skip
    held = [{**each, "assignment_epochs": [1] * len(each["partitions"])} for each in owned]
    current = {
        "member_epoch": 1, "previous_member_epoch": 0, "state": 0, "assigned_partitions": held,
        "partitions_pending_revocation": [],
    }  # fmt: skip
    return seconds, [
        written(5, of_member, about),
        # No hash of topics that there are.
        written(3, key, {"epoch": 1, "metadata_hash": 1}),
        written(7, of_member, {"topic_partitions": owned}),
        written(6, key, {"assignment_epoch": 1, "assignment_timestamp": T0 + round(seconds * 1000)}),
        written(8, of_member, current),
    ]


def write_log(folder: Path, log: Log) -> str:
    """The source to ingest."""
    for partition, events in log.items():
        entries = [(round(seconds * 1000), *ops) for seconds, ops in sorted(events, key=lambda event: event[0])]
        write(folder, partition, OneLog(*entries).logged())
    return f"segments:{folder}"


def write_snapshot(path: Path, seconds: float, topics: Mapping[str, int], ids: Mapping[str, str] = IDS) -> Path:
    """Of all topics."""
    listed = [
        {"topic": name, "topic_id": ids.get(name), "partitions": [{"partition": each, "log_end_offset": 9, "racks": []}
                                                                for each in range(count)]}
        for name, count in {**topics, OFFSETS_TOPIC: 50}.items()
    ]  # fmt: skip
    reported: dict[str, Any] = {"captured_at": T0 + round(seconds * 1000), "topics": listed}
    path.write_text(json.dumps(reported) + "\n")
    return path
