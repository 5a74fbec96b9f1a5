"""The language in which records are declared: plain data, read by decoder, encoder and docs alike."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from schemas.words.records import GroupType


class Kind(StrEnum):
    """What one value is on the wire; strings and bytes change their length prefix in flexible versions."""

    INT8 = "int8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    INT64 = "int64"
    UUID = "uuid"
    STRING = "string"
    BYTES = "bytes"
    JAVA_UTF = "java_utf"  # uint16 length, then Java's modified UTF-8; Kafka Streams' AssignmentInfo alone
    UTF16_CHARS = "utf16_chars"  # int32 number of UTF-16BE units; Kafka Streams' named topologies alone


FIXED_SIZES = {Kind.INT8: 1, Kind.INT16: 2, Kind.UINT16: 2, Kind.INT32: 4, Kind.INT64: 8, Kind.UUID: 16}

# Kafka refuses longer strings in flexible versions; in classic ones the int16 length cannot say more.
LONGEST_STRING = 32767
LONGEST_VARINT = 5
INT16_MAX = 2**15 - 1
INT32_MAX = 2**31 - 1

# Kafka's text form of the uuid that means "absent".
ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"


# Declarations are compared by identity: each is written once, and a hash of its value would walk all that is inside.
@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field; `first` and `last` bound the value versions that hold it, `since` is the release that added it."""

    name: str
    type: "FieldType"
    about: str
    first: int = 0
    last: int | None = None
    nullable: bool = False
    tag: int | None = None
    default: object = None
    since: str = ""

    def is_in(self, version: int) -> bool:
        return self.first <= version and (self.last is None or version <= self.last)


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    of: Kind | Struct


FieldType = Kind | Struct | Array


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The fields that one version of one shape has, in wire order."""

    fields: tuple[Field, ...]
    tagged: tuple[Field, ...]
    is_flexible: bool


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One byte layout. A message has several when releases wrote different bytes under one version number."""

    fields: tuple[Field, ...]
    releases: str  # which releases write it
    provenance: str  # what brought it
    first: int = 0
    last: int = 0
    flexible_from: int | None = None

    def has(self, version: int) -> bool:
        return self.first <= version <= self.last

    def layout(self, version: int) -> Layout:
        is_flexible = self.flexible_from is not None and version >= self.flexible_from
        return layout(self.fields, version, is_flexible)


@cache
def layout(fields: tuple[Field, ...], version: int, is_flexible: bool) -> Layout:
    present = [field for field in fields if field.is_in(version)]
    return Layout(
        tuple(field for field in present if field.tag is None),
        tuple(field for field in present if field.tag is not None),
        is_flexible,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A versioned value. `shapes` are newest first: the first that consumes every byte is the right one."""

    name: str
    shapes: tuple[Shape, ...]
    version_kind: Kind = Kind.INT16

    @property
    def lowest_version(self) -> int:
        return min(shape.first for shape in self.shapes)

    @property
    def highest_version(self) -> int:
        return max(shape.last for shape in self.shapes)

    def shapes_of(self, version: int) -> tuple[Shape, ...]:
        return tuple(shape for shape in self.shapes if shape.has(version))


@dataclass(frozen=True, slots=True, eq=False)
class RecordType:
    """One kind of record of the topic: the number that opens its key, the key's fields, the value's message, the table
    of its rows, and the type of its groups (None: commits, of every type)."""

    number: int
    name: str
    table: str
    group_type: GroupType | None
    key: tuple[Field, ...]
    value: Message
    about: str
    written_by: str
