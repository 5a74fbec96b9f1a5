"""Takes one snapshot of a live cluster: what the offsets log does not contain, as one JSON object.

    with KafkaCluster(servers, properties) as cluster:
        snapshot = take_snapshot(cluster, topics, now_ms())

What ACLs forbid is left out, and a message says so.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from jobs.broker.cluster import KafkaCluster, Offsets, Partition, Topic
from jobs.broker.errors import Forbidden
from jobs.broker.group_settings import group_settings
from jobs.broker.groups import Notify, group_topics, some
from jobs.broker.offsets import partition_offsets
from jobs.output.failure import say
from jobs.sources.snapshot_files import CapturedSnapshots
from schemas.words.records import OFFSETS_TOPIC
from udfs.sentences.counts import counted
from udfs.sources.snapshot_fields import TOPIC
from udfs.sources.snapshot_lines import parse_each

Snapshot = dict[str, Any]

# Settings on which expiry, timeouts, states, assignors and transactions of groups depend, where share groups put what
# they give up, and how long the log keeps records. Some releases lack some of them.
SETTINGS = (
    "errors.deadletterqueue.auto.create.topics.enable",
    "errors.deadletterqueue.topic.name.prefix",
    "group.consumer.assignment.interval.ms",
    "group.consumer.assignor.offload.enable",
    "group.consumer.assignors",
    "group.consumer.heartbeat.interval.ms",
    "group.consumer.migration.policy",
    "group.consumer.session.timeout.ms",
    "group.coordinator.new.enable",
    "group.coordinator.rebalance.protocols",
    "group.initial.rebalance.delay.ms",
    "group.max.session.timeout.ms",
    "group.min.session.timeout.ms",
    "group.share.assignment.interval.ms",
    "group.share.assignor.offload.enable",
    "group.share.assignors",
    "group.share.heartbeat.interval.ms",
    "group.share.session.timeout.ms",
    "group.streams.acceptable.recovery.lag",
    "group.streams.assignment.interval.ms",
    "group.streams.assignor.offload.enable",
    "group.streams.assignors",
    "group.streams.heartbeat.interval.ms",
    "group.streams.num.warmup.replicas",
    "group.streams.rack.aware.assignment.tags",
    "group.streams.session.timeout.ms",
    "group.streams.task.offset.interval.ms",
    "inter.broker.protocol.version",
    "log.cleaner.delete.retention.ms",
    "log.cleaner.max.compaction.lag.ms",
    "log.cleaner.min.cleanable.ratio",
    "log.cleaner.min.compaction.lag.ms",
    "message.max.bytes",
    "offsets.retention.check.interval.ms",
    "offsets.retention.minutes",
    "offsets.topic.num.partitions",
    "offsets.topic.segment.bytes",
    "transaction.max.timeout.ms",
)
# Those of one group, if it has its own: of timeouts, assignments, and messages that it gives up.
GROUP_SETTINGS = (
    "consumer.assignment.interval.ms",
    "consumer.assignor.offload.enable",
    "consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms",
    "errors.deadletterqueue.copy.record.enable",
    "errors.deadletterqueue.topic.name",
    "share.assignment.interval.ms",
    "share.assignor.offload.enable",
    "share.heartbeat.interval.ms",
    "share.session.timeout.ms",
    "streams.acceptable.recovery.lag",
    "streams.assignment.interval.ms",
    "streams.assignor.name",
    "streams.assignor.offload.enable",
    "streams.heartbeat.interval.ms",
    "streams.num.warmup.replicas",
    "streams.rack.aware.assignment.tags",
    "streams.session.timeout.ms",
    "streams.task.offset.interval.ms",
)


def take_snapshot(cluster: KafkaCluster, topics: Iterable[str], captured_ms: int, notify: Notify = say) -> Snapshot:
    """A snapshot of these topics, of those that groups commit offsets for, and of the offsets topic. Take the time
    before the call: then no end offset is older than the snapshot's time.
    """
    groups = group_topics(cluster, notify)
    by_name = describe_topics(cluster, {*topics, *groups.topics, OFFSETS_TOPIC}, notify)
    offsets = describe_offsets(cluster, by_name.values(), notify)
    nodes = cluster.nodes()
    racks = {node.id: node.rack for node in nodes}
    return {
        "captured_at": captured_ms,
        "topics": [topic_part(topic, offsets, racks) for topic in by_name.values()],
        "brokers": [{"id": each.id, "host": each.host, "port": each.port, "rack": each.rack} for each in nodes],
        "offsets_partitions": leaders(by_name.get(OFFSETS_TOPIC)),
        "settings": describe_settings(cluster, notify),
        "groups": describe_group_settings(cluster, groups.with_settings, notify),
        "cluster_id": cluster.cluster_id,
        "offsets_topic_id": by_name[OFFSETS_TOPIC].topic_id if OFFSETS_TOPIC in by_name else None,
    }


def describe_topics(cluster: KafkaCluster, names: Iterable[str], notify: Notify) -> dict[str, Topic]:
    # A group may have commits for a topic that was deleted, and an old log may have names that no cluster accepts any
    # more.
    possible = sorted(name for name in names if TOPIC.fullmatch(name) and name not in {".", ".."})
    forbidden: dict[str, str] = {}
    topics = cluster.topics(possible, forbidden)
    if forbidden:
        notify(f"{some('topic', forbidden)} left out: the Kafka user has no DESCRIBE permission on them")
    return {name: topic for name in possible if (topic := topics.get(name)) is not None}


def describe_offsets(cluster: KafkaCluster, topics: Iterable[Topic], notify: Notify) -> dict[tuple[str, int], Offsets]:
    partitions = [(topic.name, each.partition) for topic in topics for each in topic.partitions]
    unknown: dict[tuple[str, int], str] = {}
    offsets = partition_offsets(cluster, partitions, unknown)
    if unknown:
        notify(f"offsets of {counted(len(unknown), 'partition')} are left out, such as: {min(unknown.items())[1]}")
    return offsets


def describe_settings(cluster: KafkaCluster, notify: Notify) -> dict[str, str] | None:
    try:
        return dict(sorted(cluster.settings(SETTINGS).items()))
    except Forbidden as error:
        notify(str(error))
        return None


def describe_group_settings(
    cluster: KafkaCluster, groups: Iterable[str], notify: Notify
) -> list[dict[str, Any]] | None:
    """Also for groups without settings of their own: they may have had some before."""
    left_out: dict[str, list[str]] = {}
    settings = group_settings(cluster, set(groups), GROUP_SETTINGS, left_out)
    for why, names in left_out.items():
        notify(f"settings of {some('group', names)} are left out: {why}")
    return None if settings is None else [{"group_id": name, "settings": own} for name, own in sorted(settings.items())]


def topic_part(
    topic: Topic, offsets: Mapping[tuple[str, int], Offsets], racks: Mapping[int, str | None]
) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "partitions": [
            partition_part(each, offsets.get((topic.name, each.partition)), racks) for each in topic.partitions
        ],
    }


def partition_part(partition: Partition, offsets: Offsets | None, racks: Mapping[int, str | None]) -> dict[str, Any]:
    """Without offsets if no broker leads the partition."""
    return {
        "partition": partition.partition,
        "log_start_offset": None if offsets is None else offsets.start,
        "log_end_offset": None if offsets is None else offsets.end,
        "leader_epoch": partition.leader_epoch if offsets is None else offsets.leader_epoch,
        # The rack of a broker that is down is unknown.
        "racks": [racks.get(replica) for replica in partition.replicas],
    }


def leaders(topic: Topic | None) -> list[dict[str, Any]] | None:
    return (
        None if topic is None else [{"partition": each.partition, "leader": each.leader} for each in topic.partitions]
    )


def line_of(snapshot: Snapshot) -> str:
    return json.dumps(snapshot, separators=(",", ":")) + "\n"


def rows_of_snapshots(snapshots: Sequence[Snapshot], cluster: str, run_id: str) -> dict[str, pa.Table]:
    """Rows of the snapshot tables, read like those of files."""
    captured = CapturedSnapshots(cluster, run_id)
    for each in parse_each("".join(map(line_of, snapshots)), 0):
        captured.add("the snapshot", each)
    return captured.tables()
