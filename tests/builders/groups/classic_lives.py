"""Random lives of classic groups, generation by generation, by Kafka's own clients; and their records."""

import json
import subprocess
from collections.abc import Sequence
from random import Random
from typing import Any, Final

import numpy as np
import pyarrow as pa

from jobs.spark.jars import JarSet, jar_folder
from schemas.records import ASSIGNMENT, SUBSCRIPTION
from schemas.tables import TABLES
from tests.builders.assignors.client_cases import names
from tests.kafka.jar_sets import KAFKA_4_3_1
from tests.kafka.java_programs import compile_java, java_command
from tests.oracles.assignors.kafka_assignors import JAVA
from tests.short_lived_java import FLAGS
from udfs.arrays.arrow_schema import table_schema
from udfs.assignors.questions import Topic
from udfs.audit.checks.facts import Facts, KnownTopic
from udfs.rows.classic_members import structs

SCHEMA: Final = table_schema(TABLES["classic_group_metadata"])
SECOND_US: Final = 1_000_000
LATER: Final = 10**18
Life = dict[str, Any]
Row = dict[str, Any]


def random_lives(random: Random, assignors: Sequence[str], count: int, *, has_racks: bool = False) -> list[Life]:
    """So many, of each assignor in turn."""
    return [
        random_life(random, number, assignors[number % len(assignors)], has_racks=has_racks) for number in range(count)
    ]


def random_life(random: Random, number: int, assignor: str, *, has_racks: bool = False, rounds: int = 5) -> Life:
    """Members come and go, some with a static id, some do not hear of an assignment; subscriptions are equal or not.
    No two lives share a topic."""
    pool = [f"{number}-{name}" for name in names(random, random.choice([2, 3, 5, 13])) if name.isascii()]
    pool = pool or [f"{number}-t"]
    racks = [f"r{i}" for i in range(random.choice([2, 3]))] if has_racks and random.random() < 0.4 else []
    topics = [random_topic(random, name, racks) for name in pool]
    ids = iter(names(random, 60))
    is_equal = random.random() < 0.6
    members: list[dict[str, Any]] = []
    lived = []
    for _ in range(rounds):
        members = [member for member in members if random.random() < 0.8]
        members += [random_member(random, next(ids), racks) for _ in range(random.choice([0, 1, 1, 2, 5]))]
        members = members or [random_member(random, next(ids), racks)]
        for member in members:
            if is_equal or "subscribed_topics" not in member or random.random() < 0.1:
                some = pool if is_equal else [name for name in pool if random.random() < 0.6] or pool[:1]
                member["subscribed_topics"] = sorted(some)
        random.shuffle(members)
        lived.append([member | {"is_synced": random.random() < 0.93} for member in members])
    return {"assignor": assignor, "topics": topics, "rounds": [{"members": each} for each in lived]}


def random_topic(random: Random, name: str, racks: Sequence[str]) -> dict[str, Any]:
    count = random.choice([2, 3, 3, 4, 6, 11, 17])
    has = {"racks": [random.sample(racks, min(2, len(racks))) for _ in range(count)]} if racks else {}
    return {"name": name, "partitions": count} | has


def random_member(random: Random, member_id: str, racks: Sequence[str]) -> dict[str, Any]:
    member = {"member_id": member_id}
    if random.random() < 0.15:
        member["group_instance_id"] = f"i-{member_id}"
    if racks and random.random() < 0.9:
        member["rack_id"] = random.choice(racks)
    return member


def lived(lives: Sequence[Life], jars: JarSet) -> list[list[Any]]:
    """For each round of each life the bytes of each member's subscription and assignment; None: the assignor failed."""
    classpath = [jar_folder(jars), *sorted(jar_folder(KAFKA_4_3_1).glob("jackson-*.jar"))]
    client = JAVA / "client"
    sources = [JAVA / "Specs.java", client / "ClientAssignors.java", client / "ClientGroups.java"]
    classes = compile_java(sources, classpath)
    lines = "".join(f"{json.dumps(life)}\n" for life in lives)
    command = java_command("ClientGroups", [classes, *classpath], options=FLAGS)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def records(lives: Sequence[Life], result: Sequence[Sequence[Any]]) -> list[Row]:
    """Rows of `classic_group_metadata`, group after group; a round that failed left none."""
    rows: list[Row] = []
    for number, (life, rounds) in enumerate(zip(lives, result, strict=True)):
        for generation, (round_, written) in enumerate(zip(life["rounds"], rounds, strict=True), start=1):
            if written is not None:
                rows.append(record(f"g{number}", len(rows), generation, life["assignor"], round_["members"], written))
    return rows


def record(
    group_id: str, offset: int, generation: int, assignor: str, members: Sequence[Row], written: Sequence[Sequence[str]]
) -> Row:
    subscriptions = decoded([subscription for subscription, _ in written], SUBSCRIPTION)
    assignments = decoded([assignment for _, assignment in written], ASSIGNMENT)
    reported = {
        "cluster": "c", "offsets_partition": 0, "record_offset": offset, "record_time": offset * SECOND_US,
        "group_id": group_id, "protocol_type": "consumer", "generation": generation, "protocol": assignor,
        "leader": members[0]["member_id"], "is_tombstone": False, "batch_first_offset": offset,
        "members": [
            {
                "member_id": member["member_id"], "group_instance_id": member.get("group_instance_id"),
                "client_id": "c", "client_host": "/10.0.0.1", "session_timeout_ms": 45_000,
                "subscription": subscription, "assignment": assignment, "assignment_bytes": bytes.fromhex(raw),
            }
            for member, subscription, assignment, (_, raw) in zip(
                members, subscriptions, assignments, written, strict=True
            )
        ],
    }  # fmt: skip
    return dict.fromkeys(SCHEMA.names) | reported


def decoded(texts: Sequence[str], message: Any) -> list[Row]:
    column = pa.array([bytes.fromhex(text) for text in texts], pa.binary())
    rows: list[Row] = structs(column, np.ones(len(texts), np.bool_), message).to_pylist()
    return rows


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), SCHEMA)


def facts_of(lives: Sequence[Life]) -> Facts:
    """Topics that were there from the beginning."""
    topics: dict[str, list[KnownTopic]] = {}
    for life in lives:
        for topic in life["topics"]:
            racks = tuple(tuple(each) for each in topic["racks"]) if "racks" in topic else None
            topics[topic["name"]] = [KnownTopic(Topic(topic["name"], topic["partitions"], None, racks), -1, LATER)]
    return Facts(topics=topics, whole_times=(-1, LATER))
