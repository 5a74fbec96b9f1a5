"""Arrow types of declared records."""

import pyarrow as pa

from schemas.fields import Array, Field, FieldType, Layout, Message, RecordType, Struct, layout
from udfs.decoding.messages.programs import SCALARS


def layout_type(fields: Layout, version: int) -> pa.StructType:
    """The type of one version of one shape."""
    present = (*fields.fields, *fields.tagged)
    return pa.struct([(field.name, field_type(field.type, version, fields.is_flexible)) for field in present])


def field_type(kind: FieldType, version: int, is_flexible: bool) -> pa.DataType:
    match kind:
        case Array(of):
            return pa.list_(field_type(of, version, is_flexible))
        case Struct(_, fields):
            return layout_type(layout(fields, version, is_flexible), version)
        case _:
            return SCALARS[kind]


def message_type(message: Message) -> pa.StructType:
    """The type for all versions and shapes: fields that one of them lacks are null there."""
    types = [
        layout_type(shape.layout(version), version)
        for shape in message.shapes
        for version in range(shape.last, shape.first - 1, -1)
    ]
    merged = types[0]
    for other in types[1:]:
        merged = merge(merged, other)
    return merged


def merge(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    if pa.types.is_list(first):
        return pa.list_(merge(first.value_type, second.value_type))
    if not pa.types.is_struct(first):
        if first != second:
            raise TypeError(f"fields of one name have the types {first} and {second}")
        return first
    fields = {field.name: field.type for field in first}
    for field in second:
        fields[field.name] = merge(fields[field.name], field.type) if field.name in fields else field.type
    return pa.struct(list(fields.items()))


def key_type(key: tuple[Field, ...]) -> pa.StructType:
    return layout_type(layout(key, 0, is_flexible=False), 0)


def record_schema(record: RecordType) -> pa.Schema:
    """Key and value of a record type as two structs; a tombstone's value is null."""
    return pa.schema(
        [pa.field("key", key_type(record.key), nullable=False), pa.field("value", message_type(record.value))]
    )


def conform(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """The array with a type that may have more fields; fields that it lacks are null."""
    if array.type == wanted:
        return array
    if pa.types.is_list(wanted):
        # Built from buffers, since ListArray.from_arrays does not accept the nulls of a slice.
        items = conform(array.values, wanted.value_type)
        return pa.Array.from_buffers(wanted, len(array), array.buffers()[:2], offset=array.offset, children=[items])
    children = [
        conform(array.field(field.name), field.type)
        if array.type.get_field_index(field.name) >= 0
        else pa.nulls(len(array), field.type)
        for field in wanted
    ]
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())
