"""Rows of archives become the records that framing makes of the same log."""

import struct

import google_crc32c
import numpy as np
import pyarrow as pa
import pytest
from kafka.record import MemoryRecords, MemoryRecordsBuilder

from schemas.tables import TABLES
from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, T0
from tests.oracles.log.framing_answers import framed
from tests.oracles.log.framing_answers import records_of as as_slow_records
from udfs.arrays.arrow_schema import table_schema
from udfs.sources.archive_rows import ARCHIVE_ROWS, by_producers, problem_rows, records_of

COMMIT_MARKER = (bytes.fromhex("00000001"), bytes.fromhex("000000000007"))


def written(rng: np.random.Generator, offset: int) -> bytes:
    """A batch of random records: plain, of a transaction, or of markers; some codec, some leader epoch."""
    kind = rng.choice(["plain", "transaction", "marker"])
    producer_id, epoch = (-1, -1) if kind == "plain" else (int(rng.integers(2**62)), int(rng.integers(2**15)))
    builder = MemoryRecordsBuilder(
        2, int(rng.choice([0, 1])), 1 << 20, 0, transactional=kind != "plain", producer_id=producer_id,
        producer_epoch=epoch, base_sequence=-1 if kind == "plain" else 0,
    )  # fmt: skip
    for number in range(int(rng.integers(1, 30))):
        key, value = COMMIT_MARKER if kind == "marker" else (random_bytes(rng), random_bytes(rng))
        builder.append(T0 + int(rng.integers(1_000_000)) + number, key, value)
    builder.close()
    raw = bytearray(builder.buffer())
    struct.pack_into(">q", raw, 0, offset)
    struct.pack_into(">i", raw, 12, int(rng.integers(100)))
    if kind == "marker":
        raw[22] |= 0x20
        struct.pack_into(">I", raw, 17, google_crc32c.value(bytes(raw[21:])))
    return bytes(raw)


def random_bytes(rng: np.random.Generator) -> bytes | None:
    return None if rng.random() < 0.2 else rng.bytes(int(rng.integers(0, 200)))


def read_by_kafka_python(raw: bytes) -> list[dict[str, object]]:
    rows = []
    batches = MemoryRecords(raw)
    while (batch := batches.next_batch()) is not None:
        for record in batch:
            rows.append(
                {
                    "partition": 7,
                    "offset": record.offset,
                    "timestamp_ms": record.timestamp,
                    "key": record.key,
                    "value": record.value,
                    "producer_id": batch.producer_id,
                    "producer_epoch": batch.producer_epoch,
                    "is_transactional": batch.is_transactional,
                    "is_control": batch.is_control_batch,
                    "leader_epoch": batch.leader_epoch,
                    "has_producers": True,
                    "source_file": "archive",
                }
            )
    return rows


def test_rows_of_an_archive_are_the_records_of_the_segment_that_it_was_made_of(rng: np.random.Generator) -> None:
    log, offset = b"", 0
    for _ in range(40):
        log += written(rng, offset)
        offset += 100
    rows = read_by_kafka_python(log)
    assert {row["is_control"] for row in rows} == {row["is_transactional"] for row in rows} == {True, False}

    batch = pa.RecordBatch.from_pylist([{}, *rows, {}], ARCHIVE_ROWS).slice(1, len(rows))
    records = records_of(batch)

    # An archive knows neither batches nor how long a record was in one.
    expected = [
        record._replace(
            batch_first_offset=-1, batch_bytes=-1, record_bytes=len(record.key or b"") + len(record.value or b"")
        )
        for record in as_slow_records(framed(log).records)
    ]
    assert as_slow_records(records) == expected
    for name, column in vars(framed(log).records).items():
        if name not in {"keys", "values"}:
            assert getattr(records, name).dtype == column.dtype, name
    assert records.keys.data is records.values.data


def test_what_an_archive_does_not_have_is_unknown() -> None:
    batch = pa.RecordBatch.from_pylist([{"partition": 1, "offset": 5}], ARCHIVE_ROWS)
    (record,) = as_slow_records(records_of(batch))
    assert record == (5, -1, -1, -1, 0, -1, -1, -1, False, False, None, None)


def test_no_rows_are_no_records() -> None:
    assert len(records_of(pa.RecordBatch.from_pylist([], ARCHIVE_ROWS))) == 0


def test_records_with_and_without_producers_part() -> None:
    rows = [{"partition": 1, "offset": offset, "has_producers": offset % 3 == 0} for offset in range(7)]
    parts = by_producers(pa.RecordBatch.from_pylist(rows, ARCHIVE_ROWS))
    assert [(known, part.column("offset").to_pylist()) for known, part in parts] == [
        (True, [0, 3, 6]),
        (False, [1, 2, 4, 5]),
    ]
    assert [known for known, _ in by_producers(pa.RecordBatch.from_pylist(rows[1:3], ARCHIVE_ROWS))] == [False]


@pytest.mark.parametrize("offset", [None, 3])
def test_a_row_that_is_no_record_is_kept_whole_among_the_rejected(offset: int | None) -> None:
    good = {"partition": 1, "offset": 1, "key": COMMIT_KEY, "value": COMMIT_V3, "source_file": "a.json"}
    bad = {
        "partition": 2, "offset": offset, "source_file": "b.json", "raw": b"\xff{", "problem": "bad_json",
        "problem_field": None, "problem_detail": "an object expected",
    }  # fmt: skip
    table = problem_rows(pa.RecordBatch.from_pylist([good, bad], ARCHIVE_ROWS), "prod", "run-1")
    assert table.schema.equals(table_schema(TABLES["rejected_records"]), check_metadata=True)
    told_columns = {name: value for name, value in table.to_pylist()[0].items() if value is not None}
    assert len(table) == 1
    assert told_columns == {
        "cluster": "prod", "offsets_partition": 2, "part": "batch", "reason": "bad_json", "source_file": "b.json",
        "size_bytes": 2, "run_id": "run-1", "detail": "an object expected", "value_bytes": b"\xff{",
        "num_records": 1, "is_num_records_estimated": False,
        **({} if offset is None else {"record_offset": offset}),
    }  # fmt: skip
