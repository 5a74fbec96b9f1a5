"""Archives through the whole ingest: the rows that segments of the same records make, known and contradicted alike."""

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from schemas.words.exit_codes import ExitCode
from tests.builders.logs.archives import PRODUCERS, Row, archived, lines
from tests.builders.logs.batches import Batch, record
from tests.builders.logs.copies import T0, WrittenBatch, commit, random_log, write_copy
from tests.runs.ingested import OF_THE_RUN, history, ingest, is_healthy, rows
from tests.runs.refused import check_no_leftovers, refused, unchanged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("session")]

PARTITIONS = (3, 11)
SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("ms", "UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("is_transactional", pa.bool_()),
        ("is_control", pa.bool_()),
        ("leader_epoch", pa.int32()),
    ]
)
TRANSACTIONAL, CONTROL = 0x10, 0x20


@pytest.fixture(scope="module")
def session(spark: "SparkSession") -> "SparkSession":
    """Which the runs take, as they would one of their own."""
    return spark


@pytest.fixture
def logs(rng: np.random.Generator) -> dict[int, list[WrittenBatch]]:
    return {partition: random_log(rng, 20) for partition in PARTITIONS}


def transaction(first_offset: int) -> bytes:
    """Two offsets committed by a producer, and the marker that ends it."""
    body = b"".join(record(delta, *commit("group-0", "t", delta, 5)) for delta in (0, 1))
    about: dict[str, Any] = {"leader_epoch": 9, "producer_id": 77, "producer_epoch": 3, "base_time": T0, "max_time": T0}
    commits = Batch(body, 2, first_offset, attributes=TRANSACTIONAL, last_delta=1, **about)
    marker = record(0, struct.pack(">hh", 0, 1), struct.pack(">hi", 0, 4))
    return commits.bytes() + Batch(marker, 1, first_offset + 2, attributes=TRANSACTIONAL | CONTROL, **about).bytes()


def segments(folder: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator) -> Path:
    for partition, log in logs.items():
        write_copy(folder, partition, log, rng)
    return folder


def table(result: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(result), SCHEMA)


def without_producers(result: dict[str, list[str]], warehouse: Path) -> dict[str, list[str]]:
    """The history, with what an archive of only these columns does not show."""
    reported = {}
    for name in result:
        plain = []
        for row in rows(warehouse, name):
            kept = {key: value for key, value in row.items() if key not in OF_THE_RUN}
            plain.append(repr(kept | dict.fromkeys(PRODUCERS)))
        reported[name] = sorted(plain)
    return reported


def test_parquet_and_delta_make_the_rows_of_the_segments(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    segments(tmp_path / "a", logs, rng)
    last = tmp_path / "a" / "__consumer_offsets-3" / f"{10_000:020}.log"
    last.write_bytes(transaction(10_000))
    direct = ingest(tmp_path / "direct", "--source", f"segments:{tmp_path / 'a'}")
    expected, results = history(tmp_path / "direct"), archived(tmp_path / "a")
    assert len(rows(tmp_path / "direct", "transaction_markers")) == 1
    rng.shuffle(results)  # type: ignore[arg-type]

    (tmp_path / "parquet").mkdir()
    half = len(results) // 2
    for number, part in enumerate((results[:half], results[half:])):
        pq.write_table(table(part), tmp_path / "parquet" / f"{number}.parquet")
    write_deltalake(tmp_path / "delta", table(results))
    for form in ("parquet", "delta"):
        w = tmp_path / f"w-{form}"
        result = ingest(w, "--source", f"records:{tmp_path / form}")
        assert {
            name: result[name] for name in ("read", "decoded", "rejected", "already_known", "num_other_topics")
        } == {
            "read": len(results),
            "decoded": direct["decoded"],
            "rejected": direct["rejected"],
            "already_known": 0,
            "num_other_topics": 0,
        }
        assert history(w) == expected
        of_batches = {(row["batch_first_offset"], row["batch_bytes"]) for row in rows(w, "offset_commits")}
        assert of_batches == {(None, None)}
        assert is_healthy(w)

    # The same again, and then a folder that has grown.
    w, source = tmp_path / "w-parquet", f"records:{tmp_path / 'parquet'}"
    again = ingest(w, "--source", source)
    assert history(w) == expected
    assert (again["read"], again["num_files_read"], again["num_files_unchanged"]) == (0, 0, 2)
    later = random_log(rng, 5, 20_000)
    write_copy(tmp_path / "later", 11, later, rng)
    more = archived(tmp_path / "later")
    pq.write_table(table(more), tmp_path / "parquet" / "2.parquet")
    grown = ingest(w, "--source", source)
    assert (grown["num_files_read"], grown["num_files_unchanged"]) == (1, 2)
    assert (grown["read"], grown["already_known"]) == (len(more), 0)
    files = {row["source_file"]: row for row in rows(w, "source_files") if row["run_id"] == grown["run_id"]}
    assert list(files) == [str(tmp_path / "parquet" / "2.parquet")]
    (about,) = files.values()
    assert (about["kind"], about["offsets_partition"], about["num_records"]) == ("records", 11, len(more))
    assert (about["first_offset"], about["last_offset"]) == (20_000, more[-1]["offset"])
    assert about["num_tombstones"] == sum(row["value"] is None for row in more)
    # The segments of all that are known now, whichever came first.
    ingest(w, "--source", f"segments:{tmp_path / 'a'}")
    known = ingest(w, "--source", f"segments:{tmp_path / 'later'}")
    assert known["already_known"] == known["read"] == len(more)
    assert is_healthy(w)


def test_lines_without_producers_and_lines_that_are_none(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator, capsys: pytest.CaptureFixture[str]
) -> None:
    # An offset amid the log that stands nowhere.
    lost = {partition: log.pop(5).base_offset for partition, log in logs.items()}
    segments(tmp_path / "a", logs, rng)
    ingest(tmp_path / "direct", "--source", f"segments:{tmp_path / 'a'}")
    expected = without_producers(history(tmp_path / "direct"), tmp_path / "direct")
    results = archived(tmp_path / "a")
    sure = next(row for row in results if row["key"][:2] == b"\0\1" and row["value"] is not None)
    of_lost = {**sure, "offset": lost[sure["partition"]]}
    good = lines(results, without=(*PRODUCERS, "is_control"))
    others = lines([{**results[0], "topic": "orders"}, {**results[1], "topic": "payments"}], without=("is_control",))
    # Of a record that stands nowhere else, one of a record that stands in another file, and some that are nothing.
    lone = lines([of_lost], without=PRODUCERS).replace('"key": "', '"key": "?')
    twin = lines([sure], without=PRODUCERS).replace('"key": "', '"key": "?')
    bad = [lone, lone, twin, "{nothing}\n", "{nothing}\n", "[]\n", '{"topic": "__consumer_offsets"}\n']
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "good.jsonl").write_text(good + others)
    (tmp_path / "lines" / "bad.jsonl").write_text("".join(bad))
    (tmp_path / "lines" / "also_bad.jsonl").write_text(other_lone := lone.replace("?", "!"))
    w, source = tmp_path / "w", f"records:{tmp_path / 'lines'}"

    result = ingest(w, "--source", source)
    assert result["num_other_topics"] == 2
    assert result["exit_code"] == ExitCode.REJECTED_SHARE
    assert (result["read"], result["read"] - result["already_known"]) == (
        len(results) + len(bad) + 1,
        result["decoded"] + result["rejected"],
    )
    broken = [row for row in rows(w, "rejected_records") if row["part"] == "batch"]
    # What is there twice is reported once, and what another file has is not reported.
    assert sorted(row["value_bytes"].decode() + "\n" for row in broken) == sorted({*bad, other_lone} - {twin})
    (at_offset,) = [row for row in broken if row["value_bytes"].decode() + "\n" == lone]
    assert (at_offset["reason"], at_offset["field"]) == ("bad_base64", "key")
    assert (at_offset["offsets_partition"], at_offset["record_offset"]) == (sure["partition"], of_lost["offset"])
    assert at_offset["source_file"] == str(tmp_path / "lines" / "bad.jsonl")
    assert result["already_known"] == 3
    assert is_healthy(w)
    assert records_of(w) == expected

    # A run over what overlaps all this finds nothing to complain of.
    overlapping = ingest(w, "--source", f"segments:{tmp_path / 'a'}")
    assert overlapping["already_known"] == overlapping["read"] == len(results)
    assert is_healthy(w)

    # The file is mended: its rows go, and what stands in it now comes, and makes good what the other has broken.
    mended = lines([of_lost], without=PRODUCERS)
    (tmp_path / "lines" / "bad.jsonl").write_text(mended + bad[-1])
    result = ingest(w, "--source", source)
    assert (result["num_files_read"], result["decoded"], result["rejected"]) == (1, 1, 1)
    left = [row for row in rows(w, "rejected_records") if row["part"] == "batch"]
    assert [row["value_bytes"].decode() + "\n" for row in left] == bad[-1:]
    place = (of_lost["partition"], of_lost["offset"])
    assert place in {(row["offsets_partition"], row["record_offset"]) for row in rows(w, "offset_commits")}
    assert is_healthy(w)
    check_no_leftovers(w)

    # Gone for good, together with what they held.
    (tmp_path / "lines" / "bad.jsonl").write_text(mended)
    ingest(w, "--source", source)
    assert [row for row in rows(w, "rejected_records") if row["part"] == "batch"] == []


def records_of(warehouse: Path) -> dict[str, list[str]]:
    """The history without lines that are no records."""
    return {
        name: [row for row in result if "'part': 'batch'" not in row] for name, result in history(warehouse).items()
    }


def test_what_one_source_has_broken_another_makes_good(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    segments(tmp_path / "a", logs, rng)
    ingest(tmp_path / "direct", "--source", f"segments:{tmp_path / 'a'}")
    result = archived(tmp_path / "a")
    damaged = segments(tmp_path / "damaged", {3: logs[3]}, rng)
    path = sorted(damaged.rglob("*.log"))[0]
    raw = bytearray(path.read_bytes())
    raw[len(logs[3][0].bytes) - 1] ^= 0xFF
    path.write_bytes(raw)
    behind = logs[3][1].base_offset
    places = [number for number, row in enumerate(result) if row["partition"] == 3 and row["offset"] >= behind][3:7]
    text = lines(result).splitlines(keepends=True)
    for place in places:
        text[place] = text[place].replace('"key": "', '"key": "?')
    (tmp_path / "lines.jsonl").write_text("".join(text))
    for order in (("lines", "damaged"), ("damaged", "lines")):
        w = tmp_path / f"w-{order[0]}"
        for name in order:
            ingest(w, "--source", f"segments:{damaged}" if name == "damaged" else f"records:{tmp_path / 'lines.jsonl'}")
        assert history(w) == history(tmp_path / "direct")
        assert is_healthy(w)


@pytest.mark.parametrize("first", ["archive", "segments"])
def test_an_archive_of_another_log_is_reported(
    tmp_path: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str], first: str
) -> None:
    log = random_log(rng, 8)
    write_copy(tmp_path / "a", 3, log, rng)
    result = archived(tmp_path / "a")
    other = [dict(row) for row in result]
    other[5]["timestamp"] += 1
    pq.write_table(table(other), tmp_path / "other.parquet")
    sources = {"segments": f"segments:{tmp_path / 'a'}", "archive": f"records:{tmp_path / 'other.parquet'}"}
    ingest(tmp_path / "w", "--source", sources.pop(first))
    with unchanged(tmp_path / "w"):
        line = refused(tmp_path / "w", capsys, ExitCode.UNREADABLE_INPUT, "--source", *sources.values())
    assert f"offset {result[5]['offset']} of leader epoch {result[5]['leader_epoch']}: " in line
    assert ".record_time is " in line
    assert line.endswith("; give this Kafka cluster another name: --cluster NAME")


def test_archives_that_cannot_be_read(
    tmp_path: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]
) -> None:
    write_copy(tmp_path / "a", 3, random_log(rng, 3), rng)
    w = tmp_path / "w"
    ingest(w, "--source", f"segments:{tmp_path / 'a'}")
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 and no more")
    pq.write_table(pa.table({"partition": [3]}), tmp_path / "columns.parquet")
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("offset;key\n")
    for name in ("none", "torn.parquet", "columns.parquet", "empty", "text.txt"):
        with unchanged(w):
            line = refused(w, capsys, ExitCode.UNREADABLE_INPUT, "--source", f"records:{tmp_path / name}")
        assert str(tmp_path / name) in line


def test_files_without_a_byte_have_no_records(tmp_path: Path, rng: np.random.Generator) -> None:
    warehouse, archive = tmp_path / "warehouse", tmp_path / "archive"
    ingest(warehouse, "--source", f"segments:{write_copy(tmp_path / 'a', 3, random_log(rng, 3), rng)}")
    archive.mkdir()
    read = []
    for name in ("a", "b", None):
        if name is not None:
            (archive / f"{name}.jsonl").touch()
        result = ingest(warehouse, "--source", f"records:{archive}")
        read.append((result["num_files_read"], result["num_files_unchanged"], result["read"]))
    assert read == [(1, 0, 0), (1, 1, 0), (0, 2, 0)]
    assert len([row for row in rows(warehouse, "source_files") if row["kind"] == "records"]) == 2


def test_an_archive_without_a_record_is_refused_where_nothing_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"topic": "orders", "partition": 0, "offset": 1, "timestamp": 1_700_000_000_000, "key": None, "value": None}
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(other)}\n")
    source = f"records:{tmp_path / 'a.jsonl'}"
    line = refused(tmp_path / "w", capsys, ExitCode.UNREADABLE_INPUT, "--source", source)
    found = f"{source}: there is no record of __consumer_offsets in 1 file, only 1 row of other topics"
    remedy = "give a log that has some: a whole copy, of a topic in use"
    assert line == f"{found}, and nothing is known of cluster default; {remedy}"
