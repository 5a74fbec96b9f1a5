"""Logs of a named shape: what the figures say of their records, and that a coordinator could have written them."""

import json
from collections import Counter
from itertools import accumulate

import pytest

from benchmarks.segments import SNAPSHOTS, Plan, write_segments
from benchmarks.shapes import FEW_KEYS, MANY_KEYS, SHAPES, Shape
from jobs import cli
from tests.benchmarks.plain_batches import read_batches
from tests.runs.ingested import rows

SMALL = Shape(groups=12, topics=3, offsets_partitions=2)


def written(folder, shape, records):
    files = write_segments(folder, Plan(records, seed=5, compressed_share=0, shape=shape))
    return [batch for file in files for batch in read_batches(file.read_bytes())]


def is_commit(record):
    return record[0][:2] == b"\0\1" and record[1] is not None


def test_few_keys(tmp_path):
    batches = written(tmp_path, SHAPES[FEW_KEYS], 100_000)
    records = [record for batch in batches for record in batch.records()]
    commits = [record for record in records if is_commit(record)]
    assert len(records) == 100_000
    assert len(commits) / len(records) == pytest.approx(0.97, abs=0.01)
    assert len({key for key, _ in records if key[:2] == b"\0\1"}) == 300 * 76
    assert Counter(batch.num_records for batch in batches).most_common(1)[0][0] == 10
    versions = Counter(value[1] for _, value in commits if value is not None)
    assert versions[3] / len(commits) == pytest.approx(0.5, abs=0.01)
    assert set(versions) == {3, 4}
    assert {key[1] for key, _ in records} == {1, 2, 3, 5, 6, 7, 8}


def test_of_many_keys_each_commit_has_its_own(tmp_path):
    batches = written(tmp_path, SHAPES[MANY_KEYS], 60_000)
    keys = [key for batch in batches for key, _ in batch.records() if key[:2] == b"\0\1"]
    assert len(keys) == len(set(keys)) > 30_000


def test_the_same_plan_gives_the_same_bytes_and_offsets_without_gaps(tmp_path):
    plan = Plan(3_000, seed=5, compressed_share=0, shape=SMALL)
    first, second = (write_segments(tmp_path / name, plan) for name in ("first", "second"))
    assert len(first) == SMALL.offsets_partitions
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]
    for file in first:
        batches = list(read_batches(file.read_bytes()))
        ends = accumulate((batch.num_records for batch in batches), initial=0)
        assert [batch.base_offset for batch in batches] == list(ends)[:-1]


def test_what_a_group_writes_at_once_is_one_batch(tmp_path):
    for batch in written(tmp_path, SMALL, 20_000):
        kinds = {key[1] for key, _ in batch.records()}
        assert kinds == {1} or 1 not in kinds


def test_a_replay_finds_nothing_strange_and_the_audit_what_kafka_assigns(tmp_path):
    """Both are held against brokers and Kafka's own classes elsewhere."""
    source, warehouse = tmp_path / "log", tmp_path / "warehouse"
    written(source, SMALL, 60_000)
    words = [
        "--source",
        f"segments:{source}",
        "--snapshots",
        str(source / SNAPSHOTS),
        "--workers",
        "1",
        "--fail-on",
        "never",
    ]
    assert cli.main(["audit", "--warehouse", str(warehouse), *words]) == 0
    assert rows(warehouse, "rejected_records") == []
    assert rows(warehouse, "replay_anomalies") == []
    audited = rows(warehouse, "assignment_audit")
    # The one snapshot is of the first time, and only the records of consumer groups confirm numbers of partitions.
    assert {row["verdict"] for row in audited if row["group_type"] == "consumer"} == {"same"}
    assert {row["verdict"] for row in audited} == {"same", "same_unconfirmed"}
    by_type = Counter(row["group_type"] for row in audited)
    assert set(by_type) == {"classic", "consumer"}
    assert min(by_type.values()) > 10


def test_the_snapshot_knows_the_topics(tmp_path):
    written(tmp_path, SMALL, 100)
    (topics,) = [json.loads(line)["topics"] for line in (tmp_path / SNAPSHOTS).read_text().splitlines()]
    assert [len(topic["partitions"]) for topic in topics] == [4, 6, 8]
    assert all(len(topic["topic_id"]) == 22 for topic in topics)
