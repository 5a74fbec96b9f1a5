"""Decoded records as rows of a table for eyes: where each is, when it was written, its type, key and value."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import pyarrow as pa

from jobs.command_line.values import EPOCH
from jobs.output.rows import time_text

COLUMNS = ("offsets_partition", "offset", "time", "type", "key", "value")
TOMBSTONE = "null"


def record_rows(texts: Iterable[pa.Buffer]) -> Iterator[list[Any]]:
    """`texts`: lines of JSON, as `dump` prints them."""
    for text in texts:
        for line in text.to_pybytes().splitlines():
            yield record_row(json.loads(line))


def record_row(line: Mapping[str, Any]) -> list[Any]:
    where = [line["offsets_partition"], line.get("offset"), moment(line.get("timestamp_ms"))]
    if "rejected" in line:
        return [*where, line.get("type"), None, rejected_text(line)]
    return [*where, line["type"], line["key"], TOMBSTONE if line["value"] is None else line["value"]]


def moment(time_ms: int | None) -> str | None:
    """Whatever the log has: clocks of clients may be of any year."""
    if time_ms is None:
        return None
    try:
        return time_text(EPOCH + timedelta(milliseconds=time_ms))
    except OverflowError:
        return f"{time_ms} ms"


def rejected_text(line: Mapping[str, Any]) -> str:
    """Why there is no value, and where the bytes are when they are not those of a record."""
    rejected = line["rejected"]
    field = f", field {rejected['field']}" if rejected["field"] else ""
    detail = f": {rejected['detail']}" if rejected["detail"] else ""
    place = ""
    if "byte_position" in line:
        place = f"; {line['size_bytes']:,} bytes from byte {line['byte_position']:,} of {line['source_file']}"
    return f"rejected: {rejected['reason']} in its {rejected['part']}{field}{detail}{place}"
