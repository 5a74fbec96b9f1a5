"""The declarations are whole and consistent: what decoder, types, encoder and docs are derived from. That they are
Kafka's, field by field, `test_kafkas_schemas.py` compares with the schemas in its jars."""

import re
from collections.abc import Iterator

import pytest

from schemas.fields import Array, Field, Kind, Message, Shape, Struct
from schemas.records import (
    ASSIGNMENT,
    CONNECT_ASSIGNMENT,
    CONNECT_SUBSCRIPTION,
    CONTROL_KEY,
    CONTROL_VALUE,
    COOPERATIVE_STICKY_FORMS,
    REGISTRY,
    STICKY_FORMS,
    STREAMS_ASSIGNMENT,
    STREAMS_SUBSCRIPTION,
    SUBSCRIPTION,
    Reader,
)
from schemas.words.lines import WrongDeclaration
from schemas.words.records import ControlType, GroupType, Part, RejectReason
from tests.oracles.decoding.kafka_names import NAMES

MESSAGES = [
    *(record.value for record in REGISTRY.values()), CONTROL_KEY, CONTROL_VALUE, SUBSCRIPTION, ASSIGNMENT,
    STREAMS_SUBSCRIPTION, STREAMS_ASSIGNMENT, CONNECT_SUBSCRIPTION, CONNECT_ASSIGNMENT,
]  # fmt: skip
SHAPES = [
    *((message.name, shape) for message in MESSAGES for shape in message.shapes),
    *(("sticky", shape) for shape in STICKY_FORMS),
    *(("cooperative-sticky", shape) for shape in COOPERATIVE_STICKY_FORMS),
]


def fields_within(fields: tuple[Field, ...]) -> Iterator[tuple[Field, ...]]:
    """The fields of this struct, then those of each struct inside."""
    yield fields
    for field in fields:
        kind = field.type.of if isinstance(field.type, Array) else field.type
        if isinstance(kind, Struct):
            yield from fields_within(kind.fields)


def every_struct() -> Iterator[tuple[str, tuple[Field, ...]]]:
    for record in REGISTRY.values():
        yield f"key of {record.name}", record.key
    for name, shape in SHAPES:
        for fields in fields_within(shape.fields):
            yield name, fields


STRUCTS = list(every_struct())


def test_the_registry_holds_every_type_in_order() -> None:
    assert {number: record.name for number, record in REGISTRY.items()} == NAMES
    assert list(REGISTRY) == sorted(NAMES)
    assert all(number == record.number for number, record in REGISTRY.items())


def test_only_these_types_have_two_shapes_under_one_version() -> None:
    numbers = {number: len(record.value.shapes_of(0)) for number, record in REGISTRY.items()}
    assert {number: many for number, many in numbers.items() if many > 1} == dict.fromkeys((4, 5, 7, 8, 9, 11, 15), 2)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
def test_every_known_version_has_a_shape_and_no_other_has(message: Message) -> None:
    for version in range(message.lowest_version, message.highest_version + 1):
        assert message.shapes_of(version)
    assert not message.shapes_of(message.lowest_version - 1)
    assert not message.shapes_of(message.highest_version + 1)


@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_each_shape_names_its_releases_and_its_provenance(name: str, shape: Shape) -> None:
    assert shape.releases.strip(), name
    assert shape.provenance.strip(), name
    assert 0 <= shape.first <= shape.last
    assert shape.flexible_from is None or shape.first <= shape.flexible_from <= shape.last


@pytest.mark.parametrize(("name", "fields"), STRUCTS)
def test_each_field_has_a_name_and_a_sentence(name: str, fields: tuple[Field, ...]) -> None:
    for field in fields:
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", field.name), (name, field)
        # A first letter that is no capital is a number, or a name such as host:port.
        assert re.fullmatch(r"\S.*[^.]\.", field.about), (name, field)
        assert "\n" not in field.about


@pytest.mark.parametrize(("name", "fields"), STRUCTS)
def test_names_and_tags_are_unique_in_each_version(name: str, fields: tuple[Field, ...]) -> None:
    for version in range(12):
        present = [field for field in fields if field.is_in(version)]
        names = [field.name for field in present]
        assert len(set(names)) == len(names), (name, version)
        tags = [field.tag for field in present if field.tag is not None]
        assert tags == sorted(set(tags)), (name, version)


@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_fields_stand_in_versions_that_their_shape_has_and_tags_in_flexible_ones(name: str, shape: Shape) -> None:
    for field in shape.fields:
        assert any(field.is_in(version) for version in range(shape.first, shape.last + 1)), (name, field.name)
        assert field.last is None or field.first <= field.last
    for fields in fields_within(shape.fields):
        for field in fields:
            if field.tag is not None:
                assert shape.flexible_from is not None
                assert field.first >= shape.flexible_from
                # Absent, it says its default or null.
                assert field.default is not None or field.nullable, (name, field.name)


def test_each_record_type_says_what_it_is_and_who_writes_it() -> None:
    for record in REGISTRY.values():
        assert record.about.endswith(".") and record.written_by, record.number


def test_the_version_of_streams_payloads_is_an_int32() -> None:
    wide = {message.name for message in MESSAGES if message.version_kind is Kind.INT32}
    assert wide == {"SubscriptionInfo", "AssignmentInfo"}


def test_the_words_of_rejected_rows_are_those_of_the_tables() -> None:
    assert [str(part) for part in Part] == ["batch", "key", "value"]
    assert all(str(reason) == reason.name.lower() for reason in RejectReason)
    assert {control.name: int(control) for control in ControlType} == {"ABORT": 0, "COMMIT": 1}


TEXT = """\
// Of all.
{
"commonFields": [
  {"name": "group", "type": "string", "about": "The group."},
  {"as": "seats", "name": "parts", "type": "[]seat", "about": "Seats."}
],
"commonStructs": [
  {"name": "seat", "fields": [
    "group", {"name": "row", "type": "int32", "versions": "1-2", "about": ["The", "row."]}
  ]}
],
"messages": [
  {"name": "Value", "versionType": "int32", "alternatives": [
    {"validVersions": "0-3", "flexibleVersions": "2+", "releases": "2.0+", "provenance": "KIP-1", "fields": [
      "seats", {"name": "own", "type": "inside", "tag": 0, "default": 0, "nullableVersions": "0+", "since": "2.1",
                "about": "Own.", "fields": ["seats"]}
    ]},
    {"validVersions": "0", "releases": "1.9", "provenance": "KIP-0", "fields": ["group"]}
  ]}
],
"records": [
  {"apiKey": 7, "name": "Place", "table": "places", "value": "Value", "releases": "1.9+", "about": "A place.",
   "groupType": "share", "key": ["group"]}
]
}
"""
WRONG = {
    '"type": "string"': ('"type": "text"', 4, "expected as type int8, int16"),
    '"about": "The group."},': ('"about": "The group."}', 5, "expected JSON: "),
    '"as": "seats", "name": "parts"': ('"name": "group"', 5, "expected a name that is new"),
    '"versions": "1-2"': ('"versions": "1..2"', 9, "expected versions like 3+, 3 or 1-4, got 1..2"),
    '"row", "type"': ('"row", "kind"', 9, "expected type"),
    '"name": "Value", ': ("", 13, "expected name"),
    '"provenance": "KIP-0", ': ("", 18, "expected provenance"),
    '"tag": 0': ('"tags": 0', 15, "expected no tags"),
    '"fields": ["group"]': ('"fields": ["groups"]', 18, "no common field groups is declared"),
    '"value": "Value"': ('"value": "Values"', 22, "no message Values is declared before"),
    '"share"': ('"shared"', 22, "expected classic, consumer, share"),
    '"records"': ('"record"', 2, "expected no record"),
    '"messages": [': ('"messages": ["x", ', 2, "expected as messages a list of objects, got ["),
    '"commonFields": [': ('"commonFields": [{}, ', 2, "expected as commonFields a list of objects, got [{}"),
    '"commonStructs": [': ('"commonStructs": ["x", ', 2, "expected as commonStructs a list of objects, got ["),
    '{"validVersions": "0", ': ('{\n"validVersions": 1, ', 18, "expected as validVersions a string, got 1"),
    '{"validVersions": "0-3"': (
        '{\n"validVersions": "3-1"',
        14,
        "expected versions from the first to the last, got 3-1",
    ),
    '"validVersions": "0-3"': ('"validVersions": "0+"', 14, "expected versions that end, like 3 or 1-4, got 0+"),
    '"validVersions": "0", "releases"': ('"name": "x", "validVersions": "0", "releases"', 18, "expected no name"),
    '"messages": [\n': (
        '"messages": [\n  {"validVersions": "0", "releases": "1", "provenance": "x", "fields": []},\n',
        13,
        "expected name",
    ),
    '"KIP-0", "fields": ["group"]}\n  ]}': (
        '"KIP-0", "fields": ["group"]}\n  ]},\n'
        '{"name": "Value", "validVersions": "0", "releases": "1", "provenance": "x", "fields": []}',
        20,
        "Value: expected a name that no message before has",
    ),
    '"fields": ["seats"]': ('"fields": ["seats", 5]', 15, "expected as fields a list of objects, got ["),
    '"releases": "1.9", ': ('"releases": "1.9", "releases": "2.0", ', 18, "each key once, got more than one releases"),
    '"apiKey": 7': ('"apiKey": "7"', 22, 'expected as apiKey a number, got "7"'),
    '["The", "row."]': ('["The", 5]', 9, 'expected as about a string, or a list of strings, got ["The", 5]'),
}


def test_a_file_is_read_as_its_text_says() -> None:
    reader = Reader()
    reader.read("x.json", TEXT)
    record, value = reader.records[7], reader.messages["Value"]
    assert (record.name, record.table, record.group_type, record.value) == ("Place", "places", GroupType.SHARE, value)
    assert (value.version_kind, value.lowest_version, value.highest_version) == (Kind.INT32, 0, 3)
    newer, older = value.shapes_of(0)
    assert (newer.flexible_from, newer.releases, older.provenance) == (2, "2.0+", "KIP-0")
    seats, own = newer.fields
    assert isinstance(seats.type, Array) and isinstance(seats.type.of, Struct) and isinstance(own.type, Struct)
    # Each exists once, whoever names it.
    assert seats.type.of.fields[0] is record.key[0] is older.fields[0]
    assert own.type.fields[0] is seats
    row = seats.type.of.fields[1]
    assert (row.name, row.first, row.last, row.about) == ("row", 1, 2, "The row.")
    assert (own.nullable, own.tag, own.default, own.since) == (True, 0, 0, "2.1")


@pytest.mark.parametrize("right", WRONG)
def test_a_wrong_line_says_its_file_its_number_and_what_was_expected(right: str) -> None:
    wrong, number, expected = WRONG[right]
    assert right in TEXT
    with pytest.raises(WrongDeclaration) as refused:
        Reader().read("x.json", TEXT.replace(right, wrong, 1))
    assert str(refused.value).startswith(f"x.json, line {number}: ")
    assert expected in str(refused.value)


@pytest.mark.parametrize("text", ["[]", "{}", "5", '[{"messages": []}]'])
def test_a_file_that_is_no_object_says_so(text: str) -> None:
    with pytest.raises(WrongDeclaration, match=r"^x\.json, line 1: expected an object with commonFields, "):
        Reader().read("x.json", text)


def test_braces_in_strings_and_at_ends_of_lines_are_read() -> None:
    reader = Reader()
    reader.read("x.json", TEXT.replace("Seats.", "Seats {").replace('{"as"', '{\n"as"'))
    (seats, _), (older,) = (shape.fields for shape in reader.messages["Value"].shapes)
    assert (seats.about, older.about) == ("Seats {", "The group.")
