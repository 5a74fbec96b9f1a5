"""Runs that follow each other on one live topic: what is gone in between is told, and another topic is refused."""

import json
import time
from contextlib import contextmanager

import pytest
from kafka.admin import ConfigResource, ConfigResourceType

import jobs.ingestion.live.plan
import jobs.ingestion.live.span
import jobs.ingestion.task.live_cuts
from jobs import cli
from jobs.broker.client_properties import client_properties
from jobs.broker.cluster import KafkaCluster
from jobs.broker.offsets import partition_offsets
from schemas.words.exit_codes import ExitCode
from tests.kafka.admin import admin_of
from tests.kafka.broker import running
from tests.kafka.live.committing import commit, make_topics
from tests.kafka.live_broker import copied_segments, ingest_live
from tests.kafka.releases import NEWEST
from tests.runs.ingested import history, ingest, keys, rows, run_ingest

pytestmark = pytest.mark.broker

TOPIC = "__consumer_offsets"
SETTINGS = {
    "offsets.topic.num.partitions": "1",
    "log.retention.check.interval.ms": "200",
    "log.initial.task.delay.ms": "200",
}


@contextmanager
def with_commits(folder):
    with running(NEWEST, folder, SETTINGS) as found:
        make_topics(found, "orders")
        commit(found, "first", "orders", 20)
        yield found


@pytest.fixture
def broker(tmp_path):
    (tmp_path / "broker").mkdir()
    with with_commits(tmp_path / "broker") as found:
        yield found


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory):
    """For tests that read its log, or add to it, alone."""
    with with_commits(tmp_path_factory.mktemp("broker")) as found:
        yield found


def refused(warehouse, broker, capsys):
    """What is told; the warehouse stays as it was."""
    before = history(warehouse)
    capsys.readouterr()
    assert run_ingest(warehouse, "--source", f"kafka:{broker.bootstrap}") == ExitCode.UNREADABLE_INPUT
    assert history(warehouse) == before
    (line,) = capsys.readouterr().err.splitlines()
    return line


def let_all_go(broker):
    """Where the log begins, when everything in it is gone by age: brokers delete no records of internal topics."""
    gone = {"cleanup.policy": "delete", "segment.ms": "100", "retention.ms": "1"}
    kept = {"cleanup.policy": "compact", "segment.ms": "604800000", "retention.ms": "-1"}
    with admin_of(broker) as admin, KafkaCluster(broker.bootstrap, client_properties(None)) as cluster:
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC, gone)])
        deadline = time.monotonic() + 120
        while (offsets := partition_offsets(cluster, [(TOPIC, 0)])[TOPIC, 0]).start < offsets.end:
            assert time.monotonic() < deadline, f"the broker at {broker.bootstrap} keeps its records"
            time.sleep(0.1)
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC, kept)])
    return offsets.start


@pytest.mark.drawn_together(2)
def test_what_is_gone_before_it_was_read_is_a_gap(tmp_path, broker, capsys):
    ingest_live(tmp_path / "w", broker)
    first = keys(tmp_path / "w")
    commit(broker, "second", "orders", 20)
    begin = let_all_go(broker)
    commit(broker, "then", "orders", 5)
    capsys.readouterr()
    found = ingest_live(tmp_path / "w", broker)
    assert f"{TOPIC}-0 now begins at offset {begin}: records before it" in capsys.readouterr().err
    then = keys(tmp_path / "w")
    assert then[: len(first)] == first
    assert then[len(first)][1] == begin
    (counts,) = counts_of(tmp_path / "w", found["run_id"])
    assert (counts["gaps"], counts["first_offset"]) == (1, begin)
    # Told once.
    commit(broker, "third", "orders", 5)
    found = ingest_live(tmp_path / "w", broker)
    assert "begins at" not in capsys.readouterr().err
    (counts,) = counts_of(tmp_path / "w", found["run_id"])
    assert counts["gaps"] == 0


def counts_of(warehouse, run_id):
    (run,) = [row for row in rows(warehouse, "runs") if row["run_id"] == run_id]
    return list(run["ingest_counts"])


@pytest.mark.drawn_together(2)
def test_snapshots_of_another_cluster_are_refused_before_the_log_is_read(tmp_path, unharmed, capsys):
    """Whether they are in the warehouse or beside the log."""
    theirs, foreign = "MkU3OEVBNTcwNTJENDM2Qg", tmp_path / "foreign.jsonl"
    foreign.write_text(json.dumps({"captured_at": 1_795_230_000_000, "topics": [], "cluster_id": theirs}) + "\n")
    ours = (unharmed.log_dir / "meta.properties").read_text().partition("cluster.id=")[2].split()[0]
    source = ("--source", f"kafka:{unharmed.bootstrap}")
    assert run_ingest(tmp_path / "none", *source, "--snapshots", foreign) == ExitCode.UNREADABLE_INPUT
    line = f"{foreign}: the cluster id is {theirs}, but kafka:{unharmed.bootstrap} has {ours}: snapshots of another"
    assert line in capsys.readouterr().err
    ingest(tmp_path / "w", "--snapshots", foreign)
    line = refused(tmp_path / "w", unharmed, capsys)
    assert theirs in line and ours in line and "--drop-snapshots" in line and "--cluster" not in line
    assert cli.main(["maintain", "--warehouse", str(tmp_path / "w"), "--drop-snapshots", ".."]) == ExitCode.CLEAN
    assert ingest_live(tmp_path / "w", unharmed)["decoded"] > 0
    assert {row["cluster_id"] for row in rows(tmp_path / "w", "cluster_snapshots")} == {ours}


@pytest.mark.drawn_together(2)
def test_a_topic_that_was_recreated_is_refused(tmp_path, broker, capsys):
    ingest_live(tmp_path / "w", broker)
    copied_segments(broker, tmp_path / "copied")
    ingest(tmp_path / "of_files", "--source", f"segments:{tmp_path / 'copied'}")
    with admin_of(broker) as admin:
        admin.delete_topics([TOPIC])
    # Fewer records at first, then more than there were.
    for group, number in (("short", 3), ("long", 60)):
        commit(broker, group, "orders", number)
        line = refused(tmp_path / "w", broker, capsys)
        assert f"{TOPIC} was recreated" in line
        assert "give this Kafka cluster another name: --cluster NAME" in line
        line = refused(tmp_path / "of_files", broker, capsys)
        assert f"{TOPIC}-0" in line
        assert "give this Kafka cluster another name: --cluster NAME" in line
    found = ingest_live(tmp_path / "w", broker, "--cluster", "anew")
    assert found["decoded"] == found["read"] > 60


def test_a_log_cut_into_small_ranges_gives_the_same_rows(tmp_path, unharmed, monkeypatch):
    commit(unharmed, "more", "orders", 100)
    ingest_live(tmp_path / "whole", unharmed)
    for module, name, value in (
        (jobs.ingestion.task.live_cuts, "LEAST_OFFSETS", 3),
        (jobs.ingestion.task.live_cuts, "RANGE_BYTES", 1000),
        (jobs.ingestion.live.plan, "SAMPLE_BYTES", 1),
        (jobs.ingestion.live.span, "LEAST_AT_ONCE", 500),
        (jobs.ingestion.live.span, "MOST_AT_ONCE", 700),
    ):
        monkeypatch.setattr(module, name, value)
    found = ingest_live(tmp_path / "cut", unharmed)
    assert found["num_files_read"] > 10
    assert history(tmp_path / "cut") == history(tmp_path / "whole")
    assert bytes_and_batches(tmp_path / "cut") == bytes_and_batches(tmp_path / "whole")


def bytes_and_batches(warehouse):
    files = rows(warehouse, "source_files")
    return sum(row["size_bytes"] for row in files), sum(row["num_batches"] for row in files)


def test_tasks_of_spark_fetch_by_themselves(tmp_path, unharmed):
    ingest_live(tmp_path / "driver", unharmed)
    ingest_live(tmp_path / "tasks", unharmed, "--engine", "spark")
    assert history(tmp_path / "tasks") == history(tmp_path / "driver")


def test_damaged_bytes_of_files_are_made_good_by_the_live_log(tmp_path, unharmed):
    copied_segments(unharmed, tmp_path / "copied")
    (path,) = (path for path in (tmp_path / "copied").rglob("*.log") if path.stat().st_size)
    content = bytearray(path.read_bytes())
    content[end_of_batch(content, 10) - 1] ^= 0x55
    path.write_bytes(content)
    ingest(tmp_path / "w", "--config", tolerant(tmp_path), "--source", f"segments:{tmp_path / 'copied'}")
    assert len(rows(tmp_path / "w", "rejected_records")) == 1
    ingest_live(tmp_path / "w", unharmed)
    assert rows(tmp_path / "w", "rejected_records") == []
    ingest_live(tmp_path / "live", unharmed)
    assert history(tmp_path / "w") == history(tmp_path / "live")


def end_of_batch(content, number):
    position = 0
    for _ in range(number):
        position += 12 + int.from_bytes(content[position + 8 : position + 12], "big")
    return position


def tolerant(folder):
    (folder / "tolerant.toml").write_text("[ingest]\nmax_rejected_share = 1.0\n")
    return folder / "tolerant.toml"


@pytest.mark.drawn_together(2)
def test_a_log_that_was_cut_off_is_refused(tmp_path, broker, capsys):
    ingest_live(tmp_path / "w", broker)
    (path,) = (path for path in broker.log_dir.glob(f"{TOPIC}-0/*.log") if path.stat().st_size)
    broker.stop()
    with path.open("r+b") as file:
        file.truncate(end_of_batch(path.read_bytes(), 10))
    # As after a crash: the broker looks at its files.
    (broker.log_dir / ".kafka_cleanshutdown").unlink()
    broker.start(SETTINGS)
    line = refused(tmp_path / "w", broker, capsys)
    assert f"{TOPIC}-0 ends at offset 10, the warehouse knows it up to " in line
    commit(broker, "then", "orders", 30)
    line = refused(tmp_path / "w", broker, capsys)
    assert "has another leader epoch" in line
    found = ingest_live(tmp_path / "w", broker, "--cluster", "anew")
    assert found["read"] == found["decoded"]
