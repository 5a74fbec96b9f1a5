"""Fetches record batches of a partition as its leader stores them. Joins no group and commits nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from jobs.broker.cluster import KafkaCluster
from jobs.broker.errors import ABSENT_TOPIC, FORBIDDEN_TOPIC, ConnectionLost, error_name, is_passing, needs
from jobs.broker.metadata import none_if_negative
from jobs.broker.offsets import READ_UNCOMMITTED, leaderless, partition_offsets
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

# Below version 4 brokers convert to legacy messages; from 13 on topics are named by id.
FIRST_VERSION, LAST_VERSION = 4, 12
WAIT_MS: Final = 500
BATCH_HEADER_BYTES: Final = 27
OUT_OF_RANGE: Final = 1
# After this many responses without a batch below the high watermark, there is a gap.
EMPTY_ANSWERS: Final = 3


@dataclass(frozen=True)
class FetchedBatches:
    """Whole batches exactly as stored. The first may begin below the requested offset."""

    content: bytes
    next_offset: int
    log_start_offset: int
    high_watermark: int


def fetch(
    cluster: KafkaCluster, topic: str, partition: int, start: int, end: int, max_bytes: int = 8 << 20
) -> Iterator[FetchedBatches]:
    """From the batch with `start` to the one with `end - 1`. If the log no longer has `start`, it continues at the
    log's own start, which the caller sees in log_start_offset; without content if nothing is left.
    """
    patience = cluster.patience()
    empty = 0
    while start < end:
        try:
            answer = partition_answer(cluster, topic, partition, start, max_bytes)
            batches = read_answer(cluster, topic, partition, start, answer)
        except ConnectionLost as error:
            cluster.forget_leader(topic, partition)
            patience.wait(f"{topic}-{partition} at offset {start}: {error}")
            continue
        if batches.next_offset == start:
            empty += 1
            if empty < EMPTY_ANSWERS or batches.high_watermark < end:
                patience.wait(
                    f"{topic}-{partition}: the broker sends no records at offset {start}, but earlier reported an "
                    f"end offset of {end}"
                )
                continue
            # Compaction has removed everything from here to the end.
            batches = FetchedBatches(b"", end, batches.log_start_offset, batches.high_watermark)
        empty = 0
        start = batches.next_offset
        patience.restart()
        if batches.content or start >= end:
            yield batches


def partition_answer(cluster: KafkaCluster, topic: str, partition: int, start: int, max_bytes: int) -> Any:
    if cluster.leader(topic, partition) is None:
        code = cluster.refresh([topic])[topic]
        if code:
            raise problem(code, topic, "DESCRIBE")
    node = cluster.leader(topic, partition)
    if node is None:
        raise ConnectionLost(leaderless((topic, partition)))
    answer = cluster.ask_once(fetch_request(topic, partition, start, max_bytes), node)
    return answer.responses[0].partitions[0] if answer.responses else answer


def read_answer(cluster: KafkaCluster, topic: str, partition: int, start: int, answer: Any) -> FetchedBatches:
    """Raises ConnectionLost if a retry may help."""
    if answer.error_code == OUT_OF_RANGE:
        return from_current_start(cluster, topic, partition, start)
    if answer.error_code:
        raise problem(answer.error_code, topic, "READ")
    content = answer.records or b""
    size, following = whole_batches(content)
    if content and following <= start:
        # Brokers send the first batch completely. Continuing after a partial one would lose its records.
        line = f"broker {cluster.leader(topic, partition)} sent {len(content)} bytes that are not a record batch"
        raise Failure(
            ExitCode.UNREADABLE_INPUT,
            f"{topic}-{partition} at offset {start}: {line}; its log may be damaged",
        )
    return FetchedBatches(
        content if size == len(content) else content[:size],
        max(following, start),
        none_if_negative(answer.log_start_offset) or 0,
        answer.high_watermark,
    )


def from_current_start(cluster: KafkaCluster, topic: str, partition: int, start: int) -> FetchedBatches:
    """Moves to the current start of the log."""
    now = partition_offsets(cluster, [(topic, partition)])[topic, partition]
    if start > now.end:
        line = (
            f"{topic}-{partition} ends at offset {now.end}, but the next offset to read is {start}: the cluster lost "
            "records or the topic was recreated; give this Kafka cluster another name: --cluster NAME"
        )
        raise Failure(ExitCode.UNREADABLE_INPUT, line)
    return FetchedBatches(b"", max(start, now.start), now.start, now.end)


def problem(code: int, topic: str, operation: str) -> Exception:
    if code == FORBIDDEN_TOPIC:
        return needs(operation, topic)
    # A new topic is not known to every broker at once.
    why = f"topic {topic} is absent" if code == ABSENT_TOPIC else f"topic {topic}: {error_name(code)}"
    return ConnectionLost(why) if is_passing(code) else Failure(ExitCode.UNREADABLE_INPUT, why)


def whole_batches(content: bytes) -> tuple[int, int]:
    """The size of the whole batches in bytes (the last may be truncated), and the offset after them; 0 if there are
    none."""
    size = following = 0
    while size + BATCH_HEADER_BYTES <= len(content):
        end = size + 12 + int.from_bytes(content[size + 8 : size + 12], "big")
        if end > len(content):
            break
        following = int.from_bytes(content[size : size + 8], "big") + last_delta(content, size) + 1
        size = end
    return size, following


def last_delta(content: bytes, at: int) -> int:
    """A legacy message has its own last offset."""
    is_legacy = content[at + 16] < 2
    return 0 if is_legacy else int.from_bytes(content[at + 23 : at + 27], "big")


def fetch_request(topic: str, partition: int, start: int, max_bytes: int) -> Any:
    from kafka.protocol.consumer import FetchRequest

    one = FetchRequest.FetchTopic.FetchPartition(
        partition=partition,
        current_leader_epoch=-1,
        fetch_offset=start,
        last_fetched_epoch=-1,
        log_start_offset=-1,
        partition_max_bytes=max_bytes,
    )
    return FetchRequest(
        max_wait_ms=WAIT_MS,
        min_bytes=1,
        max_bytes=max_bytes,
        isolation_level=READ_UNCOMMITTED,
        session_id=0,
        session_epoch=-1,
        forgotten_topics_data=[],
        rack_id="",
        topics=[FetchRequest.FetchTopic(topic=topic, partitions=[one])],
        min_version=FIRST_VERSION,
        max_version=LAST_VERSION,
    )
