"""Archives of JSON lines: each line becomes a row, or is kept with the reason why it is not a record."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.records import OFFSETS_TOPIC, RejectReason
from udfs.sources.archive_line_columns import Unusual, usual_rows
from udfs.sources.archive_rows import ARCHIVE_ROWS, COLUMNS, FOLDER_COLUMNS, IS_OTHER_TOPIC, ArchiveColumn, Kind

LINE_ROWS = pa.schema([*ARCHIVE_ROWS, IS_OTHER_TOPIC])
INTEGER_TEXT = re.compile(r"-?[0-9]{1,19}")
INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?(?:Z|z|([+-])(\d\d):?(\d\d)?)?", re.ASCII
)
INSTANT_EXPECTED = "milliseconds since 1970 or ISO 8601 expected"
# Text longer than that is cut where a detail shows it.
SHOWN = 60
# Lines that base64 breaks into, where it is written as mails are.
MIME_LINE = 76


class BadLine(Exception):
    def __init__(self, reason: RejectReason, field: str | None, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.field = field


@dataclass
class ReadLine:
    """What was read of one line, and the first thing that could not be."""

    values: dict[str, Any]
    error: BadLine | None = None


def line_rows(lines: pa.Array, files: pa.Array) -> pa.RecordBatch:
    """Rows of LINE_ROWS for the lines that hold anything; `files`: the file of each line."""
    folders = {file: folder_columns(file) for file in pc.unique(files).to_pylist()}
    filled = [(line, file) for line, file in zip(lines.to_pylist(), files.to_pylist(), strict=True) if line.strip()]
    try:
        columns = usual_rows([line for line, _ in filled], [folders[file] for _, file in filled])
    except Unusual:
        return pa.RecordBatch.from_pylist([line_row(line, file, folders[file]) for line, file in filled], LINE_ROWS)
    columns["source_file"] = pa.array([file for _, file in filled], pa.string())
    columns[IS_OTHER_TOPIC.name] = pa.repeat(False, len(filled))
    rows = [columns.get(each.name, pa.nulls(len(filled), each.type)).cast(each.type) for each in LINE_ROWS]
    return pa.RecordBatch.from_arrays(rows, schema=LINE_ROWS)


def archive_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For mapInArrow, on frames of `line BINARY, source_file STRING`."""
    for batch in batches:
        yield line_rows(batch.column("line"), batch.column("source_file"))


def folder_columns(file: str) -> dict[str, str]:
    """Columns that folders of the file are named after, as Spark writes them: /partition=3/."""
    matches = {name: re.search(f"/{name}=([^/]+)/", file) for name in FOLDER_COLUMNS}
    return {name: match[1] for name, match in matches.items() if match}


def line_row(line: bytes, file: str, folder: Mapping[str, str]) -> dict[str, Any]:
    row = ReadLine({"source_file": file, "has_producers": False, "is_other_topic": False})
    try:
        fields = {**folder, **json_object(line)}
    except BadLine as error:
        return with_problem(row, line, error)
    topic = fields.get("topic")
    if isinstance(topic, str) and topic != OFFSETS_TOPIC:
        return {**row.values, "is_other_topic": True}
    read_columns(row, fields)
    return with_problem(row, line, row.error) if row.error else row.values


def json_object(line: bytes) -> dict[str, Any]:
    # Also too long numbers and too deep nesting, which are errors of other kinds.
    try:
        fields = json.loads(line.decode())
    except UnicodeDecodeError as error:
        detail = f"byte {error.object[error.start]:#04x} at position {error.start} of the line is not UTF-8"
        raise BadLine(RejectReason.BAD_JSON, None, detail) from None
    except json.JSONDecodeError as error:
        raise BadLine(RejectReason.BAD_JSON, None, f"{error.msg} at character {error.pos}") from None
    except (ValueError, RecursionError) as error:
        raise BadLine(RejectReason.BAD_JSON, None, str(error)[:SHOWN]) from None
    if not isinstance(fields, dict):
        raise BadLine(RejectReason.BAD_JSON, None, f"{quote_value(fields)}, an object expected")
    return fields


def read_columns(row: ReadLine, fields: Mapping[str, Any]) -> None:
    """All columns that can be read; of those that cannot, the first is named."""
    for column in COLUMNS:
        try:
            value = read_column(column, fields.get(column.name))
        except BadLine as error:
            row.error = row.error or error
            continue
        if column.kind is not Kind.TEXT:
            row.values["timestamp_ms" if column.kind is Kind.TIME else column.name] = value
    # Writers leave null fields out, so a missing producer id is none; the flags are never null.
    row.values["has_producers"] = all(fields.get(name) is not None for name in ("is_transactional", "is_control"))
    if row.error is None and row.values["is_transactional"] and row.values["producer_id"] is None:
        row.error = BadLine(
            RejectReason.BAD_COLUMN, "producer_id", "null although is_transactional is true: the record needs one"
        )


def read_column(column: ArchiveColumn, value: Any) -> object:
    if value is None:
        if not column.has_nulls:
            raise BadLine(RejectReason.BAD_COLUMN, column.name, "null or missing")
        return None
    return READERS[column.kind](column, value)


def text(column: ArchiveColumn, value: Any) -> str:
    if not isinstance(value, str):
        raise BadLine(RejectReason.BAD_COLUMN, column.name, f"{quote_value(value)}, a string expected")
    return value


def integer(column: ArchiveColumn, value: Any) -> int:
    number = whole_number(value)
    if number is None or not column.lowest <= number <= column.highest:
        raise BadLine(RejectReason.BAD_COLUMN, column.name, f"{quote_value(value)}, {column.expected_text} expected")
    return number


def whole_number(value: Any) -> int | None:
    """Also in quotes, as those write it whose own numbers are too short."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, str) and INTEGER_TEXT.fullmatch(value) else None


def flag(column: ArchiveColumn, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadLine(RejectReason.BAD_COLUMN, column.name, f"{quote_value(value)}, true or false expected")
    return value


def time_ms(column: ArchiveColumn, value: Any) -> int:
    number = whole_number(value)
    if number is None and isinstance(value, str):
        number = instant_ms(value)
    if number is None or not column.lowest <= number <= column.highest:
        raise BadLine(RejectReason.BAD_COLUMN, column.name, f"{quote_value(value)}, {INSTANT_EXPECTED}")
    return number


def instant_ms(value: str) -> int | None:
    """ISO 8601, UTC when without a zone; what is finer than a millisecond is cut."""
    match = INSTANT.fullmatch(value)
    if match is None:
        return None
    day, clock, fraction, sign, hours, minutes = match.groups()
    try:
        whole = int(np.datetime64(f"{day}T{clock}", "ms").astype(np.int64))
    except ValueError:  # such as February 30
        return None
    zone = int(hours or 0) * 60 + int(minutes or 0)
    return whole + int((fraction or "0")[:3].ljust(3, "0")) + (zone if sign == "-" else -zone) * 60_000


def base64_bytes(column: ArchiveColumn, value: Any) -> bytes:
    """Decoders leave out what they do not know, and take text that has lost its end: only what encodes to the same
    text again is taken."""
    if not isinstance(value, str):
        raise BadLine(RejectReason.BAD_COLUMN, column.name, f"{quote_value(value)}, a string in base64 expected")
    try:
        raw = binascii.a2b_base64(value)
    except ValueError as error:
        raise BadLine(RejectReason.BAD_BASE64, column.name, f"{quote_value(value)}: {error}") from None
    encoded = base64.b64encode(raw).decode()
    if encoded != value and mime_lines(encoded) != value:
        raise BadLine(
            RejectReason.BAD_BASE64,
            column.name,
            f"{quote_value(value)} is not canonical base64: its bytes encode to another text",
        )
    return raw


def mime_lines(encoded: str) -> str:
    """As Spark's own base64 function writes long texts before 4.0."""
    return "\r\n".join(encoded[start : start + MIME_LINE] for start in range(0, len(encoded), MIME_LINE))


READERS: Mapping[Kind, Callable[[ArchiveColumn, Any], object]] = {
    Kind.TEXT: text,
    Kind.INTEGER: integer,
    Kind.TIME: time_ms,
    Kind.BYTES: base64_bytes,
    Kind.FLAG: flag,
}


def with_problem(row: ReadLine, line: bytes, error: BadLine) -> dict[str, Any]:
    return {
        **row.values,
        "raw": line,
        "problem": error.reason.value,
        "problem_field": error.field,
        "problem_detail": str(error),
    }


def quote_value(value: object) -> str:
    # In ASCII: JSON may hold half of a surrogate pair, which is no text elsewhere.
    whole = json.dumps(value)
    return whole if len(whole) <= SHOWN else f"{whole[:SHOWN]}…"
