"""Snapshots of a real broker in warehouses of every kind: the same rows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jobs import cli
from jobs.warehouses.lock import LOCK_FILE
from schemas.exit_codes import ExitCode
from tests.jobs.ingested import ingest, rows
from tests.kafka import kafka_tools
from tests.kafka.broker import Broker, running
from tests.kafka.releases import KAFKA_4_3
from tests.written_copies import commit
from tests.written_segments import batch, segment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.broker, pytest.mark.spark]

TABLES = ("cluster_snapshots", "topic_snapshots")
OF_THE_RUN = {"run_id", "captured_time"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running(KAFKA_4_3, tmp_path_factory.mktemp("broker")) as started:
        for name in ("orders", "unread"):
            kafka_tools.tool(started, kafka_tools.TOPICS, "--create", "--topic", name, "--partitions", "2")
        yield started


def test_sparks_writer_leaves_what_the_direct_one_does(broker: Broker, spark: "SparkSession", tmp_path: Path) -> None:
    """It writes wherever only Hadoop knows the file system."""
    source = f"segments:{segment(tmp_path, batch(0, [commit('g', 'orders', 0, 1)])).parent}"
    spark.conf.set("fs.viewfs.mounttable.captures.link./data", tmp_path.as_uri())

    for warehouse in (str(tmp_path / "direct"), "viewfs://captures/data/by-spark"):
        assert cli.main(["ingest", "--source", source, "--cluster", "a", "--warehouse", warehouse]) == 0
        for _ in range(2):
            assert capture(broker, warehouse) == ExitCode.CLEAN
    for table in TABLES:
        direct, staged = (without_run(tmp_path / name, table) for name in ("direct", "by-spark"))
        assert direct == staged
        assert direct
    assert {row["topic"] for row in rows(tmp_path / "by-spark", "topic_snapshots")} == {"orders"}
    jobs = [row["job"] for row in sorted(rows(tmp_path / "by-spark", "runs"), key=lambda row: row["run_id"])]
    assert jobs == ["ingest", "capture", "capture"]


def test_a_remote_warehouse_knows_its_cluster(
    broker: Broker, spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.conf.set("fs.viewfs.mounttable.clusters.link./data", tmp_path.as_uri())
    topic = {"topic": "__consumer_offsets", "topic_id": "A" * 21 + "Q", "partitions": []}
    partition = {"partition": 0, "log_end_offset": 7}
    line = {"captured_at": 7, "topics": [{**topic, "partitions": [partition]}]}
    (tmp_path / "snapshots").write_text(json.dumps(line) + "\n")
    ingest(tmp_path / "w", "--snapshots", tmp_path / "snapshots")
    # To Hadoop's file systems the file itself is the lock.
    (tmp_path / "w" / LOCK_FILE).unlink()
    kafka_tools.tool(
        broker, kafka_tools.TOPICS, "--create", "--topic", "__consumer_offsets", "--partitions", "1", "--if-not-exists"
    )
    assert capture(broker, "viewfs://clusters/data/w") == ExitCode.UNREADABLE_INPUT
    assert capsys.readouterr().err.endswith("use another --cluster\n")
    assert capture(broker, "viewfs://clusters/data/w", "--cluster", "b") == ExitCode.CLEAN


def capture(broker: Broker, warehouse: str, *arguments: str) -> int:
    return cli.main(["capture", "--source", f"kafka:{broker.bootstrap}", "--warehouse", warehouse, *arguments])


def without_run(warehouse: Path, table: str) -> list[dict[str, Any]]:
    found = [{name: value for name, value in row.items() if name not in OF_THE_RUN} for row in rows(warehouse, table)]
    return sorted(found, key=json.dumps)
