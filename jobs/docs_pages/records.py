"""Writes docs/records.md from the declarations. With --check it only says whether the page is current.

python -m jobs.docs_pages.records [--check]
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from jobs.docs_pages.page_file import write_or_check
from schemas import payloads
from schemas.fields import Array, Field, FieldType, Message, RecordType, Shape, Struct
from schemas.records import CONTROL_KEY, CONTROL_VALUE, REGISTRY

PAGE = Path("docs/records.md")

INTRODUCTION = """# Records of `__consumer_offsets`

Generated from `schemas/`: every record type that a release of Kafka has written, in every version, and the payloads
that clients put into classic groups. All integers are big-endian. A key is an int16 record type and then its fields in
classic encoding; a value is an int16 version and then its fields. In *flexible* versions lengths are unsigned varints
of length + 1 and every struct ends with a section of tagged fields; unknown tags are skipped and counted.

Some releases wrote different bytes under the same version number. Then the page lists several layouts, newest first.
They are tried in this order, and the first one that fits the bytes exactly is taken. In "written by", the number in
brackets is the version of the value. "Versions" says which versions of the value have a field. A field with a tag is
not in the bytes if it has its default value.
"""

PAYLOADS = """## Client payloads

Brokers store these bytes without looking at them. If a version is higher than the highest known one, the bytes are read
as the highest known version; further bytes after its fields are ignored. What cannot be read stays as bytes.
"""


def type_name(kind: FieldType) -> str:
    match kind:
        case Array(of):
            return f"[]{type_name(of)}"
        case Struct(name, _):
            return name
        case _:
            return str(kind.value)


def version_range(field: Field) -> str:
    if field.last is None:
        return f"{field.first}+"
    return str(field.first) if field.first == field.last else f"{field.first} to {field.last}"


def field_rows(fields: Iterable[Field], inside: str = "") -> Iterator[str]:
    for field in fields:
        name = f"{inside}{field.name}"
        default = "" if field.default is None else f"`{field.default}`"
        tag = "" if field.tag is None else str(field.tag)
        cells = (
            f"`{name}`",
            type_name(field.type),
            version_range(field),
            "yes" if field.nullable else "",
            tag,
            default,
            field.since,
            field.about,
        )
        yield "| " + " | ".join(cells) + " |"
        inner = field.type.of if isinstance(field.type, Array) else field.type
        if isinstance(inner, Struct):
            yield from field_rows(inner.fields, f"{name}.")


def table(fields: Iterable[Field]) -> Iterator[str]:
    yield "| field | type | versions | nullable | tag | default | since | what it is |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from field_rows(fields)
    yield ""


def shape_lines(shape: Shape) -> Iterator[str]:
    versions = f"version {shape.first}" if shape.first == shape.last else f"versions {shape.first} to {shape.last}"
    flexible = "" if shape.flexible_from is None else f", flexible from version {shape.flexible_from}"
    is_declared_only = shape.releases.startswith("declared ")
    written_by = f"D{shape.releases[1:]}" if is_declared_only else f"Written by {shape.releases}"
    yield f"{written_by}; {versions}{flexible}. {shape.provenance}."
    yield ""
    yield from table(shape.fields)


def message_lines(message: Message) -> Iterator[str]:
    yield f"### {message.name}"
    yield ""
    for shape in message.shapes:
        yield from shape_lines(shape)


def record_lines(record: RecordType) -> Iterator[str]:
    yield f"## {record.number} {record.name}"
    yield ""
    yield f"{record.about} Written by: {record.written_by}."
    yield ""
    yield f"Key: {', '.join(f'`{field.name}` {type_name(field.type)}' for field in record.key)}."
    yield ""
    yield from message_lines(record.value)


def payload_lines() -> Iterator[str]:
    yield PAYLOADS
    for message in (
        payloads.SUBSCRIPTION,
        payloads.ASSIGNMENT,
        payloads.STREAMS_SUBSCRIPTION,
        payloads.STREAMS_ASSIGNMENT,
        payloads.CONNECT_SUBSCRIPTION,
        payloads.CONNECT_ASSIGNMENT,
    ):
        yield from message_lines(message)
    for name, forms in (
        ("User data of `sticky`", payloads.STICKY_FORMS),
        ("User data of `cooperative-sticky`", payloads.COOPERATIVE_STICKY_FORMS),
    ):
        yield f"### {name}"
        yield ""
        for form in forms:
            yield from shape_lines(form)
    yield "### Schema Registry"
    yield ""
    yield "The subscription and the assignment are JSON objects; every key is kept."
    yield ""


def page() -> str:
    lines = [INTRODUCTION]
    for record in REGISTRY.values():
        lines += record_lines(record)
    lines += ["## Control records", ""]
    for message in (CONTROL_KEY, CONTROL_VALUE):
        lines += message_lines(message)
    lines += payload_lines()
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), "jobs.docs_pages.records", sys.argv[1:]))
