"""The records of the topic, the payloads in them and control records: declared as JSON in Kafka's own form, a file a
family in the folder `records`, and read into plain data for decoder, encoder and docs.

Beside Kafka's keys there are `releases` (which of them write it), `provenance` (what brought it) and `since` (the
release that added a field). `alternatives` are layouts that releases wrote under one version, newest first: the first
that consumes every byte is the right one. `commonFields` and `commonStructs` are known in later files too. Fields name
them by a string, or by the type; `as` is that name where another one has it. A long sentence is a list of its lines,
and a line that begins with // a comment.
"""

import json
import re
from collections import Counter
from functools import partial
from typing import Any, NoReturn

from schemas.fields import Array, Field, FieldType, Kind, Message, RecordType, Shape, Struct
from schemas.words.lines import WrongDeclaration, text_of
from schemas.words.records import GroupType

Said = dict[str, Any]
STRUCT = ({"name", "fields"}, {"as"})
FIELD = (
    {"name", "type", "about"},
    {"as", "versions", "nullableVersions", "tag", "default", "since", "fields"},
)
FILE = (set[str](), {"commonFields", "commonStructs", "messages", "records"})
SHAPE = ({"validVersions", "releases", "provenance", "fields"}, {"flexibleVersions"})
ONE_SHAPE = ({"name", *SHAPE[0]}, {"versionType", *SHAPE[1]})
MESSAGE = ({"name", "alternatives"}, {"versionType"})
RECORD = ({"apiKey", "name", "table", "value", "releases", "about", "key"}, {"groupType"})
OF_GROUPS = {each.value: each for each in GroupType}
KINDS = {kind.value: kind for kind in Kind}
# What is no string: objects, which may be named by strings in the second, numbers, lines of a sentence, anything.
OBJECTS = {*FILE[1], "alternatives", "fields", "key"}
MAY_BE_NAMED = {"fields", "key"}
NUMBERS = {"line", "apiKey", "tag"}
SENTENCES = {"about", "releases", "provenance"}
ANYTHING = {"default"}
# A brace that opens an object, and strings, in which a brace is none.
OPENING = re.compile(r'"(?:[^"\\]|\\.)*"|\{(?!\s*\})')
VERSIONS = re.compile(r"(\d+)(?:(\+)|-(\d+))?")


class Reader:
    """Reads files in turn; what one declares for all, later ones know."""

    def __init__(self) -> None:
        self.messages: dict[str, Message] = {}
        self.records: dict[int, RecordType] = {}
        # As they are declared until something names them: then as they are read, so that each exists once.
        self.fields: dict[str, Said | Field] = {}
        self.structs: dict[str, Said | Struct] = {}
        self.file = ""

    def read(self, file: str, text: str) -> None:
        self.file = file
        # Each object knows its line, which JSON does not say.
        lines = (
            "" if line.lstrip().startswith("//") else OPENING.sub(partial(with_line, number), line)
            for number, line in enumerate(text.splitlines(), 1)
        )
        try:
            declared = json.loads("\n".join(lines), object_pairs_hook=self.keys_once)
        except json.JSONDecodeError as error:
            raise WrongDeclaration(f"{file}, line {error.lineno}: expected JSON: {error.msg}") from None
        if not is_object(declared):
            raise WrongDeclaration(f"{file}, line 1: expected an object with {', '.join(sorted(FILE[1]))}")
        self.check(declared, *FILE)
        for known, keys, name in ((self.fields, FIELD, "commonFields"), (self.structs, STRUCT, "commonStructs")):
            for said in declared.get(name, ()):
                self.check(said, *keys)
                if known.setdefault(said.get("as", said["name"]), said) is not said:
                    self.refuse(said, "expected a name that is new, or `as` with one")
        for said in declared.get("messages", ()):
            message = self.message(said)
            if self.messages.setdefault(message.name, message) is not message:
                self.refuse(said, "expected a name that no message before has")
        for said in declared.get("records", ()):
            record = self.record(said)
            if self.records.setdefault(record.number, record) is not record:
                self.refuse(said, "expected an apiKey that is new")

    def refuse(self, said: Said, expected: str) -> NoReturn:
        raise WrongDeclaration(f"{self.file}, line {said['line']}: {said.get('name', '')}: {expected}")

    def check(self, said: Said, required: set[str], optional: set[str]) -> None:
        if missing := required - set(said):
            self.refuse(said, f"expected {', '.join(sorted(missing))}")
        if unknown := set(said) - required - optional - {"line"}:
            self.refuse(said, f"expected no {', '.join(sorted(unknown))}")
        for key, value in said.items():
            if expected := expected_as(key, value):
                self.refuse(said, f"expected as {key} {expected}, got {json.dumps(value)[:60]}")

    def keys_once(self, pairs: list[tuple[str, Any]]) -> Said:
        said = dict(pairs)
        if repeated := [key for key, number in Counter(key for key, _ in pairs).items() if number > 1]:
            self.refuse(said, f"expected each key once, got more than one {', '.join(repeated)}")
        return said

    def message(self, said: Said) -> Message:
        self.check(said, *(MESSAGE if "alternatives" in said else ONE_SHAPE))
        for each in said.get("alternatives", ()):
            self.check(each, *SHAPE)
        shapes = tuple(self.shape(each) for each in said.get("alternatives", [said]))
        return Message(said["name"], shapes, self.kind(said.get("versionType", "int16"), said))

    def shape(self, said: Said) -> Shape:
        first, last = self.versions(said["validVersions"], said)
        if last is None:
            self.refuse(said, f"expected versions that end, like 3 or 1-4, got {said['validVersions']}")
        flexible = self.versions(said["flexibleVersions"], said)[0] if "flexibleVersions" in said else None
        about = sentence(said["releases"]), sentence(said["provenance"])
        return Shape(self.fields_of(said), *about, first, last, flexible)

    def record(self, said: Said) -> RecordType:
        self.check(said, *RECORD)
        value = self.messages.get(said["value"]) or self.refuse(said, f"no message {said['value']} is declared before")
        group_type = None
        if "groupType" in said:
            group_type = OF_GROUPS.get(said["groupType"]) or self.refuse(said, f"expected {', '.join(OF_GROUPS)}")
        key = tuple(self.field(each, said) for each in said["key"])
        names = said["apiKey"], said["name"], said["table"]
        return RecordType(*names, group_type, key, value, sentence(said["about"]), sentence(said["releases"]))

    def fields_of(self, said: Said) -> tuple[Field, ...]:
        return tuple(self.field(each, said) for each in said["fields"])

    def field(self, said: Said | str, inside: Said) -> Field:
        if isinstance(said, str):
            common = self.fields.get(said) or self.refuse(inside, f"no common field {said} is declared")
            made = self.fields[said] = common if isinstance(common, Field) else self.field(common, inside)
            return made
        self.check(said, *FIELD)
        first, last = self.versions(said.get("versions", "0+"), said)
        kind, about = self.type_of(said["type"], said), sentence(said["about"])
        more = "nullableVersions" in said, said.get("tag"), said.get("default"), said.get("since", "")
        return Field(said["name"], kind, about, first, last, *more)

    def type_of(self, name: str, said: Said) -> FieldType:
        inner = name.removeprefix("[]")
        of = Struct(inner, self.fields_of(said)) if "fields" in said else self.kind_or_struct(inner, said)
        return Array(of) if name.startswith("[]") else of

    def kind_or_struct(self, name: str, said: Said) -> Kind | Struct:
        common = self.structs.get(name)
        if isinstance(common, dict):
            common = self.structs[name] = Struct(common["name"], self.fields_of(common))
        return common or self.kind(name, said)

    def kind(self, name: str, said: Said) -> Kind:
        return KINDS.get(name) or self.refuse(said, f"expected as type {', '.join(KINDS)} or a struct, got {name}")

    def versions(self, text: str, said: Said) -> tuple[int, int | None]:
        """The first, and the last if they end: of 3+, 3 or 1-4."""
        found = VERSIONS.fullmatch(text) or self.refuse(said, f"expected versions like 3+, 3 or 1-4, got {text}")
        first, is_endless, last = found.groups()
        if last and int(last) < int(first):
            self.refuse(said, f"expected versions from the first to the last, got {text}")
        return int(first), None if is_endless else int(last or first)


def with_line(number: int, found: re.Match[str]) -> str:
    return f'{{"line": {number}, ' if found[0] == "{" else found[0]


def is_object(said: Any) -> bool:
    """An empty one has no line."""
    return isinstance(said, dict) and "line" in said


def expected_as(key: str, value: Any) -> str | None:
    """What the value of a key must be, if it is not."""
    if key in OBJECTS:
        named = key in MAY_BE_NAMED
        fits = isinstance(value, list) and all(
            isinstance(each, str) if named and not isinstance(each, dict) else is_object(each) for each in value
        )
        return None if fits else "a list of objects"
    if key in NUMBERS:
        return None if isinstance(value, int) else "a number"
    if key in SENTENCES and isinstance(value, list):
        return None if all(isinstance(each, str) for each in value) else "a string, or a list of strings"
    return None if key in ANYTHING or isinstance(value, str) else "a string"


def sentence(said: str | list[str]) -> str:
    return said if isinstance(said, str) else " ".join(said)


READER = Reader()
# Later files may use what earlier ones declare.
FAMILIES = ("offsets", "classic", "consumer", "share", "streams", "payloads")
for family in FAMILIES:
    READER.read(f"{family}.json", text_of(f"records/{family}.json"))

# Every record type that can be in the topic, by the number that opens its key.
REGISTRY: dict[int, RecordType] = dict(sorted(READER.records.items()))
GROUP_TYPES: dict[int, GroupType] = {
    number: record.group_type for number, record in REGISTRY.items() if record.group_type is not None
}
MESSAGES: dict[str, Message] = READER.messages

# Markers that end a transaction. Their keys look like record types 0 and 1, so batches must tell them apart (bit 5 of
# the attributes) before any key is read. Kafka reads a version above 0 as 0, so bytes may follow there.
CONTROL_KEY, CONTROL_VALUE = MESSAGES["ControlRecordKey"], MESSAGES["EndTransactionMarker"]

# What clients put into the opaque bytes of a classic group's members, by protocol; brokers store it without looking.
CONSUMER, CONNECT, SCHEMA_REGISTRY = "consumer", "connect", "sr"
STREAM_PROTOCOL, STICKY_PROTOCOL, COOPERATIVE_STICKY_PROTOCOL = "stream", "sticky", "cooperative-sticky"
SUBSCRIPTION, ASSIGNMENT = MESSAGES["ConsumerProtocolSubscription"], MESSAGES["ConsumerProtocolAssignment"]
# User data of the sticky assignors has no version: the right form is the one that consumes every byte.
STICKY_FORMS = MESSAGES["StickyUserData"].shapes
COOPERATIVE_STICKY_FORMS = MESSAGES["CooperativeStickyUserData"].shapes
KAFKA_PYTHON_VERSION = 1
# Kafka Streams as a classic group.
STREAMS_SUBSCRIPTION, STREAMS_ASSIGNMENT = MESSAGES["SubscriptionInfo"], MESSAGES["AssignmentInfo"]
CONNECT_SUBSCRIPTION, CONNECT_ASSIGNMENT = MESSAGES["WorkerState"], MESSAGES["ConnectAssignment"]


def types_of(table: str) -> tuple[int, ...]:
    """The record types whose rows the table has."""
    return tuple(number for number, record in REGISTRY.items() if record.table == table)


def types_by_group_type(table: str) -> dict[GroupType, int]:
    """Which record type a row of a group's table was. Rows of 9 and 15 look alike; only the early access of share
    groups in 4.0 wrote 9."""
    return {GROUP_TYPES[number]: number for number in types_of(table)}
