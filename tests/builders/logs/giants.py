"""Logs in which one group, or the number of groups, is as large as it gets; and what replaying them takes."""

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from schemas.records import ASSIGNMENT, SUBSCRIPTION
from tests.builders.generated.topics import written
from tests.builders.logs.batches import batch_of, record
from tests.builders.records.encoder import encode_payload
from tests.runs.ingested import ROOT

PER_BATCH = 500
T0 = 1_795_000_000_000
TOPICS = {"topics": ["orders"], "user_data": None, "owned_partitions": [], "generation_id": -1, "rack_id": None}
# As the next generation's number is written into it.
GENERATION = 0x1D2C3B4A

# Not by getrusage: its peak is that of whoever started the process, where that is larger.
MEASURED = (
    "import re, sys; from jobs.cli import main; code = main(sys.argv[1:]);"
    "peak = re.search(r'VmHWM:\\s+([0-9]+)', open('/proc/self/status').read())[1];"
    "sys.stderr.write(f'peak {peak}\\n'); sys.exit(code)"
)


def type_2(group: str, members: tuple[tuple[str, int], ...]) -> tuple[bytes, bytes]:
    """Each member with the one partition that it is given."""
    value = {
        "protocol_type": "consumer", "generation": GENERATION, "protocol": "range", "leader": members[0][0],
        "current_state_timestamp": T0,
        "members": [
            {"member_id": member_id, "group_instance_id": None, "client_id": "c", "client_host": "/10.0.0.1",
             "rebalance_timeout": 60_000, "session_timeout": 60_000,
             "subscription": encode_payload(SUBSCRIPTION, 3, TOPICS),
             "assignment": encode_payload(
                 ASSIGNMENT, 3,
                 {"assigned_partitions": [{"topic": "orders", "partitions": [partition]}], "user_data": None})}
            for member_id, partition in members
        ],
    }  # fmt: skip
    key, content = written(2, {"group": group}, value, 3)
    assert content is not None
    return key, content


def at_generation(content: bytes, number: int) -> bytes:
    return content.replace(struct.pack(">i", GENERATION), struct.pack(">i", number))


def one_group(count: int) -> Iterator[tuple[bytes, bytes]]:
    """Two members that pass two partitions to and fro."""
    turns = [type_2("giant", (("a", turn), ("b", 1 - turn))) for turn in (0, 1)]
    for number in range(count):
        key, content = turns[number % 2]
        yield key, at_generation(content, number + 1)


def many_groups(count: int) -> Iterator[tuple[bytes, bytes]]:
    key, content = type_2("g" * 9, (("a", 0),))
    for number in range(count):
        yield key.replace(b"g" * 9, b"g%08d" % number), at_generation(content, 1)


def write(folder: Path, records: Iterator[tuple[bytes, bytes]], count: int) -> None:
    home = folder / "__consumer_offsets-3"
    home.mkdir(parents=True)
    with (home / f"{0:020}.log").open("wb") as file:
        for base in range(0, count, PER_BATCH):
            some = [next(records) for _ in range(min(PER_BATCH, count - base))]
            body = [record(place, *each, place) for place, each in enumerate(some)]
            time = T0 + base
            file.write(batch_of(*body, base_offset=base, base_time=time, max_time=time + len(some) - 1))


def peak_mb(warehouse: Path) -> int:
    """Of a replay in one process: each worker replays its slices in the same way."""
    command = [sys.executable, "-c", MEASURED, "replay", "--warehouse", str(warehouse), "--workers", "1"]
    done = subprocess.run(
        [*command, "--format", "json"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=3600
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["num_partitions"] == 1
    return int(done.stderr.rsplit("peak ", 1)[1]) >> 10
