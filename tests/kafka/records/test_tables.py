"""The tables hold each record of a broker's log once, with what kafka-dump-log says of it, and nothing else; also what
the cleaner has taken from a later copy of the log."""

import json
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from tests.kafka.records.table_rows import dumped_files, table_row, with_payloads
from tests.runs.ingested import RECORD_TABLES, history, ingest, rows

pytestmark = pytest.mark.broker

Place = tuple[int, int]


@pytest.fixture(params=["full", "compacted"])
def copy(request, capture):
    return capture if request.param == "full" else capture.compacted


def test_tables_hold_what_kafka_prints(copy, tmp_path):
    run = ingest(tmp_path / "w", "--source", f"segments:{copy.log_dir}")
    files = list(dumped_files(copy.dump_text))
    expected = expected_rows(files)
    assert_same_rows(tmp_path / "w", expected, {"cluster": "default", "run_id": run["run_id"]})
    assert (run["exit_code"], run["num_files_read"]) == (0, len(copy.segments))
    assert (run["read"], run["decoded"]) == (len(expected), len(expected))
    assert (run["rejected"], run["already_known"], run["reject_reasons"]) == (0, 0, {})
    assert counts(tmp_path / "w") == {
        partition: Counter(read=number, decoded=number) for partition, number in records_of(files).items()
    }


def test_runs_and_files_are_reported_as_kafka_prints_them(copy, tmp_path):
    ingest(tmp_path / "w", "--source", f"segments:{copy.log_dir}")
    files = list(dumped_files(copy.dump_text))
    (run,) = rows(tmp_path / "w", "runs")
    assert run["num_offsets_partitions"] == len({file.partition for file in files if file.records or file.batches})
    reported = {count["offsets_partition"]: count for count in run["ingest_counts"]}
    for partition, number in records_of(files).items():
        offsets = [record.offset for file in files if file.partition == partition for record, _ in file.records]
        gaps = sum(after - before > 1 for before, after in pairwise(offsets))
        assert (reported[partition]["read"], reported[partition]["gaps"]) == (number, gaps)
        assert (reported[partition]["first_offset"], reported[partition]["last_offset"]) == (offsets[0], offsets[-1])
    by_file = {file_key(Path(row["source_file"])): row for row in rows(tmp_path / "w", "source_files")}
    assert len(by_file) == len(copy.segments)
    for file in files:
        row = by_file.pop((file.partition, file.name))
        assert (row["offsets_partition"], row["kind"]) == (file.partition, "segments")
        assert {name: row[name] for name in facts(file)} == facts(file)
    # kafka-dump-log begins no new line for a file without batches? It names each, so that none is left.
    assert by_file == {}


@pytest.mark.drawn(4)
@pytest.mark.parametrize("order", [("full", "compacted"), ("compacted", "full"), ("both",)], ids="+".join)
def test_a_log_and_its_compacted_copy_make_one_history(capture, order, tmp_path):
    sources = {"full": capture.log_dir, "compacted": capture.compacted.log_dir, "both": capture.folder}
    files = {name: list(dumped_files(copy.dump_text)) for name, copy in copies(capture).items()}
    seen = set()
    for name in order:
        run = ingest(tmp_path / "w", "--source", f"segments:{sources[name]}")
        printed = [file for part in (files.values() if name == "both" else (files[name],)) for file in part]
        new = places(printed) - seen
        seen |= new
        assert (run["exit_code"], run["rejected"], run["num_epoch_conflicts"]) == (0, 0, 0)
        assert run["read"] == sum(records_of(printed).values())
        assert (run["decoded"], run["already_known"]) == (len(new), run["read"] - len(new))
    assert places(files["full"]) - places(files["compacted"]), "the cleaner took nothing"
    assert places(files["compacted"]) - places(files["full"]), "nothing was written after the first copy"
    # Where both copies have a record they agree about it, or else one of the orders fails; the cleaner's batches are
    # smaller.
    expected = expected_rows(files["full"]) | expected_rows(files["compacted"])
    assert_same_rows(tmp_path / "w", expected, {"cluster": "default"}, of_copies={"run_id", "batch_bytes"})


def test_whichever_copy_comes_first_the_histories_are_equal(capture, tmp_path):
    for name, order in {"later": ["full", "compacted"], "earlier": ["compacted", "full"]}.items():
        for each in order:
            ingest(tmp_path / name, "--source", f"segments:{copies(capture)[each].log_dir}")
    ingest(tmp_path / "at_once", "--source", f"segments:{capture.folder}")
    assert history(tmp_path / "later") == history(tmp_path / "earlier") == history(tmp_path / "at_once")


def copies(capture):
    return {"full": capture, "compacted": capture.compacted}


def expected_rows(files):
    result = {}
    for file in files:
        for record, record_bytes in file.records:
            assert (file.partition, record.offset) not in result
            result[file.partition, record.offset] = table_row(record, record_bytes)
    return result


def assert_same_rows(warehouse, expected, same, of_copies=frozenset()):
    held = [(name, row) for name in RECORD_TABLES for row in rows(warehouse, name)]
    assert len(held) == len(expected)
    for name, row in held:
        table, wanted = expected[row["offsets_partition"], row["record_offset"]]
        reported = {column: value for column, value in readable(row).items() if column not in of_copies}
        wanted = {column: value for column, value in wanted.items() if column not in of_copies}
        assert name == table
        if "members" in wanted:
            wanted = with_payloads(wanted, reported)
        assert_equal(reported, wanted | same)
    assert {row["record_offset"] for _, row in held} == {offset for _, offset in expected}


def readable(row):
    for member in row.get("members") or ():
        member["payload_json"] = member["payload_json"] and json.loads(member["payload_json"])
    return row


def assert_equal(row, wanted):
    """As text, where 0 is not false."""
    assert as_text(row) == as_text(wanted)


def as_text(value):
    if isinstance(value, dict):
        return "{" + ",\n".join(f"{name}: {as_text(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_text, value)) + "]"
    return value.isoformat() if isinstance(value, datetime) else repr(value)


def places(files):
    return {(file.partition, record.offset) for file in files for record, _ in file.records}


def records_of(files):
    result = Counter()
    for file in files:
        result[file.partition] += len(file.records)
    return +result


def counts(warehouse):
    """What the newest run says of each partition, without what is 0."""
    run = max(rows(warehouse, "runs"), key=lambda row: str(row["run_id"]))
    names = ("read", "decoded", "rejected", "already_known")
    result = {row["offsets_partition"]: +Counter({name: row[name] for name in names}) for row in run["ingest_counts"]}
    return {partition: count for partition, count in result.items() if count}


def file_key(path):
    return int(path.parent.name.rpartition("-")[2]), path.name


def facts(file):
    records = [record for record, _ in file.records]
    return {
        "first_offset": records[0].offset if records else None,
        "last_offset": records[-1].offset if records else None,
        "num_records": len(records),
        "num_batches": len(file.batches),
        "num_tombstones": sum(record.marker is None and record.value is None for record in records),
        "num_delete_horizon_batches": sum(batch.has_delete_horizon for batch in file.batches),
        "torn_tail_bytes": 0,
        "read_from_position": 0,
        "size_bytes": sum(batch.size_bytes for batch in file.batches),
        "read_to_position": sum(batch.size_bytes for batch in file.batches),
        "last_batch_position": file.batches[-1].position if file.batches else None,
    }
