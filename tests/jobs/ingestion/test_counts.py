"""What an ingest says of itself, against an independent reading of the same files: counts, gaps, files, coverage."""

import json
import os
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from deltalake import DeltaTable

from schemas.views import VIEWS
from tests.builders.logs.batches import Batch, record
from tests.builders.logs.copies import T0, WrittenBatch, commit, compacted, random_log, write_copy
from tests.oracles.decoding.decoder import decode_record
from tests.oracles.decoding.kafka_names import NAMES
from tests.oracles.log.framing import crc32c, read_log
from tests.oracles.log.slow_records import SlowLog
from tests.runs.ingested import RECORD_TABLES, ROOT, history, ingest, rows, versions

SAMPLE = ROOT / "data" / "sample"
HEADER = 61
DELETE_HORIZON = 0x40
COUNTS = ("read", "decoded", "rejected", "already_known")


def logs_below(folder: Path) -> dict[Path, SlowLog]:
    return {path: read_log(path.read_bytes()) for path in sorted(folder.rglob("*.log"))}


def partition_of(path: Path) -> int:
    return int(path.parent.name.rpartition("-")[2])


def counts_of_run(warehouse: Path, run_id: str) -> dict[int, dict[str, Any]]:
    (run,) = [row for row in rows(warehouse, "runs") if row["run_id"] == run_id]
    assert run["num_offsets_partitions"] == len(run["ingest_counts"])
    return {count["offsets_partition"]: count for count in run["ingest_counts"]}


def expected_counts(logs: dict[Path, SlowLog], known: set[tuple[int, int, int]]) -> dict[int, dict[str, Any]]:
    """By what each record is, read one by one; `known` has partition, offset and leader epoch of earlier runs."""
    result: dict[int, dict[str, Any]] = {}
    seen, offsets = set(known), dict[int, set[int]]()
    for path, log in logs.items():
        partition = partition_of(path)
        count = result.setdefault(partition, {"offsets_partition": partition, **dict.fromkeys((*COUNTS, "damaged"), 0)})
        for each in log.records:
            count["read"] += 1
            key = (partition, each.offset, each.leader_epoch)
            is_rejected = "rejected" in decode_record(each.key, each.value, each.is_control)
            kind = "already_known" if key in seen else "rejected" if is_rejected else "decoded"
            count[kind] += 1
            seen.add(key)
            offsets.setdefault(partition, set()).add(each.offset)
    for partition, count in result.items():
        in_order = sorted(offsets.get(partition, ()))
        count["first_offset"], count["last_offset"] = (in_order[0], in_order[-1]) if in_order else (None, None)
        count["gaps"] = sum(later > earlier + 1 for earlier, later in pairwise(in_order))
    known |= seen
    return result


def mixed_log(rng: np.random.Generator) -> list[bytes]:
    """Batches as brokers write them, with markers, delete horizons and compacted ones among them."""
    result = []
    for batch in compacted(random_log(rng, 40), rng, 0.3):
        result.append(batch.bytes)
    base = 1_000
    for number in range(6):
        key, _ = commit("group-0", "t", number, 5)
        about: dict[str, Any] = {"leader_epoch": 9, "base_time": T0, "max_time": T0}
        match number % 3:
            case 0:
                result.append(Batch(record(0, key, None), 1, base, attributes=DELETE_HORIZON, **about).bytes())
            case 1:
                # All that the cleaner has left of a batch: its offsets.
                result.append(Batch(b"", 0, base, last_delta=4, **about).bytes())
            case 2:
                body = record(0, b"\0\0\0\1", b"\0\0\0\0\0\7")
                result.append(Batch(body, 1, base, attributes=0x30, producer_id=7, producer_epoch=1, **about).bytes())
        base += int(rng.integers(5, 9))
    return result


def test_counts_of_a_run_are_those_of_the_records(tmp_path: Path, rng: np.random.Generator) -> None:
    known: set[tuple[int, int, int]] = set()
    for number in range(3):
        folder = tmp_path / str(number)
        for partition in (0, 5):
            log = random_log(np.random.default_rng(partition), 30)
            write_copy(folder, partition, compacted(log, rng, 0.3), rng)
        run = ingest(tmp_path / "w", "--source", f"segments:{folder}")
        expected = expected_counts(logs_below(folder), known)
        assert counts_of_run(tmp_path / "w", run["run_id"]) == expected
        assert {name: run[name] for name in COUNTS} == {
            name: sum(count[name] for count in expected.values()) for name in COUNTS
        }
        # For programs that lost the exit code and the output.
        document = json.loads((tmp_path / "w" / "_runs" / f"{run['run_id']}.json").read_text())
        assert document == run


def test_counts_of_copies_read_at_once_are_those_of_the_records(tmp_path: Path, rng: np.random.Generator) -> None:
    log = random_log(rng, 30)
    for number in range(3):
        write_copy(tmp_path / "copies" / str(number), 4, compacted(log, rng, 0.5), rng)
    run = ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'copies'}")
    expected = expected_counts(logs_below(tmp_path / "copies"), set())
    assert counts_of_run(tmp_path / "w", run["run_id"]) == expected


def test_rows_of_files_show_what_stands_in_them(tmp_path: Path, rng: np.random.Generator) -> None:
    batches = mixed_log(rng)
    folder = tmp_path / "a" / "__consumer_offsets-7"
    folder.mkdir(parents=True)
    damaged = bytearray(batches[3])
    damaged[-1] ^= 0xFF
    bases = [int.from_bytes(batch[:8], "big") for batch in batches]
    contents = {
        0: b"".join([*batches[:3], damaged, *batches[4:9]]),
        bases[9]: b"".join(batches[9:-1]),
        bases[-1]: batches[-1] + batches[-1][:50],
        bases[-1] + 1_000: b"",
    }
    for base, content in contents.items():
        (folder / f"{base:020}.log").write_bytes(content)
    # The newest may end amid a batch, and in the room that brokers keep ready.
    last = folder / f"{bases[-1] + 1_000:020}.log"
    tail = Batch(record(0, *commit("g", "t", 0, 1)), 1, bases[-1] + 1_000).bytes()
    last.write_bytes(tail + tail[:30])
    for path in folder.iterdir():
        os.utime(path, ns=(1, 1_795_230_000_123_000_000))
    result = ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'a'}")
    results = {Path(row["source_file"]): row for row in rows(tmp_path / "w", "source_files")}
    logs = logs_below(tmp_path / "a")
    assert results.keys() == logs.keys()
    for path, log in logs.items():
        raw, is_newest = path.read_bytes(), path == last
        headers = [crc32c(raw[batch.position : batch.position + HEADER]) for batch in log.batches]
        torn = log.torn_tail if is_newest else 0
        assert results[path] == {
            "cluster": "default",
            "run_id": result["run_id"],
            "offsets_partition": 7,
            "source_file": str(path),
            "kind": "segments",
            "size_bytes": len(raw),
            "modified_time": datetime.fromtimestamp(1_795_230_000.123, UTC),
            "first_offset": log.records[0].offset,
            "last_offset": log.records[-1].offset,
            "num_records": len(log.records),
            "num_batches": len(log.batches),
            "num_tombstones": sum(each.value is None and not each.is_control for each in log.records),
            "num_delete_horizon_batches": sum(batch.has_delete_horizon for batch in log.batches),
            "torn_tail_bytes": torn,
            "read_from_position": 0,
            "read_to_position": len(raw) - torn,
            "first_batch_crc": headers[0],
            "last_batch_position": log.batches[-1].position,
            "last_batch_crc": headers[-1],
            "file_id": None,
            "skipped_reason": None,
            "cluster_id": None,
            "offsets_topic_id": None,
        }
    ranges = [row for row in rows(tmp_path / "w", "rejected_records") if row["part"] == "batch"]
    rejected = [(path, each) for path, log in logs.items() if path != last for each in log.rejected]
    assert len(rejected) > 1
    assert sorted(
        (row["source_file"], row["byte_position"], row["size_bytes"], row["reason"]) for row in ranges
    ) == sorted((str(path), each.position, each.size, each.reason) for path, each in rejected)
    # Each counts as one record read.
    assert result["read"] == sum(len(log.records) for log in logs.values()) + len(rejected)


def test_the_sample_s_counts_are_those_of_its_files(tmp_path: Path) -> None:
    run = ingest(tmp_path / "w", "--source", f"segments:{SAMPLE}")
    logs = logs_below(SAMPLE)
    assert counts_of_run(tmp_path / "w", run["run_id"]) == expected_counts(logs, set())
    assert sum(map(len, history(tmp_path / "w").values())) == sum(len(log.records) for log in logs.values())
    check_coverage(tmp_path / "w", logs)


def test_coverage_shows_what_could_not_be_read(tmp_path: Path, rng: np.random.Generator) -> None:
    batches = random_log(rng, 40)
    write_copy(tmp_path / "a", 3, [*batches, broken_batch(batches[-1])], rng)
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'a'}")
    check_coverage(tmp_path / "w", logs_below(tmp_path / "a"))


def broken_batch(before: WrittenBatch) -> WrittenBatch:
    """With a version of a value that nobody knows, a value cut short, and no key."""
    key, value = commit("group-0", "t", 0, 5)
    Written = type(before.records[0])
    records = ((key, b"\0\x63" + value[2:]), (key, value[:9]), (None, value))
    numbered = tuple(Written(delta, *each) for delta, each in enumerate(records))
    return WrittenBatch(before.base_offset + 10, before.leader_epoch, numbered, 2)


def check_coverage(warehouse: Path, logs: dict[Path, SlowLog]) -> None:
    """`v_decode_coverage` against each record by itself."""
    expected: Counter[tuple[Any, ...]] = Counter()
    for log in logs.values():
        for each in log.records:
            expected[kind_of(each.key, each.value, each.is_control)] += 1
    duck = duckdb.connect()
    for name in VIEWS["v_decode_coverage"].reads:
        duck.register(name, DeltaTable(warehouse / name, version=versions(warehouse)[name]).to_pyarrow_table())
    result = duck.sql(VIEWS["v_decode_coverage"].sql).to_arrow_table().to_pylist()
    reported = {
        (row["outcome"], row["reason"], row["type"], row["value_version"]): row["num_records"] for row in result
    }
    assert reported == expected
    assert len(reported) == len(result)
    assert {row["table_name"] for row in result} <= set(RECORD_TABLES)
    decoded = sum(number for kind, number in expected.items() if kind[0] == "decoded")
    (share,) = {row["coverage_share"] for row in result}
    assert share == pytest.approx(decoded / sum(expected.values()))


def kind_of(key: bytes | None, value: bytes | None, is_control: bool) -> tuple[Any, ...]:
    """Outcome, reason, Kafka's name and the number that opens the value."""
    if is_control:
        assert key is not None and value is not None
        return "decoded", None, ["ABORT", "COMMIT"][key[3]], int.from_bytes(value[:2], "big")
    result = decode_record(key, value)
    version = None if value is None else int.from_bytes(value[:2], "big")
    name = None if key is None else NAMES.get(int.from_bytes(key[:2], "big"))
    if "rejected" not in result:
        return "decoded", None, name, version
    reason = result["rejected"]["reason"]
    return "unknown" if reason.startswith("unknown") else "malformed", reason, name, version
