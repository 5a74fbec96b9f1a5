"""The settings and topics that a replay takes from snapshots.

Snapshots differ in what they contain: one lists all topics, the next one two of them, and few have settings. So each
setting comes from the newest snapshot that has it. A snapshot without it changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.task.replay_messages import OwnTimeouts, Rules
from jobs.replaying.task.warehouse_state import rows_of
from jobs.warehouses.warehouse import Warehouse
from schemas.words.records import OFFSETS_TOPIC, GroupType, NumPartitionsSource
from udfs.groups.group_partition import partition_for
from udfs.topics.end_offsets import EndOffsets
from udfs.topics.names import Key, Snapshots

RETENTION = "offsets.retention.minutes"
LARGEST = 2**31 - 1
NUM_OFFSETS_PARTITIONS = "offsets.topic.num.partitions"
# The full name of such a setting begins with the group type, in broker settings with `group.` and the type.
TIMEOUTS = ("session.timeout.ms", "heartbeat.interval.ms")
TIME, GROUP_SETTINGS = "captured_time", "group_settings"
CAPTURED = ("cluster", TIME, "offsets_partitions", "settings")

Settings = Sequence[tuple[str, str | None]]


def snapshots_of(warehouse: Warehouse, cluster: str) -> Snapshots:
    """The topics of each snapshot, with their numbers of partitions."""
    rows = warehouse.rows("topic_snapshots", ["cluster", "captured_time", "topic", "topic_id", "partition"])
    if rows is None:
        return Snapshots({})
    return Snapshots(topics_of(rows.filter(pc.equal(rows.column("cluster"), cluster))))


def topics_of(rows: pa.Table) -> dict[int, dict[Key, int]]:
    """`rows` of topic_snapshots: by time, topics with their numbers of partitions."""
    counted = rows.group_by(["captured_time", "topic", "topic_id"]).aggregate([("partition", "max")])
    by_time: dict[int, dict[Key, int]] = {}
    times = counted.column("captured_time").cast(pa.int64()).to_pylist()
    columns = (counted.column(name).to_pylist() for name in ("topic", "topic_id", "partition_max"))
    for time, topic, topic_id, last in zip(times, *columns, strict=True):
        by_time.setdefault(time, {})[topic, topic_id] = last + 1
    return by_time


def end_offsets_of(warehouse: Warehouse, cluster: str) -> EndOffsets:
    columns = ["cluster", "captured_time", "topic", "topic_id", "partition", "log_end_offset"]
    rows = warehouse.rows("topic_snapshots", columns)
    return EndOffsets.none() if rows is None else EndOffsets.of(rows.filter(pc.equal(rows.column("cluster"), cluster)))


def rules_of(warehouse: Warehouse, cluster: str, snapshots: Snapshots, last_seen: int) -> Rules:
    """`last_seen`: the highest offsets partition with records."""
    captured = sorted(rows_of(warehouse, "cluster_snapshots", cluster, CAPTURED), key=lambda row: row[TIME])
    minutes = newest_setting(captured, RETENTION)
    retention = None if minutes is None else minutes * 60_000
    number, _ = num_offsets_partitions(captured, snapshots, last_seen)
    session, heartbeat = ({each: newest_setting(captured, f"group.{each}.{name}") for each in GroupType}
                          for name in TIMEOUTS)  # fmt: skip
    timeouts = tuple((each.value, session[each], heartbeat[each]) for each in GroupType)
    own = own_timeouts(newest_group_settings(warehouse, cluster), number)
    return Rules(retention, number, tuple(snapshots.deletions()), timeouts=timeouts, own_timeouts=own)


def newest_setting(captured: Sequence[Mapping[str, Any]], name: str) -> int | None:
    values = (number_in(row["settings"], name) for row in reversed(captured))
    return next((value for value in values if value is not None), None)


def number_in(settings: Settings | None, name: str) -> int | None:
    value = dict(settings or ()).get(name)
    # Brokers have no larger numbers in these settings, and times would not fit into 64 bits.
    return min(int(value), LARGEST) if value is not None and value.isdecimal() else None


def newest_group_settings(warehouse: Warehouse, cluster: str) -> dict[str, Settings]:
    """For each group, all settings in the newest snapshot that lists it: a setting that is missing there was
    removed."""
    rows = warehouse.rows("cluster_snapshots", ["cluster", TIME, GROUP_SETTINGS], cluster)
    if rows is None:
        return {}
    # As columns: there are many snapshots, and each lists all groups.
    listed = rows.sort_by(TIME).column(GROUP_SETTINGS).combine_chunks().flatten()
    places = pa.table({"group_id": listed.field("group_id"), "place": pa.array(np.arange(len(listed)))})
    newest = places.group_by("group_id").aggregate([("place", "max")])
    settings = listed.field("settings").take(newest.column("place_max").combine_chunks())
    return dict(zip(newest.column("group_id").to_pylist(), settings.to_pylist(), strict=True))


def own_timeouts(settings: Mapping[str, Settings], num_partitions: int | None) -> tuple[OwnTimeouts, ...]:
    timeouts = []
    for group_id, own in sorted(settings.items()):
        for each in GroupType if own else ():
            session, heartbeat = (number_in(own, f"{each}.{name}") for name in TIMEOUTS)
            if session is not None or heartbeat is not None:
                partition = None if num_partitions is None else partition_for(group_id, num_partitions)
                timeouts.append(OwnTimeouts(partition, group_id, each.value, session, heartbeat))
    return tuple(timeouts)


def num_offsets_partitions(
    captured: Sequence[Mapping[str, Any]], snapshots: Snapshots, last_seen: int
) -> tuple[int | None, NumPartitionsSource | None]:
    """With what shows it. The topic itself is a better source than the setting with which it was created: coordinators
    also use the topic."""
    counts = {row["captured_time"]: num_listed(row["offsets_partitions"] or ()) for row in captured}
    for time, topics in snapshots.topics.items():
        counts[time] = max(
            [counts.get(time, 0), *(number for (name, _), number in topics.items() if name == OFFSETS_TOPIC)]
        )
    # A list may have only some partitions: then it has fewer than the log.
    whole = [time for time, number in counts.items() if number > max(last_seen, 0)]
    if whole:
        return counts[max(whole)], NumPartitionsSource.SNAPSHOT
    setting = newest_setting(captured, NUM_OFFSETS_PARTITIONS)
    return (setting, NumPartitionsSource.SETTING) if setting and setting > last_seen else (None, None)


def num_listed(partitions: Sequence[Mapping[str, Any]]) -> int:
    return max((each["partition"] + 1 for each in partitions), default=0)
