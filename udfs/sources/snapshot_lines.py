"""Snapshots of what the offsets log does not contain: our own JSON lines, or the output of kafka-get-offsets or
kafka-topics --describe.

The output of kafka-get-offsets does not say which offsets were requested, so all count as end offsets.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from schemas.words.records import NONE, OFFSETS_TOPIC
from udfs.sources.kafka_topics import DESCRIBED, described_topics
from udfs.sources.snapshot_fields import (
    ANY_TEXT,
    INT,
    LONG,
    Malformed,
    Member,
    Row,
    Snapshots,
    cluster_id,
    fields_of,
    groups,
    list_of,
    maybe,
    number_of,
    object_of,
    offsets_partitions,
    quickly,
    quote_value,
    rack,
    settings,
    topic_id,
    topic_name,
    unknown,
    whole,
)

# The year 2001, long before Kafka: what is less counts seconds. The end of the year 9999: what follows is no time in a
# table.
FIRST_MS, LAST_MS = 1_000_000_000_000, 253_402_300_799_999
EXAMPLE_MS = 1_795_282_587_379


def parse_each(text: str, captured_at_ms: int) -> Iterator[Snapshots]:
    """One snapshot after the other: as Python objects, all of a file may take gigabytes. The first line shows the
    format. JSON lines have times of their own."""
    lines = lines_of(text)
    first = next(lines, None)
    if first is None:
        raise Malformed("empty; give snapshots")
    lines, begin = chain([first], lines), first[1].lstrip()
    if begin.startswith(("{", "[")):
        yield from json_snapshots(lines)
    elif begin.startswith(DESCRIBED):
        yield described_topics(lines, captured_at_ms)
    else:
        yield text_snapshot(lines, captured_at_ms)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are not empty, with their numbers. Not by splitlines, which also cuts at characters that JSON may hold
    in strings."""
    begin = number = 0
    while begin <= len(text):
        number, end = number + 1, text.find("\n", begin)
        line = text[begin : end if end >= 0 else len(text)]
        if line.strip():
            yield number, line
        begin = begin + len(line) + 1


# What kafka-get-offsets prints


def text_snapshot(lines: Iterable[tuple[int, str]], captured_at_ms: int) -> Snapshots:
    topics = [{"captured_time": captured_at_ms, **text_row(number, line)} for number, line in lines]
    return Snapshots([{"captured_time": captured_at_ms}], topics)


def text_row(number: int, line: str) -> Row:
    parts = line.strip().rsplit(":", 2)
    if len(parts) < 3:
        raise Malformed(f"line {number}: {quote_value(line.strip())}, topic:partition:offset expected")
    topic, partition, offset = parts
    place = f"line {number}: "
    return {
        "topic": topic_name(topic, f"{place}topic"),
        "partition": whole(0, INT)(number_of(partition), f"{place}partition"),
        # Empty, or -1, if no leader could answer.
        "log_end_offset": unknown(whole(NONE, LONG)(number_of(offset), f"{place}offset")) if offset else None,
    }


# JSON lines


def json_snapshots(lines: Iterable[tuple[int, str]]) -> Iterator[Snapshots]:
    for number, line in lines:
        yield snapshot_of(json_object(number, line), f"line {number}:")


def json_object(number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        what = f"{error.msg.removesuffix(' starting at')} at character {error.pos}"
    except (ValueError, RecursionError) as error:  # too long a number, too deep a nesting
        what = str(error)
    raise Malformed(f"line {number}: {what}; each line must be one snapshot, a JSON object")


def snapshot_of(line: Any, place: str) -> Snapshots:
    fields = fields_of(line, SNAPSHOT, place)
    captured, listed = {"captured_time": fields.pop("captured_at")}, fields.pop("topics")
    fields["offsets_topic_id"] = offsets_topic_id(fields["offsets_topic_id"], listed, place)
    topics = [{**captured, **topic, **partition} for topic in listed for partition in topic.pop("partitions")]
    return Snapshots([{**captured, "group_settings": fields.pop("groups"), **fields}], topics)


def offsets_topic_id(given: str | None, topics: Iterable[Row], place: str) -> str | None:
    """Snapshots of earlier releases have it only in the list of topics."""
    for topic in topics:
        if topic["topic"] == OFFSETS_TOPIC and (listed := topic["topic_id"]) is not None:
            if given not in (None, listed):
                where = f"{place} offsets_topic_id: {quote_value(given)}"
                raise Malformed(f"{where}, but topics has {OFFSETS_TOPIC} with id {quote_value(listed)}")
            return str(listed)
    return given


def milliseconds(value: Any, place: str) -> int:
    if type(value) is not int or not FIRST_MS <= value <= LAST_MS:
        raise Malformed(f"{place}: {quote_value(value)}, milliseconds since 1970 expected, such as {EXAMPLE_MS}")
    return value


PARTITION = {
    "partition": Member(whole(0, INT), is_required=True),
    "log_start_offset": Member(maybe(NONE, LONG)),
    "log_end_offset": Member(maybe(NONE, LONG)),
    "leader_epoch": Member(maybe(NONE, INT)),
    "racks": Member(list_of(rack)),
}
TOPIC_FIELDS = {
    "topic": Member(topic_name, is_required=True),
    "topic_id": Member(topic_id),
    "partitions": Member(list_of(object_of(PARTITION)), is_required=True),
}
BROKER = {
    "id": Member(whole(0, INT), is_required=True),
    "host": Member(ANY_TEXT),
    "port": Member(whole(0, 65_535)),
    "rack": Member(ANY_TEXT),
}
SNAPSHOT = {
    "captured_at": Member(milliseconds, is_required=True),
    "topics": Member(quickly(list_of(object_of(TOPIC_FIELDS))), is_required=True),
    "brokers": Member(list_of(object_of(BROKER))),
    "offsets_partitions": Member(offsets_partitions),
    "settings": Member(settings),
    "groups": Member(groups),
    "cluster_id": Member(cluster_id),
    "offsets_topic_id": Member(topic_id),
}


# Rows of many files together


class Contradiction(Exception):
    """Two files that differ about the same thing."""


def merge_rows(rows: Iterable[tuple[str, Row]], key: Sequence[str]) -> list[Row]:
    """One row for each key, in the order of keys. Rows come with their files; files may complete each other."""
    known: dict[Any, list[tuple[str, Row]]] = {}
    key_of = itemgetter(*key)
    for place, row in rows:
        known.setdefault(key_of(row), []).append((place, row))
    return [some[0][1] if len(some) == 1 else merged_row(some, key) for _, some in sorted(known.items())]


def merged_row(rows: Sequence[tuple[str, Row]], key: Sequence[str]) -> Row:
    cells: dict[str, tuple[Any, str]] = {}
    for place, row in rows:
        for name, value in row.items():
            if value is None:
                continue
            first_value, first_place = cells.setdefault(name, (value, place))
            if first_value != value:
                subject = ", ".join(f"{each} {row[each]}" for each in key)
                line = f"{name} is {quote_value(first_value)} in {first_place}, but {quote_value(value)} in {place}"
                raise Contradiction(f"two snapshots contradict each other about {subject}: {line}")
    return {name: value for name, (value, _) in cells.items()}
