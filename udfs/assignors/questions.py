"""Reads one line of `groupscope assign`: a JSON object with the topics, the members and what they had. An error names
the field by its path. Nothing heavy is loaded here: flags of commands need Kafka's names of assignors and releases.
"""

import base64
import hashlib
import json
import re
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar

from schemas.records import SUBSCRIPTION
from udfs.decoding.scalar_reader import Malformed, read_message

INT32_MAX = 2**31 - 1
LONGEST_SHOWN = 60
# Far beyond what a cluster can hold: a count above is a slip, and would only fill the memory.
MOST_PARTITIONS = 20_000_000
# "3.9" stands for the line's last release: a rule that 3.9.2 changed holds for it.
NEWEST_PATCH = INT32_MAX
NEWEST_RELEASE = (4, 4, NEWEST_PATCH)
JDKS = (17, 21)

Release = tuple[int, int, int]
Owned = tuple[tuple[str, tuple[int, ...]], ...]
T = TypeVar("T")


class GroupProtocol(StrEnum):
    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"


# Kafka's names of its assignors. `answers.ASSIGNORS` has the function for each.
LEADERS = ("range", "roundrobin", "sticky", "cooperative-sticky")
COORDINATORS = ("uniform", "range")
# No release has it.
PROPOSAL = "constrained-cooperative-sticky"
BY_PROTOCOL: Mapping[GroupProtocol, tuple[str, ...]] = MappingProxyType(
    {
        GroupProtocol.CLASSIC: (*LEADERS, PROPOSAL),
        GroupProtocol.CONSUMER: COORDINATORS,
        GroupProtocol.SHARE: ("simple",),
    }
)
NAMES = tuple(sorted({name for names in BY_PROTOCOL.values() for name in names}))
OF_RELEASES = tuple(dict.fromkeys(name for names in BY_PROTOCOL.values() for name in names if name != PROPOSAL))


@dataclass(frozen=True)
class Topic:
    """`racks` holds those of each partition's replicas. Without partitions it is unknown to the metadata."""

    name: str
    partitions: int
    topic_id: str | None = None
    racks: tuple[tuple[str | None, ...], ...] | None = None


@dataclass(frozen=True)
class Member:
    member_id: str
    group_instance_id: str | None = None
    rack_id: str | None = None
    subscribed_topics: tuple[str, ...] = ()
    owned: Owned = ()
    generation: int | None = None
    user_data: bytes | None = None
    target: Owned = ()


@dataclass(frozen=True)
class Spec:
    """Tuples keep the order in which they were given: Kafka's answer depends on it."""

    group_protocol: GroupProtocol
    assignor: str
    topics: tuple[Topic, ...]
    members: tuple[Member, ...]
    leader_memory: int | None = None
    assignable: Owned | None = None
    release: Release = NEWEST_RELEASE
    jdk: int = JDKS[0]
    # Fields that stand-ins were taken for.
    assumed: tuple[str, ...] = ()


# -- JSON values with their paths


class SpecError(Exception):
    """What is wrong in a spec: the path of the field, its value, and what was expected."""


def json_text(value: object) -> str:
    """As JSON writes it, in which it came."""
    try:
        return shorten(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        # It was read with some calls fewer on the stack.
        return "lists or objects within each other"


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


@dataclass(frozen=True)
class Value:
    """A value of a spec and the path to it."""

    path: str
    value: Any = field(repr=False)

    def fail(self, expected: str) -> SpecError:
        return SpecError(f"{self.path}{': ' if self.path else ''}{json_text(self.value)}, expected {expected}")

    def object(
        self, readers: "Readers", required: Collection[str] = (), protocol: GroupProtocol | None = None
    ) -> dict[str, Any]:
        """Its fields that are not null, read. Fields that only groups of other protocols have would be ignored, so they
        are refused."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        at = f"{self.path}." if self.path else ""
        for name, value in self.value.items():
            if name not in readers:
                raise SpecError(f"{at}{shorten(name)}: unknown field, expected one of {', '.join(readers)}")
            if value is not None and protocol not in (None, *PROTOCOLS_OF.get(name, GroupProtocol)):
                raise SpecError(f"{at}{name}: expected only with group_protocol {' or '.join(PROTOCOLS_OF[name])}")
        given = {name: value for name in readers if (value := self.value.get(name)) is not None}
        fields = {name: readers[name](Value(at + name, value)) for name, value in given.items()}
        for name in required:
            if name not in given:
                raise SpecError(f"{at}{name}: missing")
        return fields

    def items(self) -> list["Value"]:
        if not isinstance(self.value, list):
            raise self.fail("a list")
        return [Value(f"{self.path}[{i}]", value) for i, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.fail("a string")
        return self.value

    def name(self) -> str:
        if not self.text():
            raise self.fail("a string that is not empty")
        return self.text()

    def number(self, lowest: int = 0) -> int:
        # A JSON true is an int to Python.
        if type(self.value) is not int or not lowest <= self.value <= INT32_MAX:
            raise self.fail(f"an integer from {lowest} to {INT32_MAX}")
        return self.value

    def numbers(self) -> tuple[int, ...]:
        if not isinstance(self.value, list):
            raise self.fail("a list of partitions")
        if set(map(type, self.value)) - {int} or (
            self.value and not 0 <= min(self.value) <= max(self.value) < INT32_MAX
        ):
            raise self.fail(f"partitions, each an integer from 0 to {INT32_MAX - 1}")
        return tuple(self.value)

    def one_of(self, allowed: Collection[T]) -> T:
        for each in allowed:
            if self.value == each and type(self.value) in (str, int):
                return each
        raise self.fail(f"one of {', '.join(map(str, allowed))}")

    def raw_bytes(self) -> bytes:
        try:
            return bytes.fromhex(self.text())
        except ValueError:
            raise self.fail("bytes as hexadecimal digits") from None


Readers = Mapping[str, Callable[[Value], Any]]


# -- the line


PROTOCOLS_OF: Mapping[str, tuple[GroupProtocol, ...]] = MappingProxyType(
    {
        "leader_memory": (GroupProtocol.CLASSIC,),
        "subscription": (GroupProtocol.CLASSIC,),
        "target": (GroupProtocol.CONSUMER, GroupProtocol.SHARE),
        "assignable": (GroupProtocol.SHARE,),
    }
)


def read_spec(line: object, defaults: Mapping[str, Any] | None = None) -> Spec:
    """The spec of an object as JSON gives it; `defaults` are fields for specs that lack them."""
    if not isinstance(line, dict):
        raise Value("", line).fail("an object")
    whole = {**(defaults or {}), **line}
    protocol = Value("", {"group_protocol": whole.get("group_protocol")}).object(PROTOCOL, PROTOCOL)["group_protocol"]
    # Records of modern groups name topics by id, and Kafka's maps hold each id once.
    keys = ("name",) if protocol == GroupProtocol.CLASSIC else ("name", "topic_id")
    readers: Readers = {
        "id": lambda value: None,
        **PROTOCOL,
        "assignor": Value.name,
        "topics": lambda value: distinct(value, keys, read_topic),
        "members": lambda value: distinct(value, ("member_id",), lambda each: read_member(each, protocol)),
        "leader_memory": lambda value: value.number(lowest=-1),
        "assignable": read_owned,
        "release": read_release,
        "jdk": lambda value: value.one_of(JDKS),
    }
    fields = Value("", whole).object(readers, ("topics", "members", "assignor"), protocol)
    fields.pop("id", None)
    topics, members = fields.pop("topics"), fields.pop("members")
    if not members:
        raise Value("members", []).fail("at least one member")
    if (count := sum(topic.partitions for topic in topics)) > MOST_PARTITIONS:
        raise SpecError(f"topics: {count} partitions together, expected at most {MOST_PARTITIONS}")
    assumed: tuple[str, ...] = ()
    if protocol != GroupProtocol.CLASSIC:
        # Records name these topics by id: without an entry there is none.
        known = {topic.name for topic in topics}
        for i, member in enumerate(members):
            for name in (name for name, _ in member.target if name not in known):
                raise SpecError(
                    f"members[{i}].target: {json_text(name)}, expected a topic of `topics`, with partitions 0 where it "
                    "is gone"
                )
        assumed = () if all(topic.topic_id for topic in topics) else ("topic_id",)
        topics = tuple(replace(topic, topic_id=topic.topic_id or stand_in_id(topic.name)) for topic in topics)
    return Spec(**fields, topics=topics, members=members, assumed=assumed)


def distinct(values: Value, keys: Sequence[str], read: Callable[[Value], T]) -> tuple[T, ...]:
    seen: dict[str, set[object]] = {key: set() for key in keys}
    items = []
    for value in values.items():
        one = read(value)
        for key in keys:
            if (key_value := getattr(one, key)) in seen[key]:
                raise SpecError(f"{value.path}.{key}: {json_text(key_value)} again, expected each once")
            if key_value is not None:
                seen[key].add(key_value)
        items.append(one)
    return tuple(items)


def read_topic(value: Value) -> Topic:
    readers: Readers = {
        "name": Value.name, "partitions": Value.number, "topic_id": read_topic_id, "racks": read_racks
    }  # fmt: skip
    topic = Topic(**value.object(readers, ("name", "partitions")))
    if topic.racks is not None and len(topic.racks) != topic.partitions:
        raise SpecError(
            f"{value.path}.racks: {len(topic.racks)} lists, expected one for each of {topic.partitions} partitions"
        )
    return topic


def read_topic_id(value: Value) -> str:
    text = value.text()
    if not re.fullmatch("[A-Za-z0-9_-]{22}", text):
        raise value.fail("a topic id of 22 characters")
    # The last character carries bits beyond the 128 that Java's decoder drops.
    return base64.urlsafe_b64encode(base64.urlsafe_b64decode(text + "==")).decode()[:22]


def read_racks(value: Value) -> tuple[tuple[str | None, ...], ...]:
    return tuple(
        tuple(None if rack.value is None else rack.text() for rack in partition.items()) for partition in value.items()
    )


def read_member(value: Value, protocol: GroupProtocol) -> Member:
    fields = value.object(MEMBER, ("member_id",), protocol)
    if "subscription" not in fields:
        return Member(**fields)
    # As a record has it.
    at, raw = f"{value.path}.subscription", fields.pop("subscription")
    for name in (name for name in fields if name not in ("member_id", "group_instance_id")):
        raise SpecError(f"{value.path}.{name}: expected either it or {at}")
    try:
        return replace(read_subscription(raw), **fields)
    except Unreadable as error:
        raise SpecError(f"{at}: {error}, expected a consumer's subscription") from None


def known_generation(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


def read_names(value: Value) -> tuple[str, ...]:
    names = tuple(each.name() for each in value.items())
    if len(set(names)) < len(names):
        raise value.fail("each topic once")
    return names


def read_owned(value: Value) -> Owned:
    """Topics and partitions as `[["topic", [0, 1]], …]`: neither a topic nor a partition of it twice."""
    by_topic: dict[str, tuple[int, ...]] = {}
    for pair in value.items():
        parts = pair.items()
        if len(parts) != 2:
            raise pair.fail('["topic", [partitions]]')
        topic, partitions = parts[0].name(), parts[1].numbers()
        if topic in by_topic or len(set(partitions)) < len(partitions):
            raise pair.fail("each topic and each partition once")
        by_topic[topic] = partitions
    return tuple(by_topic.items())


def read_release(value: Value) -> Release:
    match = re.fullmatch(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?", value.text())
    if not match:
        raise value.fail("a release such as 3.9 or 4.0.1")
    major, minor, patch = match.groups()
    release = int(major), int(minor), NEWEST_PATCH if patch is None else int(patch)
    if release > NEWEST_RELEASE:
        raise value.fail(f"at most {'.'.join(map(str, NEWEST_RELEASE[:2]))}, the newest whose assignors are known")
    return release


def stand_in_id(name: str) -> str:
    """For a topic whose id is unknown. The same name always gets the same id."""
    digest = hashlib.md5(name.encode(errors="surrogatepass"), usedforsecurity=False).digest()
    return base64.urlsafe_b64encode(digest).decode()[:22]


PROTOCOL: Readers = {"group_protocol": lambda value: value.one_of(tuple(GroupProtocol))}
MEMBER: Readers = {
    "member_id": Value.name,
    "group_instance_id": Value.name,
    # Kafka takes an empty rack for none.
    "rack_id": lambda value: value.text() or None,
    "subscribed_topics": read_names,
    "owned": read_owned,
    "generation": lambda value: known_generation(value.number(lowest=-1)),
    "user_data": Value.raw_bytes,
    "target": read_owned,
    "subscription": Value.raw_bytes,
}


# -- the subscription of a classic member, from the bytes in its record

VERSION = struct.Struct(">h")


class Unreadable(Exception):
    """Bytes that are no subscription, and why."""


def read_subscription(raw: bytes) -> Member:
    """Without the member's ids, which are not in it."""
    if len(raw) < VERSION.size:
        raise Unreadable(f"{len(raw)} bytes hold no version")
    (version,) = VERSION.unpack_from(raw)
    if version < 0:
        raise Unreadable(f"version {version}")
    # A newer version may only append: it is read as the newest known, its tail left alone, as Kafka's clients do.
    version = min(version, SUBSCRIPTION.highest_version)
    layout = SUBSCRIPTION.shapes_of(version)[0].layout(version)
    try:
        values, _ = read_message(raw, layout, version, VERSION.size, is_open_ended=True)
    except Malformed as error:
        raise Unreadable(f"{error.field}: {error.detail}" if error.field else error.detail) from None
    return Member(
        member_id="",
        rack_id=values.get("rack_id") or None,
        subscribed_topics=tuple(values["topics"]),
        owned=tuple((each["topic"], tuple(each["partitions"])) for each in values.get("owned_partitions") or ()),
        generation=known_generation(values.get("generation_id")),
        user_data=values["user_data"],
    )
