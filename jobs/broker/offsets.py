"""Reads the first and last offsets of many partitions, each from its leader."""

from collections.abc import Sequence
from typing import Any, Final

from jobs.broker.cluster import KafkaCluster
from jobs.broker.errors import FORBIDDEN_TOPIC, ConnectionLost, error_name, leave_out, needs
from jobs.broker.metadata import Offsets, none_if_negative
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

EARLIEST: Final = -2
LATEST: Final = -1
READ_UNCOMMITTED: Final = 0

Key = tuple[str, int]
LeftOut = dict[Key, str] | None


def partition_offsets(cluster: KafkaCluster, partitions: Sequence[Key], left_out: LeftOut = None) -> dict[Key, Offsets]:
    """Unavailable partitions go to `left_out` with the reason; without `left_out`, the call fails."""
    starts = listed_offsets(cluster, partitions, EARLIEST, left_out)
    ends = listed_offsets(cluster, list(starts), LATEST, left_out)
    return {key: Offsets(starts[key][0], end, epoch) for key, (end, epoch) in ends.items()}


def listed_offsets(
    cluster: KafkaCluster, partitions: Sequence[Key], time_ms: int, left_out: LeftOut
) -> dict[Key, tuple[int, int | None]]:
    """Offset and leader epoch of each partition at that time, which may be one of the two above."""
    patience = cluster.patience()
    offsets: dict[Key, tuple[int, int | None]] = {}
    pending = set(partitions)
    while pending:
        why = ""
        for node, keys in by_leader(cluster, pending, left_out).items():
            try:
                answer = cluster.ask_once(list_offsets_request(keys, time_ms), node)
            except ConnectionLost as error:
                why = str(error)
                continue
            why = take_offsets(answer, offsets, pending, left_out) or why
        if pending:
            for key in pending:
                cluster.forget_leader(*key)
            patience.wait(why or leaderless(min(pending)))
    return {key: offsets[key] for key in partitions if key in offsets}


def by_leader(cluster: KafkaCluster, pending: set[Key], left_out: LeftOut) -> dict[int, list[Key]]:
    """Removes from `pending` what no retry can answer."""
    unknown = sorted({topic for topic, partition in pending if cluster.leader(topic, partition) is None})
    hidden: dict[str, str] | None = None if left_out is None else {}
    described = cluster.topics(unknown, hidden) if unknown else {}
    grouped: dict[int, list[Key]] = {}
    for key in sorted(pending):
        leader = cluster.leader(*key)
        if leader is not None:
            grouped.setdefault(leader, []).append(key)
            continue
        why = (hidden or {}).get(key[0]) or leaderless(key)
        if key[0] in described and described[key[0]] is None:
            why = f"topic {key[0]} is absent"
        elif left_out is None:
            continue
        leave_out(left_out, key, Failure(ExitCode.UNREADABLE_INPUT, why))
        pending.discard(key)
    return grouped


def take_offsets(answer: Any, offsets: dict[Key, tuple[int, int | None]], pending: set[Key], left_out: LeftOut) -> str:
    """Why some are still pending."""
    why = ""
    for topic in answer.topics:
        for each in topic.partitions:
            key = (topic.name, each.partition_index)
            if not each.error_code:
                offsets[key] = (each.offset, none_if_negative(each.leader_epoch))
                pending.discard(key)
            elif each.error_code == FORBIDDEN_TOPIC:
                leave_out(left_out, key, needs("DESCRIBE", topic.name))
                pending.discard(key)
            else:
                why = f"{topic.name}-{each.partition_index}: {error_name(each.error_code)}"
    return why


def leaderless(key: Key) -> str:
    return "{}-{} has no leader".format(*key)


def list_offsets_request(keys: Sequence[Key], time_ms: int) -> Any:
    from kafka.protocol.consumer import ListOffsetsRequest

    by_topic: dict[str, list[Any]] = {}
    for topic, partition in keys:
        one = ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition(
            partition_index=partition, current_leader_epoch=-1, timestamp=time_ms
        )
        by_topic.setdefault(topic, []).append(one)
    topics = [ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=each) for name, each in by_topic.items()]
    return ListOffsetsRequest(
        replica_id=-1, isolation_level=READ_UNCOMMITTED, topics=topics, timeout_ms=10_000, min_version=1
    )
