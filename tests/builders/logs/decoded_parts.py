"""Decoded tables of many short logs at once, as an ingest makes them: one call decodes all, since a call costs the same
for one log as for hundreds."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.builders.logs.short_logs import PARTITION, ShortLog
from tests.runs.memory_runs import CLUSTER, Decoded
from udfs.arrays.slices import PADDING
from udfs.decoding.decode import decode
from udfs.framing.frame import frame
from udfs.rows.origin import Origin
from udfs.rows.shape import Shaper

# Every log has offsets of its own in the call.
ROOM: Final = 1 << 32
OFFSETS: Final = ("record_offset", "batch_first_offset")
# What an archive does not have.
NOT_ARCHIVED: Final = (
    "batch_first_offset",
    "partition_leader_epoch",
    "is_transactional",
    "producer_id",
    "producer_epoch",
)


def decoded(logs: Sequence[ShortLog]) -> list[list[Decoded]]:
    """Of each log, what each of its runs brings."""
    tables = tables_of(logs)
    return [
        runs_of(log, {name: of_log(rows, number) for name, rows in tables.items()}) for number, log in enumerate(logs)
    ]


def tables_of(logs: Sequence[ShortLog]) -> dict[str, pa.Table]:
    """Of all logs, with offsets that begin at as many times ROOM as a log's place."""
    content = b"".join(moved(batch.bytes(), number) for number, log in enumerate(logs) for part in log.parts
                       for batch in part.batches)  # fmt: skip
    data = np.frombuffer(bytearray(content + bytes(PADDING)), np.uint8)
    framed = frame(data, len(content))
    assert not framed.rejected
    records = framed.records
    origin = Origin(CLUSTER, PARTITION, "")
    return Shaper().tables(records, decode(records.keys, records.values, records.is_control), origin)


def moved(batch: bytes, number: int) -> bytes:
    """The checksum does not cover the base offset."""
    return (int.from_bytes(batch[:8], "big") + number * ROOM).to_bytes(8, "big") + batch[8:]


def of_log(rows: pa.Table, number: int) -> pa.Table:
    offsets = rows.column("record_offset").to_numpy()
    mask = (offsets >= number * ROOM) & (offsets < (number + 1) * ROOM)
    result = rows.filter(pa.array(mask))
    for name in OFFSETS:
        place = result.schema.get_field_index(name)
        result = result.set_column(place, result.schema.field(place), pc.subtract(result.column(name), number * ROOM))
    return result


def runs_of(log: ShortLog, tables: Decoded) -> list[Decoded]:
    if log.is_archive:
        tables = {name: archived(rows) for name, rows in tables.items()}
    return [{name: of_run(rows, log, run) for name, rows in tables.items()} for run in range(log.num_runs)]


def archived(rows: pa.Table) -> pa.Table:
    for name in NOT_ARCHIVED:
        place = rows.schema.get_field_index(name)
        if place >= 0:
            field = rows.schema.field(place)
            rows = rows.set_column(place, field, pa.nulls(rows.num_rows, field.type))
    return rows


def of_run(rows: pa.Table, log: ShortLog, run: int) -> pa.Table:
    offsets = rows.column("record_offset").to_numpy()
    mask = np.zeros(len(offsets), np.bool_)
    for part in log.of_run(run):
        mask |= (offsets >= part.first) & (offsets <= part.last)
    return rows.filter(pa.array(mask))
