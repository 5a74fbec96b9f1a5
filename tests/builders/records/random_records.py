"""Random values of declared records, with the extremes that decoders trip over."""

import base64
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemas.fields import (
    FIXED_SIZES,
    ZERO_UUID,
    Array,
    Field,
    FieldType,
    Kind,
    Layout,
    RecordType,
    Shape,
    Struct,
    layout,
)
from schemas.records import REGISTRY
from tests.builders.records.encoder import UNKNOWN_TAGS, encode_key, encode_value

Values = dict[str, Any]

# One to four bytes of UTF-8, control characters, and what JSON, SQL and Java treat in their own ways.
CHARACTERS = "aZ09-_./ \x00\n\t\"'\\\x7f\x80éß\u07ff\u0800€\ud7ff\ue000\ufeff\uffff\U00010000😀\U0010ffff"
# Around 12 bytes Arrow changes how it holds a slice; 127 and 128 bytes are where a varint grows.
TEXT_SIZES = (0, 0, 0, 1, 1, 2, 3, 5, 8, 11, 12, 13, 16, 40)
RARE_TEXT_SIZES = (62, 63, 64, 126, 127, 128, 129, 300)
LONGEST_TEXT = 32767
COUNTS = (0, 0, 1, 1, 2, 3)
RARE_COUNTS = (126, 127, 128, 130, 200)


@dataclass(frozen=True)
class Kept:
    """One way in which a record can be written."""

    record: RecordType
    shape: Shape
    version: int

    def __str__(self) -> str:
        place = self.record.value.shapes.index(self.shape)
        return f"type {self.record.number} version {self.version} shape {place}"


EVERY_LAYOUT = [
    Kept(record, shape, version)
    for record in REGISTRY.values()
    for shape in record.value.shapes
    for version in range(shape.first, shape.last + 1)
]


@dataclass(frozen=True)
class Drawn:
    """A record: what it says, and its bytes."""

    kept: Kept
    key: Values
    value: Values | None
    key_bytes: bytes
    value_bytes: bytes | None


class Draw:
    def __init__(self, chance: random.Random, *, is_large: bool = True) -> None:
        self.chance = chance
        self.is_large = is_large

    def rarely(self, share: float) -> bool:
        return self.chance.random() < share

    def record(self, kept: Kept, tombstones: float = 0.1) -> Drawn:
        key = self.values(layout(kept.record.key, 0, is_flexible=False), 0)
        key_bytes = encode_key(kept.record, key)
        if self.rarely(tombstones):
            return Drawn(kept, key, None, key_bytes, None)
        value = self.values(kept.shape.layout(kept.version), kept.version)
        return Drawn(kept, key, value, key_bytes, encode_value(kept.shape, kept.version, value))

    def records(self, each: int) -> Iterator[Drawn]:
        for kept in EVERY_LAYOUT:
            for _ in range(each):
                yield self.record(kept)

    def values(self, fields: Layout, version: int, depth: int = 0) -> Values:
        drawn = {field.name: self.field(field, fields.is_flexible, version, depth) for field in fields.fields}
        for field in fields.tagged:
            if self.rarely(0.5):
                drawn[field.name] = self.field(field, True, version, depth)
        if fields.is_flexible and self.rarely(0.05):
            tags = sorted(self.chance.sample((5, 9, 127, 128, 2**31 - 1), self.chance.choice((1, 1, 2))))
            drawn[UNKNOWN_TAGS] = [(tag, self.raw()) for tag in tags]
        return drawn

    def field(self, field: Field, is_flexible: bool, version: int, depth: int) -> Any:
        if field.nullable and self.rarely(0.3):
            return None
        return self.one(field.type, is_flexible, version, depth)

    def one(self, kind: FieldType, is_flexible: bool, version: int, depth: int) -> Any:
        match kind:
            case Struct(_, fields):
                return self.values(layout(fields, version, is_flexible), version, depth + 1)
            case Array(of):
                return [self.one(of, is_flexible, version, depth + 1) for _ in range(self.count(of, depth))]
            case Kind.STRING | Kind.JAVA_UTF | Kind.UTF16_CHARS:
                return self.text()
            case Kind.BYTES:
                return self.raw()
            case Kind.UUID:
                return ZERO_UUID if self.rarely(0.1) else self.uuid()
            case _:
                return self.number(kind)

    def count(self, of: Kind | Struct, depth: int) -> int:
        # Long arrays of long arrays would make records of megabytes.
        is_long = self.is_large and self.rarely(0.01 if depth == 0 or not isinstance(of, Struct) else 0)
        return self.chance.choice(RARE_COUNTS if is_long else COUNTS)

    def text(self) -> str:
        if self.is_large and self.rarely(0.0003):
            return "x" * LONGEST_TEXT
        size = self.size()
        if self.rarely(0.5):
            return ("consumer-group-7." * 18)[:size]
        return "".join(self.chance.choices(CHARACTERS, k=size))

    def raw(self) -> bytes:
        return self.chance.randbytes(self.size())

    def size(self) -> int:
        return self.chance.choice(RARE_TEXT_SIZES if self.is_large and self.rarely(0.03) else TEXT_SIZES)

    def uuid(self) -> str:
        return base64.urlsafe_b64encode(self.chance.randbytes(16)).decode().rstrip("=")

    def number(self, kind: Kind) -> int:
        bits = 8 * FIXED_SIZES[kind]
        lowest = 0 if kind is Kind.UINT16 else -(2 ** (bits - 1))
        highest = lowest + 2**bits - 1
        if self.rarely(0.3):
            return self.chance.choice((lowest, highest, max(lowest, -1), 0, 1))
        return self.chance.choice((self.chance.randint(lowest, highest), self.chance.randint(0, 100)))
