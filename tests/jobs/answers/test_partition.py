"""`partition` says where the records of a group are, or would be, and what was read of that partition."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable

from jobs import cli
from tests.audited_sample import SAMPLE, audited_sample
from tests.builders.tables.history import at, coverage, interval
from tests.make.tables import make

__all__ = ["audited_sample"]

pytestmark = pytest.mark.about("partition", "group_partition")
Answer = Callable[..., dict[str, Any]]


@pytest.fixture
def answer(capfd: pytest.CaptureFixture[str]) -> Answer:
    def answered(warehouse: Path, group: str) -> dict[str, Any]:
        capfd.readouterr()
        assert cli.main(["partition", group, "--warehouse", str(warehouse), "--format", "json"]) == 0
        (line,) = capfd.readouterr().out.splitlines()
        row: dict[str, Any] = json.loads(line)
        return row

    return answered


@pytest.fixture
def lines(capfd: pytest.CaptureFixture[str]) -> Callable[[Path, str], list[str]]:
    def printed(warehouse: Path, group: str) -> list[str]:
        capfd.readouterr()
        assert cli.main(["partition", group, "--warehouse", str(warehouse)]) == 0
        return capfd.readouterr().out.splitlines()

    return printed


def java_partition(group: str, number: int) -> int:
    """As Kafka's Utils.abs(group.hashCode()) % number, in the arithmetic of Java's int."""
    code = 0
    for unit in memoryview(group.encode("utf-16-le")).cast("H"):
        code = (31 * code + unit) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return (0 if signed == -(1 << 31) else abs(signed)) % number


def test_a_group_is_where_the_broker_wrote_it_and_the_rest_is_as_the_tables_say(
    audited_sample: Path, answer: Answer
) -> None:
    tables = {name: DeltaTable(audited_sample / name).to_pyarrow_table() for name in (
        "group_state_intervals", "history_coverage", "coordinator_epochs", "source_files")}  # fmt: skip
    with duckdb.connect() as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        expected = connection.sql(
            "SELECT s.group_id, p.offsets_partition, p.first_offset, p.last_offset, p.num_records, "
            "strftime(p.to_time AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ'), "
            "(SELECT max(e.partition_leader_epoch) FROM coordinator_epochs AS e "
            "WHERE e.offsets_partition = p.offsets_partition), "
            "(SELECT count(DISTINCT f.source_file) FROM source_files AS f "
            "WHERE f.offsets_partition = p.offsets_partition), "
            "FROM (SELECT DISTINCT group_id, evidence_partition FROM group_state_intervals) AS s "
            "JOIN history_coverage AS p ON p.offsets_partition = s.evidence_partition ORDER BY s.group_id"
        ).fetchall()
    assert len(expected) > 20
    assert len({row[1] for row in expected}) == 8
    *_, snapshot = (json.loads(line) for line in (SAMPLE / "snapshots.jsonl").read_text().splitlines())
    (broker,) = snapshot["brokers"]
    for row in expected[::4]:
        named = answer(audited_sample, row[0])
        assert (
            row[0], named["offsets_partition"], named["first_record_offset"], named["last_record_offset"],
            named["num_records"], named["last_record_time"], named["leader_epoch"], named["num_sources"],
        ) == row  # fmt: skip
        assert (named["num_offsets_partitions"], named["has_records"], named["other_partitions"]) == (8, True, [])
        assert named["coordinator"] == f"{broker['host']}:{broker['port']}  ({broker['id']})"
        assert (named["missing"], named["is_read"], named["unknown_reason"]) == ([], True, None)
        assert f"__consumer_offsets-{row[1]}/" in named["newest_source"]


def test_a_group_that_no_record_names_has_a_partition_too(audited_sample: Path, answer: Answer, lines: Any) -> None:
    # The hash code of the last one is the lowest integer, which has no absolute value.
    for group in ("never-seen", "", "größe 𝄞", "polygenelubricants"):
        row = answer(audited_sample, group)
        assert (row["offsets_partition"], row["has_records"]) == (java_partition(group, 8), False)
    first, second, *_ = lines(audited_sample, "never-seen")
    expected = java_partition("never-seen", 8)
    assert first == (
        f"Group        never-seen: the warehouse has no record of it; its records would be in partition {expected}"
    )
    assert second == f"Partition    __consumer_offsets-{expected}, one of 8"


def state(group: str, partition: int, begin: float) -> dict[str, Any]:
    return {**interval(begin, None, 100), "group_id": group, "state": "Empty", "evidence_partition": partition}


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No snapshot. Records of partition 3 are missing, and one group has records in two partitions."""
    return make(tmp_path_factory.mktemp("unknown") / "w", {
        "group_state_intervals": [state("here", 3, 5), state("moved", 3, 5), state("moved", 7, 50)],
        "history_coverage": [coverage(100, 200, 5, 10), coverage(300, 400, 40, 60)],
        "source_files": [
            {"offsets_partition": 3, "source_file": "a.log", "kind": "segments", "last_offset": 400},
            {"offsets_partition": 7, "source_file": "b.log", "kind": "segments", "last_offset": 900},
            {"offsets_partition": None, "source_file": "old.parquet", "kind": "records", "last_offset": 200},
            {"offsets_partition": None, "source_file": "ends.jsonl", "kind": "snapshots", "last_offset": None},
        ],
    }).root.path  # fmt: skip


def test_without_snapshots_the_records_of_the_group_say_where_it_is(unknown: Path, answer: Answer, lines: Any) -> None:
    row = answer(unknown, "here")
    assert (row["offsets_partition"], row["num_offsets_partitions"], row["coordinator"]) == (3, None, None)
    assert (row["num_sources"], row["newest_source"]) == (2, "a.log")
    assert [(each["after_offset"], each["to_time"]) for each in row["missing"]] == [
        (-1, "2026-11-21T03:00:05.000Z"), (200, "2026-11-21T03:00:40.000Z"),
    ]  # fmt: skip
    text = lines(unknown, "here")
    assert [line for line in text if line.startswith("Missing")] == [
        "Missing      records of __consumer_offsets-3 before 2026-11-21T03:00:05.000Z are missing from the warehouse",
        "Missing      records of __consumer_offsets-3 after 2026-11-21T03:00:10.000Z and before "
        "2026-11-21T03:00:40.000Z are missing from the warehouse",
    ]
    (coordinator,) = (line for line in text if line.startswith("Coordinator"))
    assert coordinator.startswith("Coordinator  unknown: no snapshot has the leader of the partition; ")


def test_of_several_partitions_the_newest_record_counts_and_one_that_was_not_read_is_said(
    unknown: Path, answer: Answer, lines: Any
) -> None:
    row = answer(unknown, "moved")
    assert (row["offsets_partition"], row["other_partitions"], row["is_read"]) == (7, [3], False)
    (read,) = (line for line in lines(unknown, "moved") if line.startswith("Read"))
    assert read == "Read         never: no source had a record of it; the warehouse has 1 other: 3"


def test_a_group_without_records_is_unknown_where_the_number_of_partitions_is(
    unknown: Path, answer: Answer, lines: Any
) -> None:
    row = answer(unknown, "never-seen")
    assert (row["offsets_partition"], row["has_records"]) == (None, False)
    assert row["unknown_reason"].startswith("the number of partitions of __consumer_offsets is unknown, since ")
    assert row.keys() == answer(unknown, "here").keys()
    (line,) = (line for line in lines(unknown, "never-seen") if line.startswith("Partition"))
    assert line.endswith(f"; with Kafka's default of 50 it would be {java_partition('never-seen', 50)}")


def test_a_leader_that_began_after_the_snapshot_may_be_another_broker(tmp_path: Path, lines: Any) -> None:
    def epoch(number: int, seconds: float) -> dict[str, Any]:
        return {
            "offsets_partition": 3,
            "partition_leader_epoch": number,
            "from_time": at(seconds),
            "is_provisional": True,
        }

    warehouse = make(tmp_path / "w", {
        "group_state_intervals": [state("g", 3, 5)],
        "history_coverage": [coverage(0, 400, 5, 60)],
        "coordinator_epochs": [epoch(4, 5), epoch(6, 40)],
        "cluster_snapshots": [{
            "captured_time": at(30),
            "brokers": [{"id": 1, "host": "h", "port": 9092, "rack": None}],
            "offsets_partitions": [{"partition": 3, "leader": 1}],
        }],
    }).root.path  # fmt: skip
    (line,) = (line for line in lines(warehouse, "g") if line.startswith("Coordinator"))
    assert line == (
        "Coordinator  h:9092  (1), by the newest snapshot, of 2026-11-21T03:00:30.000Z; leader epoch 6, first record "
        "at 2026-11-21T03:00:40.000Z: perhaps another broker since then"
    )
