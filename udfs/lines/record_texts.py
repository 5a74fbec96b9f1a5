"""How a record's value is written, with the payloads of its members, and the reason why a record could not be decoded.
`record_lines` and `record_structs` both use it."""

import pyarrow as pa
import pyarrow.compute as pc

from schemas.fields import Array, FieldType, Kind, Struct
from schemas.records import ASSIGNMENT, CONSUMER, REGISTRY, SUBSCRIPTION
from udfs.decoding.decoded import Part, Reject
from udfs.framing.log_bytes.framed_records import Rejected
from udfs.lines.line_steps import Style
from udfs.lines.payload_kinds import distinct_kinds
from udfs.lines.payload_text import PayloadTexts

# Records whose members carry client payloads.
GROUP_METADATA, CONSUMER_MEMBER_METADATA = 2, 5


def omitted_names(kind: FieldType) -> set[str]:
    match kind:
        case Array(of):
            return omitted_names(of)
        case Struct(_, fields):
            own = {field.name for field in fields if field.tag is not None and not field.nullable}
            return own.union(*(omitted_names(field.type) for field in fields))
        case Kind():
            return set()


# A tagged field that is not in the bytes has its default and is left out, as Kafka's own JSON does. Where null is a
# value too, brokers write it out, so that one is always shown.
OMITTED = frozenset().union(
    *(omitted_names(Struct("", shape.fields)) for record in REGISTRY.values() for shape in record.value.shapes)
)


def value_style(part: Part, payload_texts: PayloadTexts) -> Style:
    return Style(member_payloads(part.record_type, part.value, payload_texts), OMITTED)


def member_payloads(record_type: int, value: pa.StructArray, payload_texts: PayloadTexts) -> dict[str, pa.StringArray]:
    """Text of the payloads that classic members carry, in the place of their bytes."""
    if record_type == GROUP_METADATA:
        members = value.field("members")
        codes, kinds = distinct_kinds(value.field("protocol_type"), value.field("protocol"))
        codes = codes[pc.list_parent_indices(members).to_numpy()]
        return {
            name: payload_texts.texts(kinds, codes, members.flatten().field(name), message)
            for name, message in (("subscription", SUBSCRIPTION), ("assignment", ASSIGNMENT))
        }
    if record_type == CONSUMER_MEMBER_METADATA and value.type.get_field_index("classic_member_metadata") >= 0:
        offered = pc.struct_field(value, ["classic_member_metadata", "supported_protocols"]).flatten()
        names, metadata = (pc.struct_field(offered, name) for name in ("name", "metadata"))
        codes, kinds = distinct_kinds(pa.array([CONSUMER] * len(offered), pa.string()), names)
        return {"metadata": payload_texts.texts(kinds, codes, metadata, SUBSCRIPTION)}
    return {}


def type_name(record_type: int | None) -> str | None:
    return REGISTRY[record_type].name if record_type in REGISTRY else None


def rejected_fields(part: str, rejected: Reject | Rejected) -> dict[str, str | None]:
    return {"part": part, "field": rejected.field or None, "reason": rejected.reason, "detail": rejected.detail}
