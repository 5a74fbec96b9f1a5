"""The decoder: keys and values of many records in, typed Arrow columns and rejects out.

    decoded = decode(records.keys, records.values, records.is_control)
    for part in decoded.parts:          # by record type, value version and shape, long ones in pieces, tombstones apart
        part.rows, part.key, part.value # row numbers of the input, struct of the key's fields, struct of the value's
    decoded.rejects                     # one per record that could not be decoded: row, part, field, reason, detail

Total: each row becomes part of exactly one part or one reject. Records are grouped by type, version and shape, and each
group is read column by column (`walk`, `gather`). Rows that do not fit are read again one by one, to find out why.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schemas.declarations.fields import Layout, RecordType, layout
from schemas.records import control
from schemas.records.registry import REGISTRY
from schemas.words.records import ControlType, RejectReason
from schemas.words.records import Part as RecordPart
from udfs.arrays.big_endian import Positions, Views
from udfs.arrays.slices import Slices, slices_of
from udfs.decoding.arrow_types import layout_type
from udfs.decoding.columns import PREFIX, Columns, read_columns
from udfs.decoding.equal_keys import equal_keys
from udfs.decoding.scalar_reader import Malformed, read_message

# The record type of parts with transaction markers. No key of a data record can begin with it.
CONTROL = -1
# With more rows of one kind, their data exceeds the cache, and each row costs half as much more.
ROWS_AT_ONCE = 32_768
COMMON_ROWS = ROWS_AT_ONCE // 8
# More would not stay in the cache until it is used.
MOST_READ_AHEAD = 16 << 20


@dataclass(frozen=True)
class Part:
    """Decoded records of one type, value version and shape, in log order. `value_version` is None for tombstones.
    `key_of_row`: which key each row has, if equal keys were decoded once; None: each row has its own."""

    record_type: int
    value_version: int | None
    rows: Positions
    key: pa.StructArray
    value: pa.StructArray | None
    unknown_tags: int = 0
    key_of_row: NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Reject:
    row: int
    record_type: int | None
    part: RecordPart
    field: str
    reason: RejectReason
    detail: str


@dataclass
class Decoded:
    parts: list[Part] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)


def decode_batch(batch: pa.RecordBatch) -> Decoded:
    """The same for an Arrow batch with columns `key`, `value` and, optionally, `is_control`."""
    names = batch.schema.names
    is_control = (
        batch.column("is_control").fill_null(False).to_numpy(zero_copy_only=False)
        if "is_control" in names
        else np.zeros(batch.num_rows, bool)
    )
    return decode(slices_of(batch.column("key")), slices_of(batch.column("value")), is_control)


def decode(keys: Slices, values: Slices, is_control: NDArray[np.bool_], *, may_share_keys: bool = False) -> Decoded:
    """`may_share_keys`: the caller uses `Part.key_of_row`."""
    decoder = Decoder(keys, values, may_share_keys)
    if is_control.any():
        decoder.decode_markers(np.flatnonzero(is_control))
        decoder.decode_records(np.flatnonzero(~is_control))
    else:
        decoder.decode_records(np.arange(len(keys)))
    return decoder.decoded


def pieces(rows: Positions) -> list[Positions]:
    """Parts of about equal size: the data of one stays in the processor's cache until its columns are made."""
    return np.array_split(rows, -(-len(rows) // ROWS_AT_ONCE)) if len(rows) > ROWS_AT_ONCE else [rows]


def some_keys(keys: Columns, places: Positions, *, are_own: bool = False) -> Columns:
    """The keys of some rows. `are_own`: each row gets its own copy."""
    rows, shared = keys.rows[places], keys.value_of_row
    if shared is not None and not are_own:
        return replace(keys, rows=rows, value_of_row=shared[places])
    taken = places if shared is None else shared[places]
    return replace(keys, rows=rows, values=keys.values.take(pa.array(taken)), value_of_row=None)


@dataclass(frozen=True)
class Side:
    """Keys or values of one call, and their name in rejects."""

    part: RecordPart
    slices: Slices
    views: Views
    missing: RejectReason
    empty: RejectReason


class Decoder:
    """One call's records, and their results so far."""

    def __init__(self, keys: Slices, values: Slices, may_share_keys: bool) -> None:
        self.may_share_keys = may_share_keys
        views = Views(keys.data)
        self.keys = Side(RecordPart.KEY, keys, views, RejectReason.NULL_KEY, RejectReason.UNDERRUN)
        views = views if values.data is keys.data else Views(values.data)
        self.values = Side(RecordPart.VALUE, values, views, RejectReason.EMPTY_VALUE, RejectReason.EMPTY_VALUE)
        self.decoded = Decoded()

    def reject(self, row: int, record_type: int | None, part: RecordPart, error: Malformed) -> None:
        self.decoded.rejects.append(Reject(int(row), record_type, part, error.field, error.reason, error.detail))

    def prefixed(self, side: Side, rows: Positions, record_type: int | None) -> Positions:
        """The rows long enough for an int16 at the start. The others are rejected."""
        length = side.slices.length[rows]
        if not len(rows) or length.min() >= PREFIX:
            return rows
        for row in self.with_good_keys(side, rows[length < PREFIX], record_type):
            size = int(side.slices.length[row])
            reason = {-1: side.missing, 0: side.empty}.get(size, RejectReason.UNDERRUN)
            detail = "null" if size < 0 else f"{size} bytes, at least {PREFIX} expected"
            self.reject(row, record_type, side.part, Malformed(reason, detail))
        return rows[length >= PREFIX]

    def with_good_keys(self, side: Side, rows: Positions, record_type: int | None) -> Positions:
        """Of rows about to be rejected, those with a good key: a bad key is reported before a bad value."""
        if side.part is RecordPart.KEY or record_type is None:
            return rows
        return self.read_keys(REGISTRY[record_type], rows).rows

    def by_number(
        self, side: Side, rows: Positions, record_type: int | None, known: range, unknown: RejectReason
    ) -> Iterator[tuple[int, Positions]]:
        """Rows by the int16 at their start: a key's record type, a value's version."""
        rows = self.prefixed(side, rows, record_type)
        if not len(rows):
            return
        numbers = side.views.i2[side.slices.start[rows]].astype(np.int16)
        if numbers.min() < known.start or numbers.max() >= known.stop:
            is_known = (numbers >= known.start) & (numbers < known.stop)
            for row in self.with_good_keys(side, rows[~is_known], record_type):
                number = int(side.views.i2[side.slices.start[row]])
                told_type = number if unknown is RejectReason.UNKNOWN_RECORD_TYPE else record_type
                what = "type" if unknown is RejectReason.UNKNOWN_RECORD_TYPE else "version"
                detail = f"{what} {number}, this release knows {known.start} to {known.stop - 1}"
                self.reject(row, told_type, side.part, Malformed(unknown, detail))
            rows, numbers = rows[is_known], numbers[is_known]
        for number in np.flatnonzero(np.bincount(numbers)).tolist():
            mine = np.flatnonzero(numbers == number)
            yield number, rows if len(mine) == len(rows) else rows[mine]

    def read(
        self, side: Side, rows: Positions, record_type: int | None, fields: Layout, is_open_ended: bool = False
    ) -> Columns:
        """Reads messages of a single layout. Those that do not fit are rejected."""
        columns = read_columns(side.views, side.slices.take(rows), fields, 0, is_open_ended)
        if len(columns.rows) == len(rows):
            return replace(columns, rows=rows)
        for row in np.delete(rows, columns.rows):
            try:
                read_message(side.slices.bytes_at(int(row)) or b"", fields, 0, PREFIX, is_open_ended)
            except Malformed as error:
                self.reject(int(row), record_type, side.part, error)
        return Columns(rows[columns.rows], columns.values, columns.unknown_tags)

    # data records

    def decode_records(self, rows: Positions) -> None:
        """Common types piece by piece, rare ones together at the end: a part has a fixed cost, whatever its size."""
        known = range(min(REGISTRY), max(REGISTRY) + 1)
        rare: dict[int, list[Positions]] = {}
        for piece in pieces(rows):
            self.read_ahead(piece)
            for number, mine in self.by_number(self.keys, piece, None, known, RejectReason.UNKNOWN_RECORD_TYPE):
                if len(mine) >= COMMON_ROWS:
                    self.decode_type(REGISTRY[number], mine)
                else:
                    rare.setdefault(number, []).append(mine)
        for number, together in rare.items():
            for piece in pieces(np.concatenate(together)):
                self.decode_type(REGISTRY[number], piece)

    def read_ahead(self, rows: Positions) -> None:
        """Reads the bytes of all records in sequence: the processor prefetches these, but not scattered gathers. This
        costs 7 ns per record and saves 14."""
        keys, values = self.keys.slices, self.values.slices
        if len(rows) and values.data is keys.data:
            start, end = int(keys.start[rows[0]]), int(values.start[rows[-1]])
            if start < end <= start + MOST_READ_AHEAD:
                keys.data[start:end].max()

    def decode_type(self, record: RecordType, rows: Positions) -> None:
        is_tombstone = self.values.slices.length[rows] < 0
        if is_tombstone.any():
            keys = self.read_keys(record, rows[is_tombstone])
            if len(keys.rows):
                part = Part(record.number, None, keys.rows, keys.values, None, key_of_row=keys.value_of_row)
                self.decoded.parts.append(part)
            rows = rows[~is_tombstone]
        known = range(record.value.lowest_version, record.value.highest_version + 1)
        unknown = RejectReason.UNKNOWN_VALUE_VERSION
        for version, mine in self.by_number(self.values, rows, record.number, known, unknown):
            self.decode_version(record, version, self.read_keys(record, mine))

    def read_keys(self, record: RecordType, rows: Positions) -> Columns:
        fields = layout(record.key, 0, is_flexible=False)
        equal = equal_keys(self.keys.views, self.keys.slices.take(rows)) if self.may_share_keys else None
        if equal is not None:
            found = read_columns(self.keys.views, self.keys.slices.take(rows[equal.rows]), fields, 0)
            if len(found.rows) == len(equal.rows):
                return replace(found, rows=rows, value_of_row=equal.key_of_row)
        return self.read(self.keys, rows, record.number, fields)

    def decode_version(self, record: RecordType, version: int, keys: Columns) -> None:
        """Reads values by the first shape that fits them."""
        slices = self.values.slices.take(keys.rows)
        left, longest = np.arange(len(slices)), sys.maxsize
        for shape in record.value.shapes_of(version):
            # A value that was too long to walk with one shape might also fit a later one, so it is not tried there.
            walked = left if longest == sys.maxsize else left[slices.length[left] <= longest]
            unread = slices if len(walked) == len(slices) else slices.take(walked)
            columns = read_columns(self.values.views, unread, shape.layout(version), version)
            longest = min(longest, columns.longest)
            if not len(columns.rows):
                continue
            mine = walked[columns.rows]
            is_all = len(mine) == len(slices)
            of = keys if is_all else some_keys(keys, mine)
            part = Part(
                record.number, version, of.rows, of.values, columns.values, columns.unknown_tags, of.value_of_row
            )
            self.decoded.parts.append(part)
            if is_all:
                return
            left = np.setdiff1d(left, mine, assume_unique=True)
        for place in left:
            alone = some_keys(keys, np.array([place]), are_own=True)
            self.decode_alone(record, version, int(alone.rows[0]), alone.values)

    def decode_alone(self, record: RecordType, version: int, row: int, key: pa.StructArray) -> None:
        """A value that is too long to walk, or that fits no shape. For the latter, the newest shape gives the
        reason."""
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

    # control records

    def decode_markers(self, rows: Positions) -> None:
        any_version = range(2**15)
        unknown = RejectReason.UNKNOWN_CONTROL_TYPE
        for version, mine in self.by_number(self.keys, rows, None, any_version, unknown):
            fields = control.KEY.shapes[0].layout(0)
            # Kafka reads a version above 0 as 0, so more bytes may follow.
            keys = self.read(self.keys, mine, None, fields, is_open_ended=version > 0)
            self.decode_marker_values(self.known_markers(keys))

    def known_markers(self, keys: Columns) -> Columns:
        types = keys.values.field("type").to_numpy()
        is_known = np.isin(types, tuple(ControlType))
        for row, number in zip(keys.rows[~is_known], types[~is_known], strict=True):
            error = Malformed(RejectReason.UNKNOWN_CONTROL_TYPE, f"{number}, wanted 0 (ABORT) or 1 (COMMIT)", "type")
            self.reject(row, None, RecordPart.KEY, error)
        return Columns(keys.rows[is_known], keys.values.filter(pa.array(is_known)), 0)

    def decode_marker_values(self, keys: Columns) -> None:
        any_version = range(2**15)
        unknown = RejectReason.UNKNOWN_VALUE_VERSION
        for version, mine in self.by_number(self.values, keys.rows, None, any_version, unknown):
            fields = control.VALUE.shapes[0].layout(0)
            values = self.read(self.values, mine, None, fields, is_open_ended=version > 0)
            key = keys.values.take(pa.array(np.searchsorted(keys.rows, values.rows)))
            if len(values.rows):
                self.decoded.parts.append(Part(CONTROL, version, values.rows, key, values.values))
