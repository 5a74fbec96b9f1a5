"""Snapshots of what the offsets log does not hold: our own JSON lines, or the text that kafka-get-offsets prints.

Which offsets kafka-get-offsets was asked for stands nowhere in its text, so all are taken for end offsets.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.fields import ZERO_UUID
from schemas.vocabulary import NONE

INT, LONG = 2**31 - 1, 2**63 - 1
# The end of the year 9999: what follows is no time in a table.
LAST_MS = 253_402_300_799_999
TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
TOPIC_ID = re.compile(r"[a-zA-Z0-9_-]{22}")
NUMBER = re.compile(r"-?[0-9]{1,19}")
# Longer values are cut where a message shows them.
SHOWN = 80

Row = dict[str, Any]
Reader = Callable[[Any, str], Any]


class Malformed(Exception):
    """Names the line, the field, what stands there and what was expected."""


@dataclass
class Snapshots:
    """Rows of cluster_snapshots and topic_snapshots without cluster and run; times in ms."""

    clusters: list[Row] = field(default_factory=list)
    topics: list[Row] = field(default_factory=list)


def parse(text: str, captured_at_ms: int) -> Snapshots:
    """Either format, told by the first character; JSON lines bring times of their own."""
    # Not by splitlines, which also cuts at characters that JSON may hold in strings.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise Malformed("empty, snapshots were expected")
    return (
        json_snapshots(lines) if lines[0][1].lstrip().startswith(("{", "[")) else text_snapshot(lines, captured_at_ms)
    )


# What kafka-get-offsets prints


def text_snapshot(lines: Sequence[tuple[int, str]], captured_at_ms: int) -> Snapshots:
    topics = [{"captured_time": captured_at_ms, **text_row(number, line)} for number, line in lines]
    return Snapshots([{"captured_time": captured_at_ms}], topics)


def text_row(number: int, line: str) -> Row:
    parts = line.strip().rsplit(":", 2)
    if len(parts) < 3:
        raise Malformed(f"line {number}: {shown(line.strip())}, topic:partition:offset expected")
    topic, partition, offset = parts
    place = f"line {number}: "
    return {
        "topic": topic_name(topic, f"{place}topic"),
        "partition": whole(0, INT)(number_of(partition), f"{place}partition"),
        # Empty, or -1, where no leader could tell.
        "log_end_offset": unknown(whole(NONE, LONG)(number_of(offset), f"{place}offset")) if offset else None,
    }


def number_of(text: str) -> int | str:
    return int(text) if NUMBER.fullmatch(text) else text


# JSON lines


def json_snapshots(lines: Sequence[tuple[int, str]]) -> Snapshots:
    found = Snapshots()
    for number, line in lines:
        read_snapshot(found, json_object(number, line), f"line {number}:")
    return found


def json_object(number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        what = f"{error.msg} at character {error.pos}"
    except (ValueError, RecursionError) as error:  # too long a number, too deep a nesting
        what = str(error)
    raise Malformed(f"line {number}: {what}, a snapshot as one JSON object on one line expected")


def read_snapshot(found: Snapshots, line: Any, place: str) -> None:
    told = fields_of(line, SNAPSHOT, place)
    captured = {"captured_time": told.pop("captured_at")}
    for topic in told.pop("topics"):
        for partition in topic.pop("partitions"):
            found.topics.append({**captured, **topic, **partition})
    found.clusters.append({**captured, **told})


@dataclass(frozen=True)
class Member:
    """A field of an object: how it is read, and whether it must be there."""

    read: Reader
    is_required: bool = False


def fields_of(value: Any, members: Mapping[str, Member], place: str) -> Row:
    """The known fields; others may come from a later release."""
    if not isinstance(value, dict):
        raise Malformed(f"{place.removesuffix(':')}: {shown(value)}, an object expected")
    places = {name: f"{place} {name}" if place.endswith(":") else f"{place}.{name}" for name in members}
    for name, member in members.items():
        if member.is_required and name not in value:
            raise Malformed(f"{places[name]}: missing")
    return {
        name: member.read(value.get(name), places[name]) if member.is_required or value.get(name) is not None else None
        for name, member in members.items()
    }


def whole(lowest: int, highest: int) -> Reader:
    def read(value: Any, place: str) -> int:
        if type(value) is not int or not lowest <= value <= highest:
            raise Malformed(f"{place}: {shown(value)}, an integer from {lowest} to {highest} expected")
        return value

    return read


def unknown(value: int) -> int | None:
    return None if value == NONE else value


def maybe(lowest: int, highest: int) -> Reader:
    """An integer; null and -1 where nobody knows."""
    read = whole(lowest, highest)

    def read_maybe(value: Any, place: str) -> int | None:
        return None if value is None else unknown(read(value, place))

    return read_maybe


def matching(pattern: re.Pattern[str], expected: str) -> Reader:
    def read(value: Any, place: str) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise Malformed(f"{place}: {shown(value)}, {expected} expected")
        return value

    return read


def list_of(read: Reader) -> Reader:
    def read_list(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise Malformed(f"{place}: {shown(value)}, a list expected")
        return [read(item, f"{place}[{number}]") for number, item in enumerate(value)]

    return read_list


def object_of(members: Mapping[str, Member]) -> Reader:
    return lambda value, place: fields_of(value, members, place)


def rack(value: Any, place: str) -> str | None:
    return None if value is None else ANY_TEXT(value, place)


def topic_id(value: Any, place: str) -> str | None:
    """Kafka's id of no topic is none."""
    told: str = ID_TEXT(value, place)
    return None if told == ZERO_UUID else told


def settings(value: Any, place: str) -> list[tuple[str, str | None]]:
    """Values as texts, as brokers tell them."""
    if not isinstance(value, dict):
        raise Malformed(f"{place}: {shown(value)}, an object expected")
    return sorted((ANY_TEXT(name, place), setting(told, f"{place}.{name}")) for name, told in value.items())


def setting(value: Any, place: str) -> str | None:
    if isinstance(value, (dict, list)):
        raise Malformed(f"{place}: {shown(value)}, a text, number or truth value expected")
    if value is None:
        return None
    return str(ANY_TEXT(value if isinstance(value, str) else json.dumps(value), place))


topic_name = matching(TOPIC, "a topic's name (letters, digits, . _ -, at most 249)")
ID_TEXT = matching(TOPIC_ID, "a topic id of 22 characters")
ANY_TEXT = matching(re.compile(r"[^\ud800-\udfff]*", re.DOTALL), "a text")

PARTITION = {
    "partition": Member(whole(0, INT), is_required=True),
    "log_start_offset": Member(maybe(NONE, LONG)),
    "log_end_offset": Member(maybe(NONE, LONG), is_required=True),
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
OFFSETS_PARTITION = {
    "partition": Member(whole(0, INT), is_required=True),
    "leader": Member(maybe(NONE, INT), is_required=True),
}
SNAPSHOT = {
    "captured_at": Member(whole(0, LAST_MS), is_required=True),
    "topics": Member(list_of(object_of(TOPIC_FIELDS)), is_required=True),
    "brokers": Member(list_of(object_of(BROKER))),
    "offsets_partitions": Member(list_of(object_of(OFFSETS_PARTITION))),
    "settings": Member(settings),
}


def shown(value: Any) -> str:
    # In ASCII: JSON may hold half of a surrogate pair, which cannot be printed.
    told = json.dumps(value)
    return told if len(told) <= SHOWN else f"{told[:SHOWN]}…"


# Rows of many files together


class Contradiction(Exception):
    """Two files that differ about the same thing."""


def merged(rows: Iterable[tuple[str, Row]], key: Sequence[str]) -> list[Row]:
    """One row for each key, in the order of keys. Rows come with their files; what one does not tell another may."""
    known: dict[tuple[Any, ...], dict[str, tuple[Any, str]]] = {}
    for place, row in rows:
        cells = known.setdefault(tuple(row[name] for name in key), {})
        for name, value in row.items():
            if value is None:
                continue
            first_value, first_place = cells.setdefault(name, (value, place))
            if first_value != value:
                subject = ", ".join(f"{each} {row[each]}" for each in key)
                told = f"{name} {shown(first_value)} in {first_place} and {shown(value)} in {place}"
                raise Contradiction(f"two snapshots contradict each other: {subject}: {told}")
    return [{name: value for name, (value, _) in cells.items()} for _, cells in sorted(known.items())]
