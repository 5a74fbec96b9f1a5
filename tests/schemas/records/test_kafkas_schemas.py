"""The declarations of records equal the schemas from which each release generated its record classes, field by field.

Every coordinator jar holds them, as `common/message/*.json`: lines that begin with `//` are comments.
"""

import json
import re
import zipfile
from typing import Any, Final

import pytest

from jobs.spark.jars import jars
from schemas.fields import ZERO_UUID, Array, Field, Kind, Message, Struct
from schemas.records import REGISTRY
from tests.kafka import jar_sets

pytestmark = pytest.mark.broker

RELEASES: Final = {
    "3.7.2": jar_sets.KAFKA_3_7_2,
    "3.9.1": jar_sets.KAFKA_3_9_1,
    "4.0.1": jar_sets.KAFKA_4_0_1,
    "4.1.2": jar_sets.KAFKA_4_1_2,
    "4.3.1": jar_sets.KAFKA_4_3_1,
    "4.4.0": jar_sets.KAFKA_4_4_0,
}
SCHEMA: Final = re.compile(r"common/message/(\w+)(Key|Value)\.json")
IMPLIED: Final = {"string": "", "uuid": ZERO_UUID, "bytes": ""}

# -- where the declarations differ knowingly

# Releases wrote other bytes under the same version, so these messages have several shapes: which one a release has, as
# its place in the declaration, newest first.
OLDER_SHAPES: Final = {
    "3.7.2": {
        "ConsumerGroupPartitionMetadata": 1,
        "ConsumerGroupMemberMetadata": 1,
        "ConsumerGroupTargetAssignmentMember": 1,
        "ConsumerGroupCurrentMemberAssignment": 1,
    },
    # It has classes for three types of share groups, of which it writes none.
    "3.9.1": {"ShareGroupPartitionMetadata": 1, "ShareGroupMetadata": 1},
    "4.0.1": {"ShareGroupMetadata": 1, "ShareGroupStatePartitionMetadata": 1},
}
# Declared once for several messages, so that one release cannot be named.
ADDED: Final = {
    ("ConsumerGroupCurrentMemberAssignment", "assignment_epochs"): "4.3",
    ("StreamsGroupCurrentMemberAssignment", "assignment_epochs"): "4.2",
}
# Up to 4.0 one schema serves types 0 and 1; later ones have another for type 0, of the one version that it ever had.
# Ours is one for both, in which version 0 is the same.
LEGACY: Final = "LegacyOffsetCommit"
# No release has this type, and from 4.1 on none has type 9.
ONLY_IN_DEVELOPMENT: Final = "StreamsGroupPartitionMetadata"
NUMBER_UNUSED: Final = ("ShareGroupPartitionMetadata",)


def schemas_of(release: str) -> dict[tuple[str, str], dict[str, Any]]:
    """By name of the record and `Key` or `Value`."""
    (jar,) = (jar for jar in jars(RELEASES[release]) if jar.name.startswith("kafka-group-coordinator-" + release))
    with zipfile.ZipFile(jar) as opened:
        texts = {
            (found[1], found[2]): opened.read(name).decode()
            for name in opened.namelist()
            if (found := SCHEMA.fullmatch(name))
        }
    return {
        of: json.loads("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//")))
        for of, text in texts.items()
    }


def bounds(versions: str, highest: int) -> range:
    """Of `3+`, `0-1`, `1` and `none`."""
    if versions == "none":
        return range(0)
    first, _, last = versions.removesuffix("+").partition("-")
    return range(int(first), (highest if versions.endswith("+") else int(last or first)) + 1)


# A field in one version: name, type, whether it may be null, its tag, and its default. One that the version has not is
# a name and a default.
Layout = list[tuple[object, ...]]


class Kafkas:
    """A schema of a release."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        first, _, last = schema["validVersions"].partition("-")
        self.versions = range(int(first), int(last or first) + 1)
        self.flexible = bounds(schema["flexibleVersions"], self.versions[-1])
        self.structs = {each["name"]: each["fields"] for each in schema.get("commonStructs", ())}

    def layout(self, version: int) -> Layout:
        return self.fields(self.schema["fields"], version)

    def fields(self, declared: list[dict[str, Any]], version: int) -> Layout:
        return [self.field(each, version) for each in declared]

    def field(self, declared: dict[str, Any], version: int) -> tuple[object, ...]:
        name = re.sub("(?<=[a-z])(?=[A-Z])", "_", declared["name"]).lower()
        # As Kafka's generator takes them where one is left out.
        tagged = declared.get("taggedVersions", "none")
        default = self.default(declared)
        if not self.has(declared.get("versions", tagged), version):
            return name, default
        is_nullable = self.has(declared.get("nullableVersions", "none"), version)
        kind = self.type_of(declared["type"], declared.get("fields"), version)
        return name, kind, is_nullable, declared["tag"] if self.has(tagged, version) else None, default

    def has(self, versions: str, version: int) -> bool:
        return version in bounds(versions, self.versions[-1])

    def type_of(self, kind: str, fields: list[dict[str, Any]] | None, version: int) -> object:
        if kind.startswith("[]"):
            return [self.type_of(kind[2:], fields, version)]
        fields = fields or self.structs.get(kind)
        return kind if fields is None else tuple(self.fields(fields, version))

    def default(self, declared: dict[str, Any]) -> object:
        if "default" in declared:
            return None if declared["default"] in (None, "null") else int(declared["default"])
        return None if "nullableVersions" in declared else implied(declared["type"], declared["type"].startswith("[]"))


def implied(kind: str, is_array: bool) -> object:
    if is_array:
        return ()
    return 0 if kind.startswith(("int", "uint")) else IMPLIED[kind]


class Ours:
    """A declaration, as it was for a release."""

    def __init__(self, release: str, record: str) -> None:
        self.release, self.record = numbers(release), record

    def layout(self, declared: tuple[Field, ...], version: int) -> Layout:
        return [self.field(each, version) for each in declared if not self.is_newer(each)]

    def is_newer(self, field: Field) -> bool:
        since = ADDED.get((self.record, field.name)) or field.since.partition(",")[0]
        return bool(since) and numbers(since) > self.release

    def field(self, of: Field, version: int) -> tuple[object, ...]:
        default = of.default
        if default is None and not of.nullable:
            kind = of.type.value if isinstance(of.type, Kind) else ""
            default = implied(kind, isinstance(of.type, Array))
        if not of.is_in(version):
            return of.name, default
        return of.name, self.type_of(of.type, version), of.nullable, of.tag, default

    def type_of(self, of: object, version: int) -> object:
        if isinstance(of, Array):
            return [self.type_of(of.of, version)]
        return tuple(self.layout(of.fields, version)) if isinstance(of, Struct) else str(of)


def numbers(release: str) -> tuple[int, ...]:
    return tuple(int(each) for each in release.split("."))


def value_of(record: str) -> Message:
    (found,) = (each.value for each in REGISTRY.values() if each.name == record)
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_every_value_is_declared_as_the_release_has_it(release):
    compared = set()
    for (record, part), schema in schemas_of(release).items():
        if part == "Key":
            continue
        kafkas, message = Kafkas(schema), value_of(record)
        shape = message.shapes[OLDER_SHAPES.get(release, {}).get(record, 0)]
        assert schema["name"] == f"{record}Value"
        if record != LEGACY:
            assert (kafkas.versions[0], kafkas.versions[-1]) == (shape.first, shape.last), record
        ours = Ours(release, record)
        for version in kafkas.versions:
            assert shape.layout(version).is_flexible == (version in kafkas.flexible), (record, version)
            told = [each for each in ours.layout(shape.fields, version) if record != LEGACY or len(each) > 2]
            assert told == kafkas.layout(version), (record, version)
        compared.add(record)
    of_its_time = {each.name for each in REGISTRY.values() if first_release(each.written_by) <= numbers(release)}
    absent = {LEGACY, ONLY_IN_DEVELOPMENT, *(NUMBER_UNUSED if numbers(release) >= (4, 1) else ())}
    assert of_its_time - absent <= compared


def first_release(written_by: str) -> tuple[int, ...]:
    """Of `4.0+` and `3.7 to 4.0; …`."""
    found = re.match(r"[\d.]+", written_by)
    return numbers(found[0]) if found else (99,)


@pytest.mark.parametrize("release", RELEASES)
def test_every_key_is_declared_as_the_release_has_it(release):
    """Up to 4.0 the version of a key is the number of the type, from 4.1 on a number of its own is."""
    for (record, part), schema in schemas_of(release).items():
        if part == "Value":
            assert schema.get("apiKey", number_of(record)) == number_of(record)
            continue
        kafkas = Kafkas(schema)
        types = [schema["apiKey"]] if "apiKey" in schema else list(kafkas.versions)
        assert number_of(record) in types
        for number in types:
            version = kafkas.versions[0] if "apiKey" in schema else number
            ours = Ours(release, record).layout(REGISTRY[number].key, 0)
            assert ours == kafkas.layout(version), (record, number)


def number_of(record: str) -> int:
    (found,) = (each.number for each in REGISTRY.values() if each.name == record)
    return found


def test_every_known_difference_is_one():
    for release, shapes in OLDER_SHAPES.items():
        schemas = schemas_of(release)
        for record, shape in shapes.items():
            kafkas = Kafkas(schemas[record, "Value"])
            layouts = [Ours("99", record).layout(each.fields, 0) for each in value_of(record).shapes]
            assert layouts[0] != kafkas.layout(0) == layouts[shape], (release, record)
