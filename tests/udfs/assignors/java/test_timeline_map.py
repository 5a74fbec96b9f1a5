"""The coordinator's own map of members, beside Kafka's class run from its jar."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from jobs.spark.jars import jar_folder
from tests.kafka.jar_sets import KAFKA_4_3_1
from tests.kafka.java_programs import compile_java, java_command
from udfs.assignors.java.maps import room_of_put, string_hashes, timeline_walked

SOURCE = Path(__file__).with_name("TimelineMaps.java")
HISTORIES = 300


def random_history(rng: np.random.Generator) -> list[str]:
    """Members come, go, and are written again."""
    ids = [
        f"consumer-{rng.integers(1_000_000)}-{each}" for each in range(int(rng.integers(1, rng.choice([4, 20, 90]))))
    ]
    live: list[str] = []
    changes = []
    for _ in range(int(rng.integers(1, 3 * len(ids) + 2))):
        key = str(rng.choice(ids))
        if key in live and rng.random() < 0.6:
            live.remove(key)
            changes.append(f"-{key}")
        else:
            live += [] if key in live else [key]
            changes.append(f"+{key}")
    return changes


def our_walk(changes: list[str]) -> list[str]:
    """As the audit keeps members: by when they came, and the most that there was room for."""
    members: dict[str, None] = {}
    room = 0
    for change in changes:
        if change[0] == "+":
            room = max(room, room_of_put(len(members)))
            members[change[1:]] = None
        else:
            members.pop(change[1:], None)
    keys = list(members)
    return [keys[at] for at in timeline_walked(string_hashes(keys).tolist(), room)]


@pytest.mark.broker
def test_members_are_walked_as_kafkas_own_map_is(rng: np.random.Generator) -> None:
    histories = [random_history(rng) for _ in range(HISTORIES)]
    folder = jar_folder(KAFKA_4_3_1)
    command = java_command("TimelineMaps", [compile_java([SOURCE], [folder]), folder])
    given = "".join(f"{' '.join(changes)}\n" for changes in histories)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, timeout=120)
    for changes, line in zip(histories, done.stdout.splitlines(), strict=True):
        assert our_walk(changes) == line.split(), changes
