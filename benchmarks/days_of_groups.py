"""A log of many groups over some days, and the snapshots beside it: what `month_of_groups` has as tables, small enough
for a whole audit.

Each group has a topic of its own and rebalances twenty times a day, as a member leaves or joins. Partitions are
committed every hour, and measured every five minutes.
"""

import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.byte_columns import text
from benchmarks.cast import offsets_partition
from benchmarks.generations import FIRST_TIME, ClassicLife, log_bytes
from benchmarks.month_of_groups import MEMBERS, PARTITIONS, REBALANCES_A_DAY
from benchmarks.segments import SNAPSHOTS
from udfs.assignors.questions import Topic

DAYS = 3
DAY_MS, HOUR_MS, FIVE_MINUTES_MS = 86_400_000, 3_600_000, 300_000
# Of what partitions must be given up first, the second rebalance is so much later.
FOLLOW_UP_MS = 3_000
OFFSETS_PARTITIONS = 8
# A second. How far the ends of partitions are ahead of what is committed, at most.
MESSAGES, MOST_AHEAD = 2, 900
Record = tuple[int, bytes, bytes]


def write_days(folder: Path, num_groups: int, days: int = DAYS, seed: int = 1) -> str:
    """Returns what log it is."""
    names, logs = [f"orders-{number:04}" for number in range(num_groups)], dict[int, list[Record]]()
    for number, name in enumerate(names):
        rng = random.Random(f"{seed} {number}")
        records = [*generations_of(name, days, rng), *commits_of(name, days, rng)]
        logs.setdefault(offsets_partition(name, OFFSETS_PARTITIONS), []).extend(records)
    for partition, records in logs.items():
        home = folder / f"__consumer_offsets-{partition}"
        home.mkdir(parents=True)
        records.sort(key=lambda record: record[0])
        log = log_bytes([(key, value) for _, key, value in records], [time for time, _, _ in records])
        (home / f"{0:020}.log").write_bytes(log)
    rng = np.random.default_rng(seed)
    with (folder / SNAPSHOTS).open("w") as file:
        for time in range(FIRST_TIME, FIRST_TIME + days * DAY_MS, FIVE_MINUTES_MS):
            file.write(f"{json.dumps(ends_at(names, time, rng), separators=(',', ':'))}\n")
    num_records = sum(map(len, logs.values()))
    return f"{num_groups:,} groups, {days} days, {num_records:,} records"


def generations_of(name: str, days: int, rng: random.Random) -> Iterator[Record]:
    life = ClassicLife(name, (Topic(f"{name}-events", PARTITIONS),), MEMBERS, rng)
    for place in range(days * REBALANCES_A_DAY):
        time = FIRST_TIME + place * DAY_MS // REBALANCES_A_DAY + rng.randrange(DAY_MS // REBALANCES_A_DAY - 60_000)
        yield time, *life.generation(time)
        while not life.is_settled:
            time += FOLLOW_UP_MS
            yield time, *life.generation(time)


def commits_of(name: str, days: int, rng: random.Random) -> Iterator[Record]:
    """Offset keys and values as brokers before 4.1 write them."""
    for start in range(FIRST_TIME, FIRST_TIME + days * DAY_MS, HOUR_MS):
        for partition in range(PARTITIONS):
            time = start + rng.randrange(60_000)
            key = b"\0\1" + text(name) + text(f"{name}-events") + struct.pack(">i", partition)
            yield time, key, struct.pack(">hqihq", 3, offset_at(time), -1, 0, time)


def offset_at(time: int) -> int:
    return (time - FIRST_TIME) * MESSAGES // 1_000


def ends_at(names: list[str], time: int, rng: np.random.Generator) -> dict[str, object]:
    ends = offset_at(time) + rng.integers(0, MOST_AHEAD, (len(names), PARTITIONS))
    return {
        "captured_at": time,
        "topics": [
            {"topic": f"{name}-events",
             "partitions": [{"partition": place, "log_end_offset": end} for place, end in enumerate(row)]}
            for name, row in zip(names, ends.tolist(), strict=True)
        ],
    }  # fmt: skip
