"""Reads the fields of snapshots, and says what is wrong with a field that cannot be read."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from schemas.fields import ZERO_UUID
from schemas.words.records import NONE

INT, LONG = 2**31 - 1, 2**63 - 1
TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
TOPIC_ID = re.compile(r"[a-zA-Z0-9_-]{22}")
CLUSTER_ID = re.compile(r"[\x21-\x7e]{1,255}")
NUMBER = re.compile(r"-?[0-9]{1,19}")
POSITIVE = re.compile(r"0*[1-9][0-9]{0,17}")
# Settings that rules read, as brokers and groups name them. Brokers take no other values of them.
COUNTED = (
    ".offsets.retention.minutes",
    ".offsets.retention.check.interval.ms",
    ".offsets.topic.num.partitions",
    ".session.timeout.ms",
    ".heartbeat.interval.ms",
)
# Longer values are cut where a message shows them.
SHOWN = 80

Row = dict[str, Any]
# The second argument is where the value is, for messages.
Reader = Callable[[Any, str], Any]
NO_PLACE = ""


class Malformed(Exception):
    """Names the line, the field, its value, and what was expected."""


@dataclass
class Snapshots:
    """Rows of cluster_snapshots and topic_snapshots without cluster and run; times in ms."""

    clusters: list[Row] = field(default_factory=list)
    topics: list[Row] = field(default_factory=list)


def number_of(text: str) -> int | str:
    return int(text) if NUMBER.fullmatch(text) else text


@dataclass(frozen=True)
class Member:
    """A field of an object: how it is read, and whether it must be there."""

    read: Reader
    is_required: bool = False


def fields_of(value: Any, members: Mapping[str, Member], place: str) -> Row:
    """The known fields; others may come from a later release."""
    if not isinstance(value, dict):
        raise Malformed(f"{place.removesuffix(':')}: {quote_value(value)}, an object expected")
    for name, member in members.items():
        if member.is_required and name not in value:
            raise Malformed(f"{place_in(place, name)}: missing")
    return {
        name: member.read(value.get(name), place and place_in(place, name))
        if member.is_required or value.get(name) is not None
        else None
        for name, member in members.items()
    }


def place_in(place: str, name: str) -> str:
    return f"{place} {name}" if place.endswith(":") else f"{place}.{name}"


def whole(lowest: int, highest: int) -> Reader:
    def read(value: Any, place: str) -> int:
        if type(value) is not int or not lowest <= value <= highest:
            raise Malformed(f"{place}: {quote_value(value)}, an integer from {lowest} to {highest} expected")
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
            raise Malformed(f"{place}: {quote_value(value)}, {expected} expected")
        return value

    return read


def list_of(read: Reader) -> Reader:
    def read_list(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise Malformed(f"{place}: {quote_value(value)}, a list expected")
        return [read(item, place and f"{place}[{number}]") for number, item in enumerate(value)]

    return read_list


def quickly(read: Reader) -> Reader:
    """For many values: to write down where each is takes longer than to read it. So that is done only if one of them
    is wrong, when all are read again."""

    def read_quickly(value: Any, place: str) -> Any:
        with suppress(Malformed):
            return read(value, NO_PLACE)
        return read(value, place)

    return read_quickly


def object_of(members: Mapping[str, Member]) -> Reader:
    return lambda value, place: fields_of(value, members, place)


def rack(value: Any, place: str) -> str | None:
    return None if value is None else ANY_TEXT(value, place)


def topic_id(value: Any, place: str) -> str | None:
    """Kafka's id of no topic is none."""
    text: str = ID_TEXT(value, place)
    return None if text == ZERO_UUID else text


def settings(value: Any, place: str) -> list[tuple[str, str | None]]:
    """Values as texts, as brokers report them."""
    if not isinstance(value, dict):
        raise Malformed(f"{place}: {quote_value(value)}, an object expected")
    return sorted((ANY_TEXT(name, place), setting(text, f"{place}.{name}")) for name, text in value.items())


def setting(value: Any, place: str) -> str | None:
    if isinstance(value, (dict, list)):
        raise Malformed(f"{place}: {quote_value(value)}, a text, number or truth value expected")
    if value is None:
        return None
    line = str(ANY_TEXT(value if isinstance(value, str) else json.dumps(value), place))
    if place.endswith(COUNTED) and not POSITIVE.fullmatch(line):
        raise Malformed(f"{place}: {quote_value(value)}, a whole number above 0 expected")
    return line


def groups(value: Any, place: str) -> list[Row]:
    """Settings of groups, in one order, so that the same snapshot is the same row."""
    read: list[Row] = list_of(object_of(GROUP))(value, place)
    return sorted(once(read, "group_id", "group", place), key=itemgetter("group_id"))


def offsets_partitions(value: Any, place: str) -> list[Row]:
    """Their leaders. Views make a map of them, which has each partition once."""
    return once(list_of(object_of(OFFSETS_PARTITION))(value, place), "partition", "partition", place)


def once(read: list[Row], key: str, thing: str, place: str) -> list[Row]:
    by_key = {each[key]: each for each in read}
    if len(by_key) < len(read):
        twice = next(each[key] for each in read if by_key[each[key]] is not each)
        raise Malformed(f"{place}: {key} {quote_value(twice)} twice, each {thing} once expected")
    return read


topic_name = matching(TOPIC, "a topic's name (letters, digits, . _ -, at most 249)")
ID_TEXT = matching(TOPIC_ID, "a topic id of 22 characters")
cluster_id = matching(CLUSTER_ID, "a cluster id without spaces")
ANY_TEXT = matching(re.compile(r"[^\ud800-\udfff]*", re.DOTALL), "a text")


GROUP = {"group_id": Member(ANY_TEXT, is_required=True), "settings": Member(settings, is_required=True)}
OFFSETS_PARTITION = {
    "partition": Member(whole(0, INT), is_required=True),
    "leader": Member(maybe(NONE, INT), is_required=True),
}


def quote_value(value: Any) -> str:
    # In ASCII: JSON may hold half of a surrogate pair, which cannot be printed.
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
