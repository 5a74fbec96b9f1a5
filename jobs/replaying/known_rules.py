"""What a replay rests on beside the log, as snapshots tell it.

Each of them tells what it happens to hold: one lists all topics, the next one two of them, and few have settings. So
each rule is that of the newest snapshot that tells it, and one that tells nothing of it takes nothing away.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.assignment import Rules
from jobs.replaying.known_state import rows_of
from jobs.warehouses.any_warehouse import AnyWarehouse
from schemas.vocabulary import OFFSETS_TOPIC
from udfs.replay.topic_names import Key, Snapshots

RETENTION = "offsets.retention.minutes"
NUM_OFFSETS_PARTITIONS = "offsets.topic.num.partitions"


def snapshots_of(warehouse: AnyWarehouse, cluster: str) -> Snapshots:
    """Topics of each snapshot with how many partitions they have."""
    rows = warehouse.rows("topic_snapshots", ["cluster", "captured_time", "topic", "topic_id", "partition"])
    if rows is None:
        return Snapshots({})
    rows = rows.filter(pc.equal(rows.column("cluster"), cluster))
    counted = rows.group_by(["captured_time", "topic", "topic_id"]).aggregate([("partition", "max")])
    found: dict[int, dict[Key, int]] = {}
    times = counted.column("captured_time").cast(pa.int64()).to_pylist()
    columns = (counted.column(name).to_pylist() for name in ("topic", "topic_id", "partition_max"))
    for time, topic, topic_id, last in zip(times, *columns, strict=True):
        found.setdefault(time, {})[topic, topic_id] = last + 1
    return Snapshots(found)


def rules_of(warehouse: AnyWarehouse, cluster: str, snapshots: Snapshots, last_seen: int) -> Rules:
    """`last_seen`: the highest offsets partition that there are records of."""
    captured = sorted(rows_of(warehouse, "cluster_snapshots", cluster), key=lambda row: int(row["captured_time"]))
    minutes = newest_setting(captured, RETENTION)
    retention = None if minutes is None else minutes * 60_000
    number = num_offsets_partitions(captured, snapshots, last_seen)
    return Rules(retention, number, tuple(snapshots.deletions()))


def newest_setting(captured: Sequence[Mapping[str, Any]], name: str) -> int | None:
    values = [dict(row["settings"] or ()).get(name) for row in captured]
    return next((int(value) for value in reversed(values) if value is not None and value.isdecimal()), None)


def num_offsets_partitions(captured: Sequence[Mapping[str, Any]], snapshots: Snapshots, last_seen: int) -> int | None:
    """The topic itself says it better than the setting, by which it was made once: coordinators too ask the topic."""
    told = {row["captured_time"]: num_listed(row["offsets_partitions"] or ()) for row in captured}
    for time, topics in snapshots.topics.items():
        told[time] = max(
            [told.get(time, 0), *(number for (name, _), number in topics.items() if name == OFFSETS_TOPIC)]
        )
    # Lists may be of some partitions: those of fewer than the log has are.
    whole = [time for time, number in told.items() if number > max(last_seen, 0)]
    if whole:
        return told[max(whole)]
    setting = newest_setting(captured, NUM_OFFSETS_PARTITIONS)
    return setting if setting and setting > last_seen else None


def num_listed(partitions: Sequence[Mapping[str, Any]]) -> int:
    return max((each["partition"] + 1 for each in partitions), default=0)
