"""Decoded records as lines of JSON or CSV, as `groupscope dump` prints them, a chunk of records at a time."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.words.records import NONE, ControlType
from udfs.arrays.big_endian import Positions
from udfs.decoding.decode import CONTROL, Decoded, Part, Reject
from udfs.framing.log_bytes.framed_records import Records, Rejected
from udfs.lines.joined_lines import lines_in_order
from udfs.lines.json_text import Pieces, escaped, join_pieces, struct_text, text_of
from udfs.lines.payload_text import PayloadTexts
from udfs.lines.record_texts import rejected_fields, type_name, value_text

COLUMNS = (
    "offsets_partition",
    "offset",
    "timestamp_ms",
    "partition_leader_epoch",
    "producer_id",
    "producer_epoch",
    "is_transactional",
    "is_control",
    "record_type",
    "type",
    "key",
    "value",
    "value_version",
    "rejected",
    "key_hex",
    "value_hex",
    "source_file",
    "byte_position",
    "size_bytes",
)


@dataclass(frozen=True)
class Selection:
    """Which records are wanted. Rejected ones have no group, so a pattern leaves them out."""

    record_types: frozenset[int] | None = None
    group: re.Pattern[str] | None = None

    def rows_of(self, part: Part) -> Positions | None:
        """The wanted rows of a part; None for all."""
        if self.record_types is not None and part.record_type not in self.record_types:
            return np.zeros(0, np.int64)
        if self.group is None:
            return None
        if part.record_type == CONTROL:
            return np.zeros(0, np.int64)
        groups = part.key.field(0).dictionary_encode()
        is_wanted = np.array([self.group.search(group.as_py()) is not None for group in groups.dictionary], bool)
        return np.flatnonzero(is_wanted[groups.indices.to_numpy()])

    def has_reject(self, reject: Reject) -> bool:
        if self.group is not None:
            return False
        return self.record_types is None or reject.record_type in self.record_types

    def has_ranges(self) -> bool:
        return self.group is None and self.record_types is None


@dataclass(frozen=True)
class Writer:
    """Writes the lines of one file's records."""

    offsets_partition: int | None
    source_file: str
    is_csv: bool = False
    selection: Selection = Selection()
    payload_texts: PayloadTexts = field(default_factory=PayloadTexts)  # shared by the files of one run

    def lines(self, records: Records, decoded: Decoded) -> pa.Buffer:
        texts: list[Pieces] = []
        rows: list[Positions] = []
        for part in decoded.parts:
            picked = self.selection.rows_of(part)
            wanted = part if picked is None else take_part(part, picked)
            if len(wanted.rows):
                texts.append(self.part_lines(records, wanted))
                rows.append(wanted.rows)
        rejects = [reject for reject in decoded.rejects if self.selection.has_reject(reject)]
        if rejects:
            texts.append([pa.array([self.reject_line(records, reject) for reject in rejects])])
            rows.append(np.array([reject.row for reject in rejects]))
        return lines_in_order(texts, rows)

    def part_lines(self, records: Records, part: Part) -> Pieces:
        fields: dict[str, Pieces] = {
            **envelope(records, part.rows, self.offsets_partition),
            "record_type": [json.dumps(None if part.record_type == CONTROL else part.record_type)],
            "type": type_text(part),
            "key": struct_text(part.key),
            "value": value_text(part, self.payload_texts),
            "value_version": [json.dumps(part.value_version)],
        }
        return csv_line(fields, len(part.rows)) if self.is_csv else json_line(fields)

    def reject_line(self, records: Records, reject: Reject) -> str:
        row = np.array([reject.row])
        fields = {
            **json.loads(join_pieces(json_line(envelope(records, row, self.offsets_partition)), 1)[0].as_py()),
            "record_type": reject.record_type,
            "type": type_name(reject.record_type),
            "rejected": rejected_fields(reject.part, reject),
            "key_hex": hex_at(records.keys.bytes_at(reject.row)),
            "value_hex": hex_at(records.values.bytes_at(reject.row)),
        }
        return self.one_line(fields)

    def range_line(self, rejected: Rejected) -> pa.Buffer:
        """A range of bytes that no record could be read from."""
        if not self.selection.has_ranges():
            return pa.py_buffer(b"")
        fields = {
            "offsets_partition": self.offsets_partition,
            "source_file": self.source_file,
            "byte_position": rejected.byte_position,
            "size_bytes": rejected.size_bytes,
            "rejected": rejected_fields("batch", rejected),
        }
        # A file's name may hold bytes that are no text; replaced so, they stand as escapes that JSON knows.
        return pa.py_buffer(self.one_line(fields).encode(errors="backslashreplace"))

    def one_line(self, fields: Mapping[str, Any]) -> str:
        if not self.is_csv:
            return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"
        return ",".join(csv_cell(fields.get(name)) for name in COLUMNS) + "\n"


def csv_header() -> bytes:
    return (",".join(COLUMNS) + "\n").encode()


def csv_cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text


def take_part(part: Part, rows: Positions) -> Part:
    picked = pa.array(rows)
    value = part.value if part.value is None else part.value.take(picked)
    return Part(part.record_type, part.value_version, part.rows[rows], part.key.take(picked), value)


def hex_at(raw: bytes | None) -> str | None:
    return None if raw is None else raw.hex()


def number_or_null(values: NDArray[Any]) -> Pieces:
    return text_of(pa.array(values, mask=values == NONE))


def boolean(values: NDArray[np.bool_]) -> Pieces:
    return ["true" if values[0] else "false"] if (values == values[0]).all() else [pa.array(values).cast(pa.string())]


def envelope(records: Records, rows: Positions, offsets_partition: int | None) -> dict[str, Pieces]:
    return {
        "offsets_partition": [json.dumps(offsets_partition)],
        "offset": text_of(pa.array(records.offset[rows])),
        "timestamp_ms": number_or_null(records.timestamp_ms[rows]),
        "partition_leader_epoch": number_or_null(records.partition_leader_epoch[rows]),
        "producer_id": number_or_null(records.producer_id[rows]),
        "producer_epoch": number_or_null(records.producer_epoch[rows]),
        "is_transactional": boolean(records.is_transactional[rows]),
        "is_control": boolean(records.is_control[rows]),
    }


def json_line(fields: Mapping[str, Pieces]) -> Pieces:
    pieces: Pieces = []
    for name, text in fields.items():
        pieces += [("," if pieces else "{") + f'"{name}":', *text]
    return [*pieces, "}\n"]


def csv_line(fields: Mapping[str, Pieces], rows: int) -> Pieces:
    pieces: Pieces = []
    for name in COLUMNS:
        if pieces:
            pieces.append(",")
        pieces += csv_pieces(fields.get(name, []), rows)
    return [*pieces, "\n"]


def csv_pieces(text: Pieces, rows: int) -> Pieces:
    """JSON text as a cell: null is an empty one, text that holds quotes or commas is quoted."""
    match text:
        case ['"', *name, '"']:  # a string is its own text; those of this kind hold nothing that JSON escapes
            text = name
    if all(isinstance(piece, str) for piece in text):
        constant = "".join(piece for piece in text if isinstance(piece, str))
        return [csv_cell(None if constant in ("null", "") else json.loads(constant))]
    cells = join_pieces(text, rows)
    cells = pc.if_else(pc.equal(cells, "null"), "", cells)
    needs_quotes = pc.match_substring_regex(cells, '[",]')
    if not pc.any(needs_quotes).as_py():
        return [cells]
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(cells, '"', '""'), '"', "")
    return [pc.if_else(needs_quotes, quoted, cells)]


def type_text(part: Part) -> Pieces:
    if part.record_type != CONTROL:
        return [f'"{type_name(part.record_type)}"']
    names = pa.array([ControlType(code.as_py()).name for code in part.key.field("type")])
    return ['"', escaped(names), '"']
