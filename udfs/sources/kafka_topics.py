"""Reads the output of kafka-topics --describe as a snapshot: topics with ids and numbers of partitions, and the leaders
of the offsets topic. It has no end offsets and no racks."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schemas.words.records import NONE, OFFSETS_TOPIC
from udfs.sources.snapshot_fields import (
    INT,
    Malformed,
    Row,
    Snapshots,
    maybe,
    number_of,
    quote_value,
    topic_id,
    topic_name,
    whole,
)

# How a line of kafka-topics begins, and its cells.
DESCRIBED = ("Topic: ", "Topic:\t")
CELL = re.compile(r"(?:^|[\t ])(Topic|TopicId|PartitionCount|Partition|Leader): ?([^\t ]*)")
NO_LEADER = "none"


@dataclass
class DescribedTopic:
    """A topic as kafka-topics prints it; `leaders` by partition."""

    topic_id: str | None
    count: int
    line: int
    leaders: dict[int, int | None] = field(default_factory=dict)


def described_topics(lines: Iterable[tuple[int, str]], captured_at_ms: int) -> Snapshots:
    """A line for each topic, then one for each of its partitions. Ids are there from Kafka 3.0 on."""
    topics: dict[str, DescribedTopic] = {}
    for number, line in lines:
        cells, place = cells_of(number, line), f"line {number}:"
        name = topic_name(cells["Topic"], f"{place} Topic")
        if "PartitionCount" in cells:
            if name in topics:
                raise Malformed(
                    f"{place} Topic: {quote_value(name)} appears here a second time, each topic once expected"
                )
            topics[name] = described_topic(cells, number)
        elif "Partition" in cells:
            if name not in topics:
                raise Malformed(
                    f"{place} {quote_value(line.strip())}, but no line before it has the PartitionCount of topic {name}"
                )
            add_partition(topics[name], cells, place)
        else:
            raise Malformed(f"{place} {quote_value(line.strip())}, a PartitionCount or a Partition expected")
    return described_snapshot(topics, captured_at_ms)


def cells_of(number: int, line: str) -> dict[str, str]:
    """`Name: value` between tabs; other tools' copies have spaces instead."""
    cells = {match[1]: match[2] for match in CELL.finditer(line.strip())}
    if "Topic" not in cells:
        raise Malformed(f"line {number}: {quote_value(line.strip())}, a line of kafka-topics --describe expected")
    return cells


def described_topic(cells: Mapping[str, str], number: int) -> DescribedTopic:
    place = f"line {number}:"
    count = whole(1, INT)(number_of(cells["PartitionCount"]), f"{place} PartitionCount")
    own_id = topic_id(cells["TopicId"], f"{place} TopicId") if cells.get("TopicId") else None
    return DescribedTopic(own_id, count, number)


def add_partition(topic: DescribedTopic, cells: Mapping[str, str], place: str) -> None:
    partition = whole(0, topic.count - 1)(number_of(cells["Partition"]), f"{place} Partition")
    if partition in topic.leaders:
        raise Malformed(f"{place} Partition: {partition} appears here a second time, each partition once expected")
    leader = cells.get("Leader", NO_LEADER)
    topic.leaders[partition] = None if leader == NO_LEADER else maybe(NONE, INT)(number_of(leader), f"{place} Leader")


def described_snapshot(topics: Mapping[str, DescribedTopic], captured_at_ms: int) -> Snapshots:
    for name, topic in topics.items():
        if len(topic.leaders) != topic.count:
            line = f"topic {name} has PartitionCount {topic.count}, but lines of partitions: {len(topic.leaders)}"
            raise Malformed(f"line {topic.line}: {line}")
    rows = [
        {"captured_time": captured_at_ms, "topic": name, "topic_id": topic.topic_id, "partition": partition}
        for name, topic in topics.items()
        for partition in range(topic.count)
    ]
    cluster: Row = {"captured_time": captured_at_ms}
    if OFFSETS_TOPIC in topics:
        if (own_id := topics[OFFSETS_TOPIC].topic_id) is not None:
            cluster["offsets_topic_id"] = own_id
        leaders = sorted(topics[OFFSETS_TOPIC].leaders.items())
        cluster["offsets_partitions"] = [{"partition": each, "leader": leader} for each, leader in leaders]
    return Snapshots([cluster], rows)
