"""Snapshots of a real broker in warehouses of every kind: the same rows."""

import json
import uuid

import pytest

from jobs import cli
from jobs.configuration.settings import Settings, options_of
from jobs.storage.places.addresses import storage_at
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import commit
from tests.builders.logs.segments import batch, segment
from tests.builders.storages.kinds import fetched
from tests.builders.storages.s3_server import options_for
from tests.kafka import kafka_tools
from tests.kafka.broker import running
from tests.kafka.releases import NEWEST
from tests.runs.ingested import rows

pytestmark = pytest.mark.broker

TABLES = ("cluster_snapshots", "topic_snapshots")
OF_THE_RUN = {"run_id", "captured_time"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with running(NEWEST, tmp_path_factory.mktemp("broker")) as started:
        for name in ("orders", "unread"):
            kafka_tools.tool(started, kafka_tools.TOPICS, "--create", "--topic", name, "--partitions", "2")
        yield started


@pytest.fixture(scope="module")
def bucket(s3):
    """A folder of it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in options_for(s3).values:
            patch.setenv(name.upper(), value)
        yield f"s3://bucket/{uuid.uuid4().hex}"


def test_a_warehouse_in_a_bucket_gets_what_a_local_one_gets(broker, bucket, tmp_path):
    source = f"segments:{segment(tmp_path, batch(0, [commit('g', 'orders', 0, 1)])).parent}"
    for warehouse in (str(tmp_path / "local"), f"{bucket}/w"):
        assert cli.main(["ingest", "--source", source, "--cluster", "a", "--warehouse", warehouse]) == 0
        for _ in range(2):
            assert capture(broker, warehouse) == ExitCode.CLEAN
    copy = fetched(storage_at(bucket, options_of(Settings())), "w", tmp_path / "copy")
    for table in TABLES:
        here, there = (without_run(warehouse, table) for warehouse in (tmp_path / "local", copy))
        assert here == there
        assert here
    assert {row["topic"] for row in rows(copy, "topic_snapshots")} == {"orders"}
    jobs = [row["job"] for row in sorted(rows(copy, "runs"), key=lambda row: row["run_id"])]
    assert jobs == ["ingest", "capture", "capture"]


def test_a_warehouse_in_a_bucket_knows_its_cluster(broker, bucket, tmp_path, capsys):
    topic = {"topic": "__consumer_offsets", "topic_id": "A" * 21 + "Q", "partitions": []}
    partition = {"partition": 0, "log_end_offset": 7}
    line = {"captured_at": 1_795_282_587_379, "topics": [{**topic, "partitions": [partition]}]}
    (tmp_path / "snapshots").write_text(json.dumps(line) + "\n")
    place = f"{bucket}/known"
    assert cli.main(["ingest", "--warehouse", place, "--snapshots", str(tmp_path / "snapshots")]) == 0
    kafka_tools.tool(
        broker, kafka_tools.TOPICS, "--create", "--topic", "__consumer_offsets", "--partitions", "1", "--if-not-exists"
    )
    assert capture(broker, place) == ExitCode.UNREADABLE_INPUT
    assert capsys.readouterr().err.endswith("give this Kafka cluster another name: --cluster NAME\n")
    assert capture(broker, place, "--cluster", "b") == ExitCode.CLEAN


def capture(broker, warehouse, *arguments):
    return cli.main(["capture", "--source", f"kafka:{broker.bootstrap}", "--warehouse", warehouse, *arguments])


def without_run(warehouse, table):
    result = [{name: value for name, value in row.items() if name not in OF_THE_RUN} for row in rows(warehouse, table)]
    return sorted(result, key=json.dumps)
