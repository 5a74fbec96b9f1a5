"""Archives as Spark, Delta and others write them, and as they arrive when something went wrong."""

import base64
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.output.failure import Failure
from jobs.sources.archive_source import (
    NUM_OTHER_TOPICS,
    archive_files,
    archive_frame,
    unreadable_failure,
)
from schemas.words.exit_codes import ExitCode
from udfs.sources.archive_rows import ARCHIVE_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.drawn_parameter("format", 1)]

T = 1_700_000_000_123
KEY, VALUE = bytes.fromhex("000100016700017400000003"), b"\x00\x03\xff"
# The columns of Spark's Kafka source.
KAFKA_COLUMNS = "topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, key BINARY, value BINARY"
PRODUCER_COLUMNS = (
    "producer_id BIGINT, producer_epoch SMALLINT, is_transactional BOOLEAN, is_control BOOLEAN, leader_epoch INT"
)
Row = dict[str, Any]


@pytest.fixture(scope="module")
def session(spark: "SparkSession") -> "SparkSession":
    """Which the sources take, as they would one of their own."""
    return spark


def record(offset: int, **changes: object) -> Row:
    when = datetime.fromtimestamp(T / 1_000, UTC)
    row = {
        "topic": "__consumer_offsets",
        "partition": 3,
        "offset": offset,
        "timestamp": when,
        "key": KEY,
        "value": VALUE,
    }
    return row | changes


def produced(offset: int, **changes: object) -> Row:
    own = {"producer_id": 5, "producer_epoch": 2, "is_transactional": True, "is_control": False, "leader_epoch": 9}
    return record(offset, **own) | changes


def as_line(row: Row) -> str:
    """As in archives of JSON lines: bytes in base64, times in ms."""
    reported = {
        name: base64.b64encode(value).decode() if isinstance(value, bytes) else value for name, value in row.items()
    }
    return json.dumps(reported | {"timestamp": T})


def write(session: "SparkSession", rows: list[Row], columns: str, path: Path, format: str = "parquet") -> None:
    names = [column.split()[0] for column in columns.split(", ")]
    frame = session.createDataFrame([tuple(row[name] for name in names) for row in rows], columns)
    frame.repartition(2, "offset").write.mode("append").format(format).save(str(path))


def read(session: "SparkSession", path: Path | str, **how: Any) -> list[Row]:
    frame = archive_frame(session, str(path), **how)
    assert frame.columns == ARCHIVE_ROWS.names
    return sorted(
        (row.asDict() for row in frame.collect()), key=lambda row: (row["offset"] is None, row["offset"] or 0)
    )


def essence(rows: list[Row]) -> list[tuple[Any, ...]]:
    assert [row["problem"] for row in rows if row["problem"]] == []
    return [(row["partition"], row["offset"], row["timestamp_ms"], row["key"], row["value"]) for row in rows]


def expected(*offsets: int, value: bytes | None = VALUE) -> list[tuple[Any, ...]]:
    return [(3, offset, T, KEY, value) for offset in offsets]


def failure_of(session: "SparkSession", path: Path | str, **how: Any) -> str:
    with pytest.raises(Failure) as caught:
        read(session, path, **how)
    assert caught.value.code == ExitCode.UNREADABLE_INPUT
    assert "\n" not in str(caught.value)
    return str(caught.value)


def seen_of_other_topics(session: "SparkSession", path: Path, **how: Any) -> tuple[list[Row], int]:
    from pyspark.sql import Observation

    seen = Observation()
    rows = read(session, path, seen=seen, **how)
    return rows, seen.get[NUM_OTHER_TOPICS]


@pytest.mark.drawn(1)
@pytest.mark.parametrize("format", ["parquet", "delta", "json"])
def test_what_spark_writes_of_its_kafka_source_is_an_archive(
    session: "SparkSession", tmp_path: Path, format: str
) -> None:
    path = tmp_path / "of spark+%41"
    write(
        session, [record(1), record(2), record(3, value=None), record(4, topic="orders")], KAFKA_COLUMNS, path, format
    )
    rows, num_other_topics = seen_of_other_topics(session, path)
    assert essence(rows) == expected(1, 2) + expected(3, value=None)
    assert num_other_topics == 1
    assert not any(row["has_producers"] for row in rows)
    assert {row["producer_id"] for row in rows} == {row["leader_epoch"] for row in rows} == {None}

    files = archive_files(session, str(path))
    assert {row["source_file"] for row in rows} <= {file.path for file in files}
    for file in files:
        there = Path(file.path).stat()
        assert (file.size_bytes, file.modified_ms) == (there.st_size, there.st_mtime_ns // 1_000_000)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("format", ["parquet", "delta", "json"])
def test_files_are_read_one_by_one(session: "SparkSession", tmp_path: Path, format: str) -> None:
    path = tmp_path / "archive"
    write(session, [record(1), record(2)], KAFKA_COLUMNS, path, format)
    before = {file.path for file in archive_files(session, str(path))}
    write(session, [record(3), record(4)], KAFKA_COLUMNS, path, format)
    added = {file.path for file in archive_files(session, str(path))} - before
    assert essence(read(session, path, files=added)) == expected(3, 4)
    assert essence(read(session, path, files=before)) == expected(1, 2)
    assert seen_of_other_topics(session, path, files=[]) == ([], 0)
    assert "is not among the files of" in failure_of(session, path, files=[f"{path}/gone"])


@pytest.mark.drawn(1)
@pytest.mark.parametrize("format", ["parquet", "delta", "json"])
def test_producers_and_epochs_are_kept(session: "SparkSession", tmp_path: Path, format: str) -> None:
    rows = [produced(1), produced(2, producer_id=-1, producer_epoch=-1, is_transactional=False, leader_epoch=-1)]
    write(session, rows, f"{KAFKA_COLUMNS}, {PRODUCER_COLUMNS}", tmp_path / "archive", format)
    first, second = read(session, tmp_path / "archive")
    names = [*(column.split()[0] for column in PRODUCER_COLUMNS.split(", ")), "has_producers"]
    assert [first[name] for name in names] == [5, 2, True, False, 9, True]
    assert [second[name] for name in names] == [-1, -1, False, False, -1, True]


def test_a_delta_table_is_its_current_version(session: "SparkSession", tmp_path: Path) -> None:
    table = tmp_path / "table"
    write(session, [record(1), record(2)], KAFKA_COLUMNS, table, "delta")
    write(session, [record(3)], KAFKA_COLUMNS, table, "delta")
    session.sql(f"DELETE FROM delta.`{table}` WHERE offset = 1")
    assert essence(read(session, table)) == expected(2, 3)
    assert essence(read(session, tmp_path)) == expected(2, 3)  # found below a folder too
    failure = failure_of(session, f"{table}/*.parquet")
    assert failure == f"{table}: is a Delta table; give this folder itself, not files or folders inside it"


def test_columns_that_folders_have(session: "SparkSession", tmp_path: Path) -> None:
    columns = "offset BIGINT, timestamp TIMESTAMP, key BINARY, value BINARY"
    for format in ("parquet", "json"):
        for topic in ("__consumer_offsets", "orders"):
            folder = tmp_path / format / f"topic={topic}" / "partition=3"
            write(session, [record(1), record(2)], columns, folder, format)
        rows, num_other_topics = seen_of_other_topics(session, tmp_path / format)
        assert (essence(rows), num_other_topics) == (expected(1, 2), 2)


def test_pandas_writes_nanoseconds(session: "SparkSession", tmp_path: Path) -> None:
    times = pd.to_datetime([T, -1], unit="ms", utc=True).as_unit("ns")
    frame = pd.DataFrame([record(1), record(2)]).assign(timestamp=times)
    frame.to_parquet(tmp_path / "[a] {b}.parquet")
    logical = str(pq.read_schema(tmp_path / "[a] {b}.parquet").field("timestamp").type)
    assert logical == "timestamp[ns, tz=UTC]"
    assert [row["timestamp_ms"] for row in read(session, tmp_path / "[a] {b}.parquet")] == [T, -1]


def test_times_are_taken_as_milliseconds_or_with_a_zone_or_without(session: "SparkSession", tmp_path: Path) -> None:
    given = pa.array([T, -1, None], pa.int64())
    milliseconds = given.cast(pa.timestamp("ms"))
    instants = given.cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "Asia/Tokyo"))
    for number, times in enumerate((given, milliseconds, instants)):
        table = pa.Table.from_pylist([record(row) for row in range(3)]).drop("timestamp")
        pq.write_table(table.append_column("timestamp", times), tmp_path / f"{number}.parquet")
    assert [row["timestamp_ms"] for row in read(session, tmp_path)] == [T] * 3 + [-1] * 3 + [None] * 3


def test_files_with_other_columns_are_not_read_as_if_they_had_them(session: "SparkSession", tmp_path: Path) -> None:
    full = pa.Table.from_pylist([produced(1)])
    pq.write_table(full, tmp_path / "a.parquet")
    pq.write_table(pa.Table.from_pylist([record(2)]), tmp_path / "b.parquet")
    rows = read(session, tmp_path)
    assert [(row["offset"], row["has_producers"]) for row in rows] == [(1, True), (2, False)]

    # Read by the columns of the first file, the records of this one would be tombstones.
    pq.write_table(full.drop("value"), tmp_path / "c.parquet")
    failure = failure_of(session, tmp_path)
    names = [name for name in full.column_names if name != "value"]
    assert failure == f"{tmp_path}/c.parquet: value missing, columns found: {', '.join(names)}"


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("key", pa.array(["k"]), "key is STRING, BINARY was expected"),
        ("value", pa.array(["v"]), "value is STRING, BINARY was expected"),
        ("offset", pa.array([1.0]), "offset is DOUBLE, BIGINT was expected"),
        ("partition", pa.array(["3"]), "partition is STRING, BIGINT was expected"),
        (
            "timestamp",
            pa.array(["now"]),
            "timestamp is STRING, TIMESTAMP, or BIGINT in milliseconds since 1970 was expected",
        ),
        ("is_control", pa.array([0]), "is_control is BIGINT, BOOLEAN was expected"),
        ("topic", pa.array([1]), "topic is BIGINT, STRING was expected"),
    ],
)
def test_a_column_of_a_wrong_type_is_named(
    session: "SparkSession", tmp_path: Path, name: str, values: pa.Array, message: str
) -> None:
    table = pa.Table.from_pylist([produced(1)]).drop(name).append_column(name, values)
    pq.write_table(table, tmp_path / "a.parquet")
    assert failure_of(session, tmp_path) == f"{tmp_path}/a.parquet: column {message}"


def test_columns_missing_in_delta_and_json_are_named(session: "SparkSession", tmp_path: Path) -> None:
    columns = "topic STRING, partition INT, timestamp TIMESTAMP, key BINARY, value BINARY"
    session.createDataFrame([], columns).write.format("delta").save(str(tmp_path / "delta"))
    message = "topic, partition, timestamp, key, value"
    assert failure_of(session, tmp_path / "delta") == f"{tmp_path}/delta: offset missing, columns found: {message}"

    path = tmp_path / "a.jsonl"
    path.write_text('{"topic": "t", "offsets": 1}\n{"key": ""}\nnonsense\n')
    result = f"{path}: partition and offset and timestamp and value missing, columns found: key, offsets, topic"
    assert failure_of(session, path) == result
    path.write_text("nonsense\n")
    assert failure_of(session, path).endswith("columns found: none")


def test_a_file_of_tombstones_alone_is_judged_with_the_others(session: "SparkSession", tmp_path: Path) -> None:
    # Writers leave nulls out, so that no line of it has a value.
    (tmp_path / "1.json").write_text(as_line(record(1)))
    tombstone = record(2)
    del tombstone["value"]
    (tmp_path / "2.json").write_text(as_line(tombstone))
    assert essence(read(session, tmp_path, files=[f"{tmp_path}/2.json"])) == expected(2, value=None)


def test_rows_of_columns_that_are_no_records_are_kept(session: "SparkSession", tmp_path: Path) -> None:
    columns = (
        "topic STRING, partition BIGINT, offset BIGINT, timestamp TIMESTAMP, key BINARY, value BINARY, "
        "producer_id BIGINT, producer_epoch INT, is_transactional BOOLEAN, is_control BOOLEAN, leader_epoch BIGINT"
    )
    damage: dict[int, Row] = {
        10: {"partition": None},
        11: {"partition": -1},
        12: {"partition": 2**31},
        13: {"topic": None},
        14: {"producer_epoch": 2**15},
        15: {"leader_epoch": -2},
        16: {"producer_id": None},
        17: {"partition": None, "topic": "orders"},
    }
    rows = [produced(offset, **change) for offset, change in damage.items()]
    write(session, [*rows, produced(1), produced(2) | {"offset": None}], columns, tmp_path / "archive")
    good, *bad = read(session, tmp_path / "archive")
    assert (good["offset"], good["problem"], good["raw"]) == (1, None, None)
    assert [row["problem"] for row in bad] == ["bad_column"] * 8
    reported = {row["offset"]: (row["problem_field"], row["problem_detail"].split(",")[0]) for row in bad}
    assert reported == {
        10: ("partition", "null"),
        11: ("partition", "-1"),
        12: ("partition", "2147483648"),
        13: ("topic", "null"),
        14: ("producer_epoch", "32768"),
        15: ("leader_epoch", "-2"),
        16: ("producer_id", "null although is_transactional is true: the record needs one"),
        None: ("offset", "null"),
    }
    for row in bad:
        kept = json.loads(row["raw"])
        assert (kept["offset"], base64.b64decode(kept["key"])) == (row["offset"], KEY)
        assert kept["partition"] == damage.get(row["offset"], {}).get("partition", 3)


def test_lines_of_every_kind_of_damage_are_kept(session: "SparkSession", tmp_path: Path) -> None:
    good = as_line(record(1)).encode()
    damaged = [
        good[:-1], good + b"}", b"\xff\xfe", b"[1]", good.replace(b'"offset": 1', b'"offset": 1.5'),
        good.replace(b'"partition": 3', b'"partition": null'), good.replace(b'"key": "AA', b'"key": "*A'),
    ]  # fmt: skip
    content = b"\xef\xbb\xbf" + b"\n".join([good, *damaged, b"", as_line(record(2)).encode() + b"\r", b""])
    (tmp_path / "a.ndjson").write_bytes(content)
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(content))
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "_SUCCESS").write_bytes(b"")
    rows = read(session, tmp_path)
    assert essence([row for row in rows if not row["problem"]]) == expected(1, 1, 2, 2)
    for file in ("a.ndjson", "b.json.gz"):
        mine = {
            row["raw"]: row["problem"] for row in rows if row["problem"] and row["source_file"] == f"{tmp_path}/{file}"
        }
        reasons = ["bad_json"] * 4 + ["bad_column"] * 2 + ["bad_base64"]
        assert mine == dict(zip(damaged, reasons, strict=True))


def test_what_is_no_archive_is_reported_in_one_line(session: "SparkSession", tmp_path: Path) -> None:
    assert "there is no such file or folder" in failure_of(session, tmp_path / "none*")
    (tmp_path / "empty").mkdir()
    assert "holds no files" in failure_of(session, tmp_path / "empty")
    (tmp_path / "a.csv").write_text("topic,partition\n")
    assert "begins with b'topi'" in failure_of(session, tmp_path / "a.csv")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    assert f"{tmp_path}/a.parquet is not a Parquet file" in failure_of(session, tmp_path / "a.parquet")
    assert "No FileSystem" in failure_of(session, "nowhere://bucket/archive")


def test_a_file_that_ends_too_early_is_reported_by_whoever_reads_it(session: "SparkSession", tmp_path: Path) -> None:
    lines = "\n".join(as_line(record(offset, value=bytes(offset))) for offset in range(5_000))
    whole = gzip.compress(lines.encode())
    (tmp_path / "cut.json.gz").write_bytes(whole[: len(whole) * 3 // 4])
    frame = archive_frame(session, str(tmp_path))
    with pytest.raises(Failure) as caught, unreadable_failure(str(tmp_path)):
        frame.collect()
    assert caught.value.code == ExitCode.UNREADABLE_INPUT
    assert str(caught.value).startswith(f"{tmp_path}: [FAILED_READ_FILE")
    assert f"{tmp_path}/cut.json.gz" in str(caught.value)
