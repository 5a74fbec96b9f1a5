"""The decoder: keys and values of many records in, typed Arrow columns and rejects out.

    decoded = decode(records.keys, records.values, records.is_control)
    for part in decoded.parts:          # by record type, value version and shape, long ones in pieces, tombstones apart
        part.rows, part.key, part.value # row numbers of the input, struct of the key's fields, struct of the value's
    decoded.rejects                     # one per record that could not be decoded: row, part, field, reason, detail

Total: each row becomes part of exactly one part or one reject. Records are grouped by type, version and shape, and each
group is read by one loop (`messages`). Rows that do not fit are read again one by one, to find out why.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.fields import INT16_MAX, Layout, RecordType, layout
from schemas.records import CONTROL_KEY, CONTROL_VALUE, REGISTRY
from schemas.words.records import ControlType, RejectReason
from schemas.words.records import Part as RecordPart
from udfs.arrays.big_endian import Positions
from udfs.arrays.slices import Slices
from udfs.codes.kernels import counting_order
from udfs.decoding.arrow_types import layout_type
from udfs.decoding.decoded import CONTROL, Decoded, Part, Reject
from udfs.decoding.equal_keys import equal_keys
from udfs.decoding.kernels import FIRST_KIND, KINDS_OF_TYPE, NO_KIND, TOMBSTONE, read_kinds
from udfs.decoding.messages.columns import Columns, prefixes, read_columns, without
from udfs.decoding.scalar_reader import Malformed, read_message
from udfs.decoding.steps.kernels import PREFIX

# With more rows of one kind, their data exceeds the cache, and each row costs half as much more.
ROWS_AT_ONCE = 32_768
COMMON_ROWS = ROWS_AT_ONCE // 8
# More would not stay in the cache until it is used.
MOST_READ_AHEAD = 16 << 20
# The lowest and the highest value version of each record type.
VERSIONS = np.array([[1, 0]] * (max(REGISTRY) + 1))
VERSIONS[list(REGISTRY)] = [(record.value.lowest_version, record.value.highest_version) for record in REGISTRY.values()]


def decode(keys: Slices, values: Slices, is_control: NDArray[np.bool_], *, may_share_keys: bool = False) -> Decoded:
    """`may_share_keys`: the caller uses `Part.key_of_row`."""
    decoder = Decoder(keys, values, may_share_keys)
    if is_control.any():
        decoder.decode_markers(np.flatnonzero(is_control))
        decoder.decode_records(np.flatnonzero(~is_control))
    else:
        decoder.decode_records(np.arange(len(keys)))
    decoded = decoder.decoded
    # A record must never be lost in silence.
    num_rows = sum(len(part.rows) for part in decoded.parts) + len(decoded.rejects)
    assert num_rows == len(keys), f"{len(keys)} records were to be decoded, {num_rows} were"
    return decoded


def pieces(rows: Positions) -> list[Positions]:
    """Parts of about equal size: the data of one stays in the processor's cache until its columns are made."""
    return np.array_split(rows, -(-len(rows) // ROWS_AT_ONCE)) if len(rows) > ROWS_AT_ONCE else [rows]


def rows_by_number(rows: Positions, numbers: Positions) -> Iterator[tuple[int, Positions]]:
    """The rows of each number, in their order."""
    counts = np.bincount(numbers)
    present = np.flatnonzero(counts).tolist()
    if len(present) == 1:
        yield present[0], rows
        return
    order, ends = counting_order(numbers, len(counts)), np.cumsum(counts)
    for number in present:
        yield number, rows[order[ends[number] - counts[number] : ends[number]]]


def some_keys(keys: Columns, rows: Positions, *, are_own: bool = False) -> Columns:
    """The keys of some rows. `are_own`: each row gets its own copy."""
    places, shared = np.searchsorted(keys.rows, rows), keys.value_of_row
    if shared is not None and not are_own:
        return replace(keys, rows=rows, value_of_row=shared[places])
    taken = places if shared is None else shared[places]
    return replace(keys, rows=rows, values=keys.values.take(pa.array(taken)), value_of_row=None)


def in_sequence(slices: Slices) -> Slices:
    """As loops take them: not every second number of an array."""
    return Slices(slices.data, np.ascontiguousarray(slices.start), np.ascontiguousarray(slices.length))


@dataclass(frozen=True)
class Side:
    """Keys or values of one call, and their name in rejects."""

    part: RecordPart
    slices: Slices
    missing: RejectReason
    empty: RejectReason

    def number_at(self, row: int) -> int:
        """The int16 at the start: a key's record type, a value's version."""
        raw = self.slices.bytes_at(row)
        if raw is None or len(raw) < PREFIX:
            reason = self.missing if raw is None else RejectReason.UNDERRUN if raw else self.empty
            detail = "null" if raw is None else f"{len(raw)} bytes, at least {PREFIX} expected"
            raise Malformed(reason, detail)
        return int.from_bytes(raw[:PREFIX], signed=True)


class Decoder:
    """One call's records, and their results so far."""

    def __init__(self, keys: Slices, values: Slices, may_share_keys: bool) -> None:
        self.may_share_keys = may_share_keys
        keys, values = in_sequence(keys), in_sequence(values)
        self.keys = Side(RecordPart.KEY, keys, RejectReason.NULL_KEY, RejectReason.UNDERRUN)
        self.values = Side(RecordPart.VALUE, values, RejectReason.EMPTY_VALUE, RejectReason.EMPTY_VALUE)
        self.decoded = Decoded()

    def reject(self, row: int, record_type: int | None, part: RecordPart, error: Malformed) -> None:
        self.decoded.rejects.append(Reject(row, record_type, part, error.field, error.reason, error.detail))

    def read(
        self, side: Side, rows: Positions, record_type: int | None, fields: Layout, is_open_ended: bool = False
    ) -> Columns:
        """Reads messages of a single layout. Those that do not fit are rejected."""
        columns = read_columns(side.slices, rows, fields, 0, is_open_ended)
        for row in without(rows, columns.rows).tolist():
            try:
                read_message(side.slices.bytes_at(row) or b"", fields, 0, PREFIX, is_open_ended)
            except Malformed as error:
                self.reject(row, record_type, side.part, error)
        return columns

    # data records

    def decode_records(self, rows: Positions) -> None:
        """Common kinds piece by piece, rare ones together at the end: a part of any size has a fixed cost."""
        rare: dict[int, list[Positions]] = {}
        for piece in pieces(rows):
            self.read_ahead(piece)
            for kind, mine in rows_by_number(piece, self.kinds(piece)):
                if len(mine) >= COMMON_ROWS:
                    self.decode_kind(kind, mine)
                else:
                    rare.setdefault(kind, []).append(mine)
        for kind, together in rare.items():
            for piece in pieces(np.concatenate(together)):
                self.decode_kind(kind, piece)

    def read_ahead(self, rows: Positions) -> None:
        """Reads the bytes of all records in sequence: the processor prefetches these, but not those that a loop reads
        here and there. This costs 7 ns per record and saves 30."""
        keys, values = self.keys.slices, self.values.slices
        if len(rows) and values.data is keys.data:
            start, end = int(keys.start[rows[0]]), int(values.start[rows[-1]])
            if start < end <= start + MOST_READ_AHEAD:
                keys.data[start:end].max()

    def kinds(self, rows: Positions) -> Positions:
        keys, values, kinds = self.keys.slices, self.values.slices, np.empty(len(rows), np.int64)
        read_kinds(keys.data, keys.start, keys.length, values.data, values.start, values.length, rows, VERSIONS, kinds)
        return kinds

    def decode_kind(self, kind: int, rows: Positions) -> None:
        if kind == NO_KIND:
            for row in rows.tolist():
                self.reject_kind(row)
            return
        number, version = divmod(kind - FIRST_KIND, KINDS_OF_TYPE)
        keys = self.read_keys(REGISTRY[number], rows)
        if version != TOMBSTONE:
            self.decode_version(REGISTRY[number], version, keys)
        elif len(keys.rows):
            self.decoded.parts.append(Part(number, None, keys.rows, keys.values, None, key_of_row=keys.value_of_row))

    def reject_kind(self, row: int) -> None:
        """A record of no known kind. A bad key is reported before a bad value."""
        number, side = None, self.keys
        try:
            number = side.number_at(row)
            if number not in REGISTRY:
                known = f"this release knows {min(REGISTRY)} to {max(REGISTRY)}"
                raise Malformed(RejectReason.UNKNOWN_RECORD_TYPE, f"type {number}, {known}")
            record = REGISTRY[number]
            read_message(side.slices.bytes_at(row) or b"", layout(record.key, 0, is_flexible=False), 0, PREFIX)
            side = self.values
            known = f"this release knows {record.value.lowest_version} to {record.value.highest_version}"
            raise Malformed(RejectReason.UNKNOWN_VALUE_VERSION, f"version {side.number_at(row)}, {known}")
        except Malformed as error:
            self.reject(row, number, side.part, error)

    def read_keys(self, record: RecordType, rows: Positions) -> Columns:
        fields = layout(record.key, 0, is_flexible=False)
        equal = equal_keys(self.keys.slices, rows) if self.may_share_keys else None
        if equal is not None:
            columns = read_columns(self.keys.slices, equal.rows, fields, 0)
            if len(columns.rows) == len(equal.rows):
                return replace(columns, rows=rows, value_of_row=equal.key_of_row)
        return self.read(self.keys, rows, record.number, fields)

    def decode_version(self, record: RecordType, version: int, keys: Columns) -> None:
        """Reads values by the first shape that fits them."""
        left, repeat_tags = keys.rows, np.zeros(0, np.int64)
        for shape in record.value.shapes_of(version):
            columns = read_columns(self.values.slices, left, shape.layout(version), version)
            if len(columns.rows):
                of = keys if len(columns.rows) == len(keys.rows) else some_keys(keys, columns.rows)
                part = Part(
                    record_type=record.number,
                    value_version=version,
                    rows=of.rows,
                    key=of.values,
                    value=columns.values,
                    unknown_tags=columns.unknown_tags,
                    key_of_row=of.value_of_row,
                )
                self.decoded.parts.append(part)
            repeat_tags = np.append(repeat_tags, columns.repeat_tags)
            left = without(without(left, columns.rows), columns.repeat_tags)
            if not len(left):
                break
        for row in np.append(left, repeat_tags).tolist():
            self.decode_alone(record, version, row, some_keys(keys, np.array([row]), are_own=True).values)

    def decode_alone(self, record: RecordType, version: int, row: int, key: pa.StructArray) -> None:
        """A value that repeats a tag, or that fits no shape. For the latter, the newest shape gives the reason."""
        failures: list[Malformed] = []
        for shape in record.value.shapes_of(version):
            fields = shape.layout(version)
            try:
                values, unknown_tags = read_message(self.values.slices.bytes_at(row) or b"", fields, version, PREFIX)
            except Malformed as error:
                failures.append(error)
                continue
            value = pa.array([values], layout_type(fields, version))
            self.decoded.parts.append(Part(record.number, version, np.array([row]), key, value, unknown_tags))
            return
        self.reject(row, record.number, RecordPart.VALUE, failures[0])

    # control records: Kafka reads a version above 0 as 0, so more bytes may follow

    def decode_markers(self, rows: Positions) -> None:
        fields = CONTROL_KEY.shapes[0].layout(0)
        for version, mine in self.by_version(self.keys, rows, RejectReason.UNKNOWN_CONTROL_TYPE):
            self.decode_marker_values(
                self.known_markers(self.read(self.keys, mine, None, fields, is_open_ended=version > 0))
            )

    def by_version(self, side: Side, rows: Positions, unknown: RejectReason) -> Iterator[tuple[int, Positions]]:
        for number, mine in rows_by_number(rows, np.maximum(prefixes(side.slices.take(rows)), -1).astype(np.int64) + 1):
            if number > 0:
                yield number - 1, mine
                continue
            for row in mine.tolist():
                try:
                    detail = f"version {side.number_at(row)}, this release knows 0 to {INT16_MAX}"
                    raise Malformed(unknown, detail)
                except Malformed as error:
                    self.reject(row, None, side.part, error)

    def known_markers(self, keys: Columns) -> Columns:
        types = keys.values.field("type").to_numpy()
        is_known = np.isin(types, tuple(ControlType))
        for row, number in zip(keys.rows[~is_known].tolist(), types[~is_known], strict=True):
            error = Malformed(RejectReason.UNKNOWN_CONTROL_TYPE, f"{number}, wanted 0 (ABORT) or 1 (COMMIT)", "type")
            self.reject(row, None, RecordPart.KEY, error)
        return Columns(keys.rows[is_known], keys.values.filter(pa.array(is_known)), 0)

    def decode_marker_values(self, keys: Columns) -> None:
        fields = CONTROL_VALUE.shapes[0].layout(0)
        for version, mine in self.by_version(self.values, keys.rows, RejectReason.UNKNOWN_VALUE_VERSION):
            values = self.read(self.values, mine, None, fields, is_open_ended=version > 0)
            if len(values.rows):
                key = some_keys(keys, values.rows).values
                self.decoded.parts.append(Part(CONTROL, version, values.rows, key, values.values))
