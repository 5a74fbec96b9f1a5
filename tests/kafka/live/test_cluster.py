"""What a running cluster is asked, beside what it stores and what Kafka's own tools say."""

import re
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from jobs.broker.client_properties import ClientProperties
from jobs.broker.cluster import KafkaCluster
from jobs.broker.fetch import FetchedBatches, fetch
from jobs.broker.offsets import EARLIEST, LATEST, partition_offsets
from jobs.output.failure import Failure
from jobs.spark.jars import jar_folder
from tests.kafka.broker import START_SECONDS, free_ports, kafka_command, running
from tests.kafka.capture import run_phase, scenario_sources
from tests.kafka.java_programs import compile_java
from tests.kafka.live.three_nodes import three_running
from tests.kafka.phases import COMMITS, TRANSACTIONS, Phase
from tests.kafka.releases import NEWEST

pytestmark = pytest.mark.broker

TOPIC = "__consumer_offsets"
RECORDS = 60
HASTY = ClientProperties({"default.api.timeout.ms": "4000", "request.timeout.ms": "1500"})
PATIENT = ClientProperties({"default.api.timeout.ms": "60000", "request.timeout.ms": "1500"})


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    classes = compile_java(scenario_sources(NEWEST), [jar_folder(jar_set) for jar_set in NEWEST.jar_sets])
    (folder / "node").mkdir()
    with running(NEWEST, folder / "node") as found:
        run_phase(found, Phase((*COMMITS, *TRANSACTIONS, "Transactions.leftOpen")), classes, folder)
        produce(found, "plain", RECORDS)
        yield found


@pytest.fixture(scope="module")
def unsteady(tmp_path_factory):
    """Which tests stop and start again: so its topics get other leader epochs."""
    with running(NEWEST, tmp_path_factory.mktemp("unsteady")) as found:
        yield found


@pytest.fixture
def cluster(broker):
    with KafkaCluster(broker.bootstrap, HASTY) as found:
        yield found


def produce(broker, topic, number):
    """A batch for each record, to partition 0 of two."""
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    # As many replicas as the cluster gives by default.
    admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=-1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    for each in range(number):
        producer.send(topic, bytes([each % 256]) * 1000, partition=0).get(10)
    producer.close()


def tool(broker, name, *arguments):
    main = f"org.apache.kafka.tools.{name}"
    command = kafka_command(broker.release, main, ["--bootstrap-server", broker.bootstrap, *arguments])
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=START_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def stored(broker, topic, partition):
    segments = sorted((broker.log_dir / f"{topic}-{partition}").glob("*.log"))
    return b"".join(segment.read_bytes() for segment in segments)


def batch_starts(content):
    """Position, first offset and offset after the last, of each batch, as the format has it."""
    found, at = [], 0
    while at < len(content):
        base, last = (int.from_bytes(content[at + a : at + b], "big") for a, b in ((0, 8), (23, 27)))
        found.append((at, base, base + last + 1))
        at += 12 + int.from_bytes(content[at + 8 : at + 12], "big")
    return found


def test_batches_are_those_of_the_segment_files_byte_for_byte(broker, cluster, rng):
    topic = cluster.topics([TOPIC])[TOPIC]
    assert topic is not None
    offsets = partition_offsets(cluster, [(TOPIC, each.partition) for each in topic.partitions])
    is_control = False
    for (_, partition), known in offsets.items():
        content = stored(broker, TOPIC, partition)
        batches = batch_starts(content)
        is_control |= any(content[at + 22] & 0x20 for at, _, _ in batches)
        assert known.end == (batches[-1][2] if batches else 0)
        for most in (1, int(rng.integers(100, 3000)), 8 << 20):
            parts = list(fetch(cluster, TOPIC, partition, known.start, known.end, most))
            assert b"".join(part.content for part in parts) == content
            assert not parts or parts[-1].next_offset == known.end
            assert all(isinstance(part.content, bytes) for part in parts)
            assert {(part.log_start_offset, part.high_watermark) for part in parts} <= {(known.start, known.end)}
        for at, base, following in batches:
            asked = int(rng.integers(base, following))
            got = b"".join(part.content for part in fetch(cluster, TOPIC, partition, asked, known.end, 2000))
            assert got == content[at:]
            (one,) = fetch(cluster, TOPIC, partition, asked, asked + 1, 1)
            assert (len(one.content), one.next_offset) == (12 + int.from_bytes(one.content[8:12], "big"), following)
    assert is_control
    assert sum(known.end for known in offsets.values()) > 20


def test_reading_leaves_no_trace(broker, cluster):
    before = [stored(broker, TOPIC, partition) for partition in range(4)]
    groups = tool(broker, "consumer.group.ConsumerGroupCommand", "--list")
    for partition in range(4):
        end = partition_offsets(cluster, [(TOPIC, partition)])[TOPIC, partition].end
        list(fetch(cluster, TOPIC, partition, 0, end))
    assert [stored(broker, TOPIC, partition) for partition in range(4)] == before
    assert tool(broker, "consumer.group.ConsumerGroupCommand", "--list") == groups


def test_offsets_are_those_of_kafka_get_offsets(broker, cluster):
    produce(broker, "shortened", 30)
    delete_before(broker, "shortened", 12)
    topics = cluster.topics()
    assert {TOPIC, "plain", "shortened"} <= set(topics)
    keys = [(name, each.partition) for name, topic in topics.items() if topic for each in topic.partitions]
    offsets = partition_offsets(cluster, keys)
    for time, ours in ((EARLIEST, "start"), (LATEST, "end")):
        said = tool(broker, "GetOffsetShell", "--time", str(time))
        expected = {(name, int(partition)): int(at) for name, partition, at in re.findall(r"(\S+):(\d+):(\d+)", said)}
        assert {key: getattr(each, ours) for key, each in offsets.items()} == expected
    assert (offsets["shortened", 0].start, offsets["shortened", 0].end) == (12, 30)
    assert {each.leader_epoch for key, each in offsets.items() if each.end} == {0}


def delete_before(broker, topic, offset):
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    admin.delete_records({TopicPartition(topic, 0): offset})
    admin.close()


def test_a_start_that_the_log_no_longer_holds_moves_on(broker, cluster):
    produce(broker, "moved", 20)
    whole = batch_starts(stored(broker, "moved", 0))
    delete_before(broker, "moved", 9)
    parts = list(fetch(cluster, "moved", 0, 3, 20, 2000))
    assert b"".join(part.content for part in parts) == stored(broker, "moved", 0)[whole[9][0] :]
    assert {part.log_start_offset for part in parts} == {9}
    # What was asked for is gone altogether: said without any content.
    assert list(fetch(cluster, "moved", 0, 3, 7)) == [FetchedBatches(b"", 9, 9, 20)]
    delete_before(broker, "moved", 20)
    assert list(fetch(cluster, "moved", 0, 3, 20)) == [FetchedBatches(b"", 20, 20, 20)]


def test_an_end_that_lies_before_the_start_is_another_log(cluster):
    with pytest.raises(
        Failure, match=r"^plain-0 ends at offset 60, but the next offset to read is 70: .*another name: --cluster NAME$"
    ):
        list(fetch(cluster, "plain", 0, 70, 80))


def test_an_end_that_the_log_has_not_reached_is_told(cluster):
    with pytest.raises(
        Failure,
        match=r"^plain-0: the broker sends no records at offset 60, but earlier reported an end offset "
        r"of 61 \(tried for \d+ s\)$",
    ):
        list(fetch(cluster, "plain", 0, 58, 61))


def test_topics_and_nodes_are_those_that_the_cluster_has(broker, cluster):
    said = tool(broker, "TopicCommand", "--describe", "--topic", "plain")
    topic = cluster.topics(["plain", "absent"])
    assert topic.pop("absent") is None
    found = topic.pop("plain")
    assert found is not None
    assert f"TopicId: {found.topic_id}\t" in said
    assert [(each.partition, each.leader, each.replicas) for each in found.partitions] == [(0, 1, (1,)), (1, 1, (1,))]
    (node,) = cluster.nodes()
    assert (node.id, node.host, node.port, node.rack) == (1, "127.0.0.1", broker.port, "rack-a")
    assert f"cluster.id={cluster.cluster_id}\n" in (broker.log_dir / "meta.properties").read_text()


def test_settings_are_those_that_the_broker_was_started_with(cluster):
    names = ["offsets.retention.minutes", "group.min.session.timeout.ms", "no.such.setting"]
    assert cluster.settings(names) == {"offsets.retention.minutes": "10080", "group.min.session.timeout.ms": "1000"}


def test_topics_that_are_absent_or_cannot_be_named_are_told(cluster):
    with pytest.raises(Failure, match=r"^topic absent is absent$"):
        partition_offsets(cluster, [("absent", 0), ("plain", 0)])
    left_out = {}
    assert list(partition_offsets(cluster, [("absent", 0), ("plain", 0), ("plain", 9)], left_out)) == [("plain", 0)]
    assert left_out == {("absent", 0): "topic absent is absent", ("plain", 9): "plain-9 has no leader"}
    with pytest.raises(Failure, match=r"^absent-0 at offset 0: topic absent is absent \(tried for \d+ s\)$"):
        list(fetch(cluster, "absent", 0, 0, 1))
    with pytest.raises(Failure, match=r"^topic no/such: INVALID_TOPIC$"):
        cluster.topics(["no/such"])


def test_other_brokers_are_tried_when_one_is_not_there(broker):
    (port,) = free_ports(1)
    servers = f"no-such-host.invalid:9092,127.0.0.1:{port}, {broker.bootstrap}"
    with KafkaCluster(servers, HASTY) as cluster:
        assert cluster.nodes()


@contextmanager
def listening(answer):
    """A server that says the same to everybody."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.recv(100)
                    client.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x08\0\0\0\x63aaaa", b"\0\0\0\2ab"])
def test_a_server_of_another_kind(answer):
    with listening(answer) as address, pytest.raises(Failure) as failed:
        KafkaCluster(address, HASTY)
    assert str(failed.value) == f"{address}: what answers there is no Kafka broker"


@pytest.mark.parametrize(
    ("servers", "said"),
    [
        (
            "no-such-host.invalid:9092",
            r"no-such-host\.invalid:9092: this machine cannot resolve the host name \(.*\); check",
        ),
        (
            "127.0.0.1:{}",
            r"127\.0\.0\.1:\d+: connection refused: is a broker up there, and the port right\? \(tried for \d+ s\)$",
        ),
        ("a..b:9092", r"a\.\.b:9092: this machine cannot resolve the host name \(.*\); check the name, and DNS on"),
    ],
)
def test_addresses_where_no_broker_is(servers, said):
    with pytest.raises(Failure) as failed:
        KafkaCluster(servers.format(*free_ports(1)), HASTY)
    assert re.match(said, str(failed.value))
    assert failed.value.code == 21


def test_a_broker_that_restarts_during_the_read_is_waited_for(unsteady):
    produce(unsteady, "restarted", 20)
    with KafkaCluster(unsteady.bootstrap, PATIENT) as cluster:
        parts = fetch(cluster, "restarted", 0, 0, 20, 1)
        got = [next(parts).content for _ in range(5)]
        restart = threading.Thread(target=unsteady.restart, args=({},))
        restart.start()
        got += [part.content for part in parts]
        restart.join()
        assert b"".join(got) == stored(unsteady, "restarted", 0)


def test_a_cluster_that_has_answered_before_is_waited_for_longer(unsteady, monkeypatch):
    monkeypatch.setattr("jobs.broker.cluster.OPEN_SECONDS", 0.2)
    unsteady.stop()
    with pytest.raises(Failure, match=r"connection refused: .*\? \(tried for (0\.2|\d+) s\)$"):
        KafkaCluster(unsteady.bootstrap, PATIENT)
    start = threading.Thread(target=unsteady.start, args=({},))
    start.start()
    with KafkaCluster(unsteady.bootstrap, PATIENT, is_known_to_answer=True) as cluster:
        assert cluster.nodes()
    start.join()


def test_one_connection_goes_on_at_the_next_leader(tmp_path):
    with three_running(NEWEST, tmp_path) as nodes:
        produce(nodes[0], "t", 20)
        with KafkaCluster(",".join(node.bootstrap for node in nodes), PATIENT) as cluster:
            parts = fetch(cluster, "t", 0, 0, 20, 1)
            got = [next(parts).content for _ in range(5)]
            lost = cluster.leader("t", 0)
            next(node for node in nodes if node.number == lost).kill()
            got += [part.content for part in parts]
            leader = cluster.leader("t", 0)
            assert leader not in {None, lost}
            left = next(node for node in nodes if node.number == leader)
            assert b"".join(got) == stored(left, "t", 0)
            assert partition_offsets(cluster, [("t", 0), ("t", 1)])["t", 0].end == 20


def test_a_broker_that_hangs_and_one_that_dies_for_good_are_told(unsteady):
    produce(unsteady, "lost", 20)
    with KafkaCluster(unsteady.bootstrap, HASTY) as cluster:
        parts = fetch(cluster, "lost", 0, 0, 20, 1)
        next(parts)
        no_answer = r"^lost-0 at offset 1: .*no answer in time.* \(tried for \d+ s\)$"
        with unsteady.hanging(), pytest.raises(Failure, match=no_answer):
            list(parts)
        parts = fetch(cluster, "lost", 0, 0, 20, 1)
        next(parts)
        unsteady.kill()
        refused = r"^lost-0 at offset 1: .*connection refused.* \(tried for \d+ s\)$"
        try:
            with pytest.raises(Failure, match=refused) as failed:
                list(parts)
        finally:
            unsteady.start({})
        assert failed.value.code == 21


def program(text):
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


def test_the_client_library_is_loaded_by_those_who_read_a_cluster_alone():
    modules = "jobs.cli, jobs.dump, jobs.broker.cluster, jobs.broker.fetch, jobs.broker.client_properties"
    assert program(f"import sys, {modules}; print([name for name in sys.modules if name == 'kafka'])") == "[]\n"


def test_without_the_client_library_the_way_to_get_it_is_told():
    text = (
        "import sys; sys.modules['kafka'] = None\n"
        "from jobs.broker.cluster import KafkaCluster; from jobs.broker.client_properties import ClientProperties\n"
        "from jobs.output.failure import Failure\n"
        "try: KafkaCluster('h:1', ClientProperties())\n"
        "except Failure as failure: print(failure.code, failure)"
    )
    assert program(text) == "21 reading a cluster needs kafka-python: pip install 'groupscope[kafka]'\n"
