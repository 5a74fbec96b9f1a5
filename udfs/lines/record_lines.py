"""Decoded records as lines of JSON or CSV, as `groupscope dump` prints them, a chunk of records at a time."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from schemas.words.records import NONE, ControlType
from udfs.arrays.big_endian import Positions
from udfs.decoding.decode import CONTROL, Decoded, Part, Reject
from udfs.framing.log_bytes.framed_records import Records, Rejected
from udfs.lines.line_steps import NULL, PLAIN, Memory, Steps, Style
from udfs.lines.payload_text import PayloadTexts
from udfs.lines.record_texts import rejected_fields, type_name, value_style
from udfs.lines.written_lines import lines_in_order

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
# Columns of a record that may hold -1 for nothing, and columns of yes and no.
NUMBERS = ("timestamp_ms", "partition_leader_epoch", "producer_id", "producer_epoch")
FLAGS = ("is_transactional", "is_control")
# The columns that only lines about what cannot be decoded have, and the end of a line.
CSV_REST = "," * (len(COLUMNS) - 1 - COLUMNS.index("value_version")) + "\n"


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

    def lines(self, records: Records, decoded: Decoded) -> Iterator[pa.Buffer]:
        programs: list[Steps] = []
        rows: list[Positions] = []
        memory = Memory()
        around = self.envelope(records, memory)
        for part in decoded.parts:
            picked = self.selection.rows_of(part)
            wanted = part if picked is None else take_part(part, picked)
            if len(wanted.rows):
                programs.append(self.part_line(around.copy(), wanted))
                rows.append(wanted.rows)
        rejects = [reject for reject in decoded.rejects if self.selection.has_reject(reject)]
        if rejects:
            programs.append(Steps(memory))
            programs[-1].text(pa.array([self.reject_line(records, reject) for reject in rejects]))
            programs[-1].end()
            rows.append(np.array([reject.row for reject in rejects]))
        return lines_in_order(programs, rows, len(records))

    def envelope(self, records: Records, memory: Memory) -> Steps:
        """Where lines of all parts begin."""
        steps = Steps(memory)
        unknown = "" if self.is_csv else NULL
        self.constant(steps, "offsets_partition", self.offsets_partition)
        self.name(steps, "offset")
        steps.record_number(records.offset, may_be_unknown=False)
        for name in NUMBERS:
            self.name(steps, name)
            steps.record_number(getattr(records, name), otherwise=unknown)
        for name in FLAGS:
            self.name(steps, name)
            steps.record_boolean(getattr(records, name))
        return steps

    def part_line(self, steps: Steps, part: Part) -> Steps:
        self.constant(steps, "record_type", None if part.record_type == CONTROL else part.record_type)
        if part.record_type == CONTROL:
            self.name(steps, "type")
            self.marker_names(steps, part.key.field("type"))
        else:
            self.constant(steps, "type", type_name(part.record_type))
        self.object(steps, "key", part.key)
        if part.value is None:
            self.constant(steps, "value", None)
        else:
            self.object(steps, "value", part.value, value_style(part, self.payload_texts))
        self.constant(steps, "value_version", part.value_version)
        steps.say(CSV_REST if self.is_csv else "}\n")
        steps.end()
        return steps

    def name(self, steps: Steps, name: str) -> None:
        is_first = name == COLUMNS[0]
        if self.is_csv:
            steps.say("" if is_first else ",")
        else:
            steps.say(("{" if is_first else ",") + f'"{name}":')

    def constant(self, steps: Steps, name: str, value: str | int | None) -> None:
        self.name(steps, name)
        steps.say(csv_cell(value) if self.is_csv else json.dumps(value))

    def object(self, steps: Steps, name: str, column: pa.StructArray, style: Style = PLAIN) -> None:
        """In CSV an object is a quoted cell: it has quotes and, mostly, commas."""
        self.name(steps, name)
        with steps.quoted() if self.is_csv else nullcontext():
            steps.struct(column, style=style)

    def marker_names(self, steps: Steps, types: pa.Array) -> None:
        """Names of this kind hold nothing that must be escaped or quoted."""
        quote = "" if self.is_csv else '"'
        steps.say(quote)
        steps.text(pa.array([ControlType(code).name for code in types.to_pylist()], pa.string()))
        steps.say(quote)

    def reject_line(self, records: Records, reject: Reject) -> str:
        row = reject.row
        fields = {
            "offsets_partition": self.offsets_partition,
            "offset": int(records.offset[row]),
            **{name: known_number(getattr(records, name)[row]) for name in NUMBERS},
            **{name: bool(getattr(records, name)[row]) for name in FLAGS},
            "record_type": reject.record_type,
            "type": type_name(reject.record_type),
            "rejected": rejected_fields(reject.part, reject),
            "key_hex": hex_at(records.keys.bytes_at(row)),
            "value_hex": hex_at(records.values.bytes_at(row)),
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
        # A file's name may hold bytes that are no text: they become escapes that JSON knows.
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


def known_number(value: np.integer[Any]) -> int | None:
    return None if value == NONE else int(value)
