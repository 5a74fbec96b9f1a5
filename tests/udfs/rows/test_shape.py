"""Rows of the tables: equal to those of a slow way that takes one record at a time."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from schemas.tables import SUBJECTS, TABLES
from schemas.words.records import RejectReason
from tests.builders.records.random_records import EVERY_LAYOUT
from tests.builders.records.raw_records import Scene, as_records
from tests.oracles.log.table_rows import Raw, slow_row
from udfs.arrays.arrow_schema import table_schema
from udfs.decoding import decode as decoding
from udfs.decoding.decode import decode
from udfs.framing.frame import Rejected
from udfs.framing.rejected_ranges import RejectedRange
from udfs.rows.shape import Origin, Shaper, rejected_ranges

ORIGIN = Origin("c1", 7, "r1")
TIMESTAMP = pa.timestamp("us", "UTC")


def shaped(raws: Sequence[Raw], origin: Origin = ORIGIN, shaper: Shaper | None = None) -> dict[str, pa.Table]:
    records = as_records(raws)
    decoded = decode(records.keys, records.values, records.is_control)
    return (shaper or Shaper()).tables(records, decoded, origin)


def checked_rows(name: str, table: pa.Table) -> list[dict[str, Any]]:
    """The rows as plain values; that the table is as declared is proved on the way."""
    table.validate(full=True)
    schema = table_schema(TABLES[name])
    assert table.schema.equals(schema, check_metadata=True)
    assert table.num_rows
    assert all(
        column.num_chunks == 1 and column.type == field.type for column, field in zip(table, schema, strict=True)
    )
    assert [field.name for field in schema if not field.nullable and table[field.name].null_count] == []
    plain = [column.cast(pa.int64()) if column.type == TIMESTAMP else column for column in table.columns]
    rows: list[dict[str, Any]] = pa.table(plain, table.column_names).to_pylist()
    for row in rows:
        row.pop("detail", None)  # for people, and only ours
        for member in row.get("members") or ():
            member["payload_json"] = member["payload_json"] and json.loads(member["payload_json"])
    return rows


def assert_as_slow(raws: Sequence[Raw], origin: Origin = ORIGIN, shaper: Shaper | None = None) -> set[str]:
    wanted: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for raw in raws:
        name, row = slow_row(raw, origin.has_producers)
        wanted[name].append(row)
    tables = shaped(raws, origin, shaper)
    assert tables.keys() == wanted.keys()
    for name, rows in wanted.items():
        for result, row in zip(checked_rows(name, tables[name]), rows, strict=True):
            assert result == row, name
    return set(tables)


ROW_TABLES = {table.name for table in SUBJECTS["decoded"]}


def test_all_kinds_of_records_make_the_rows_of_the_slow_way(seed: int) -> None:
    assert assert_as_slow(Scene(seed).records(2500)) == ROW_TABLES


def test_records_decoded_in_pieces_come_back_in_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "ROWS_AT_ONCE", 37)
    monkeypatch.setattr(decoding, "COMMON_ROWS", 3)
    assert_as_slow(Scene(seed).records(800))


def test_a_shaper_that_has_met_payloads_before_says_the_same(seed: int) -> None:
    shaper, scene = Shaper(), Scene(seed)
    first = scene.records(300)
    for raws in (first, scene.records(30), first, scene.records(300)):
        assert_as_slow(raws, shaper=shaper)


def test_few_records_at_a_time_make_the_same_rows(seed: int) -> None:
    scene, shaper = Scene(seed), Shaper()
    for count in [*range(1, 12)] * 6:
        assert_as_slow(scene.records(count), shaper=shaper)


def test_archives_that_lack_producers_have_nulls_for_them(seed: int) -> None:
    assert_as_slow(Scene(seed).records(200), Origin("c1", 7, "r1", has_producers=False))


def test_commits_alone_of_every_version_stand_in_the_order_of_the_log(seed: int) -> None:
    scene = Scene(seed)
    layouts = [kept for kept in EVERY_LAYOUT if kept.record.number == 1]
    drawn = [scene.draw.record(scene.chance.choice(layouts)) for _ in range(400)]
    raws = [Raw(offset, each.key_bytes, each.value_bytes) for offset, each in enumerate(drawn)]
    assert assert_as_slow(raws) == {"offset_commits"}


def test_no_records_make_no_tables() -> None:
    assert shaped([]) == {}


COMMIT_KEY = bytes.fromhex("000100016700017400000003")


def commit(offset: int, commit_ms: int, **around: Any) -> Raw:
    value = bytes.fromhex("0003 fffffffffffffffb ffffffff 00016d") + commit_ms.to_bytes(8, "big", signed=True)
    return Raw(offset, COMMIT_KEY, value, **around)


def test_a_commit_as_people_read_it() -> None:
    (row,) = shaped([commit(5, 1000, timestamp_ms=1001, partition_leader_epoch=3)])["offset_commits"].to_pylist()
    assert str(row.pop("commit_time")) == "1970-01-01 00:00:01+00:00"
    assert str(row.pop("record_time")) == "1970-01-01 00:00:01.001000+00:00"
    assert row == {
        "cluster": "c1",
        "offsets_partition": 7,
        "record_offset": 5,
        "partition_leader_epoch": 3,
        "group_id": "g",
        "topic": "t",
        "partition": 3,
        "topic_id": None,
        "key_version": 1,
        "committed_offset": -5,
        "leader_epoch": None,
        "expire_time": None,
        "is_tombstone": False,
        "value_version": 3,
        "is_transactional": False,
        "producer_id": None,
        "producer_epoch": None,
        "batch_first_offset": 0,
        "batch_bytes": 100,
        "record_bytes": 37,
        "run_id": "r1",
        "out_of_range": None,
        "metadata": "m",
    }


def test_the_first_and_last_moments_of_the_years_0001_and_9999() -> None:
    first, last = -62_135_596_800_000, 253_402_300_799_999
    raws = [commit(0, first), commit(1, last), commit(2, first - 1), commit(3, last + 1, timestamp_ms=2**62)]
    table = shaped(raws)["offset_commits"]
    assert [str(time) for time in table["commit_time"].slice(0, 2).to_pylist()] == [
        "0001-01-01 00:00:00+00:00",
        "9999-12-31 23:59:59.999000+00:00",
    ]
    assert table["commit_time"].slice(2).null_count == 2
    assert table["out_of_range"].to_pylist() == [
        None,
        None,
        [{"field": "commit_time", "value": first - 1}],
        [{"field": "record_time", "value": 2**62}, {"field": "commit_time", "value": last + 1}],
    ]


def test_commits_of_one_version_are_not_copied() -> None:
    records = as_records([commit(offset, 1000) for offset in range(100)])
    decoded = decode(records.keys, records.values, records.is_control)
    table = Shaper().tables(records, decoded, ORIGIN)["offset_commits"]
    address = table["record_offset"].chunk(0).buffers()[1].address
    assert address == records.offset.ctypes.data
    assert np.array_equal(table["record_offset"].to_numpy(), np.arange(100))


def test_ranges_of_bytes_that_are_no_batch() -> None:
    rejected = [
        Rejected(61, 10, RejectReason.BAD_CRC, "", "12, wanted 13"),
        Rejected(90, 2**40, RejectReason.TORN_BATCH, "batch_length", "…"),
    ]
    ranges = [
        RejectedRange("/logs/\udcff.log", rejected[0], 5, 11, 7, is_num_records_estimated=False),
        RejectedRange("/logs/\udcff.log", rejected[1]),
    ]
    table = rejected_ranges(ranges, ORIGIN)
    rows = checked_rows("rejected_records", table)
    reported = {
        "cluster": "c1",
        "run_id": "r1",
        "offsets_partition": 7,
        "part": "batch",
        "source_file": "/logs/\\udcff.log",
    }
    first = {
        "byte_position": 61, "size_bytes": 10, "reason": "bad_crc", "field": None, "from_record_offset": 5,
        "to_record_offset": 11, "num_records": 7, "is_num_records_estimated": False,
    }  # fmt: skip
    second = {
        "byte_position": 90, "size_bytes": 2**40, "reason": "torn_batch", "field": "batch_length",
        "from_record_offset": None, "to_record_offset": None, "num_records": 1, "is_num_records_estimated": True,
    }  # fmt: skip
    empty = dict.fromkeys(set(rows[0]) - set(reported) - set(first))
    assert rows == [{**empty, **reported, **first}, {**empty, **reported, **second}]
    assert table["detail"].to_pylist() == ["12, wanted 13", "…"]


def test_no_ranges_are_a_table_without_rows() -> None:
    table = rejected_ranges([], ORIGIN)
    assert table.schema.equals(table_schema(TABLES["rejected_records"]), check_metadata=True)
    assert not table.num_rows
