"""Clusters that an ingest cannot read: one line that says what and why, 21, the warehouse as it was, and the next run
goes on. No secret is told to anybody."""

import json
import re
import threading

import pytest

import jobs.broker.fetch
from jobs.broker.cluster import OPEN_SECONDS
from jobs.ingestion.live.source import LiveSource
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.kafka.access.secured_broker import GUEST, MODULES, PASSWORD, PLAIN_USER, client_file, login, secured
from tests.kafka.broker import free_ports, running
from tests.kafka.live.committing import commit, make_topics
from tests.kafka.releases import NEWEST
from tests.runs.ingested import history, ingest, rows, spawned
from tests.runs.refused import check_no_leftovers, refused, unchanged

pytestmark = pytest.mark.broker

Capsys = pytest.CaptureFixture[str]

UNREADABLE = ExitCode.UNREADABLE_INPUT
WRONG = "Tr0mbone&not-it"
SASL = {"security.protocol": "SASL_PLAINTEXT"}
IMPATIENT = {"default.api.timeout.ms": "3000"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with secured(tmp_path_factory.mktemp("cluster")) as found:
        make_topics(found.broker, "orders")
        commit(found.broker, "billing", "orders", 5)
        yield found


@pytest.fixture(scope="module")
def good(cluster, tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "good.properties"
    return source(cluster.address("LOGIN"), path, SASL | login("PLAIN"))


@pytest.fixture(scope="module")
def warehouse(good, tmp_path_factory):
    """With one run in it. Runs that are refused leave it as it was, for the next test too."""
    root = tmp_path_factory.mktemp("warehouse") / "w"
    assert ingest(root, *good)["decoded"] > 0
    return root


def source(address, path, properties):
    return ("--source", f"kafka:{address}", "--command-config", str(client_file(path, properties)))


def no_host(cluster, path):
    return source("no-such-host.invalid:9092", path, SASL | login("PLAIN"))


def closed_port(cluster, path):
    return source(f"127.0.0.1:{free_ports(1)[0]}", path, SASL | login("PLAIN"))


def tls_against_plaintext(cluster, path):
    return source(cluster.address("LOGIN"), path, {"security.protocol": "SASL_SSL"} | login("PLAIN"))


def plaintext_against_tls(cluster, path):
    return source(cluster.address("TLSLOGIN"), path, SASL | login("PLAIN"))


def no_login(cluster, path):
    return source(cluster.address("LOGIN"), path, {})


def unknown_authority(cluster, path):
    trusted = {"security.protocol": "SSL", "ssl.truststore.location": str(cluster.authority.certificate)}
    return source(cluster.address("STRANGER"), path, trusted)


def wrong_password(cluster, path):
    return source(cluster.address("LOGIN"), path, SASL | login("PLAIN", password=WRONG))


def wrong_scram_password(cluster, path):
    return source(cluster.address("LOGIN"), path, SASL | login("SCRAM-SHA-512", password=WRONG))


def no_rights(cluster, path):
    return source(cluster.address("LOGIN"), path, SASL | login("PLAIN", GUEST, GUEST))


def no_password(cluster, path):
    line = f"{MODULES}.plain.PlainLoginModule required username='{PLAIN_USER}' passwort='{WRONG}';"
    return source(cluster.address("LOGIN"), path, SASL | {"sasl.mechanism": "PLAIN", "sasl.jaas.config": line})


def no_file(cluster, path):
    return ("--source", f"kafka:{cluster.address('LOGIN')}", "--command-config", str(path))


# What is named, and what to do about it.
CLUSTERS = [
    (no_host, ["no-such-host.invalid:9092", "cannot resolve the host name"]),
    (closed_port, ["127.0.0.1:", "connection refused: is a broker up there, and the port right?"]),
    (tls_against_plaintext, ["{LOGIN}", "speaks no TLS: set security.protocol to SASL_PLAINTEXT"]),
    (plaintext_against_tls, ["{TLSLOGIN}", "speaks TLS: set security.protocol to SASL_SSL"]),
    (no_login, ["{LOGIN}", "asks for SASL", "set security.protocol to SASL_PLAINTEXT"]),
    (unknown_authority, ["{STRANGER}", "not trusted", "see ssl.truststore.location"]),
    (wrong_password, ["{LOGIN}", f"user '{PLAIN_USER}'", "are name and password in sasl.jaas.config right?"]),
    (wrong_scram_password, ["{LOGIN}", "SCRAM-SHA-512", "are name and password in sasl.jaas.config right?"]),
    (no_rights, ["topic __consumer_offsets", "has no DESCRIBE permission on it"]),
    (no_password, ["sasl.jaas.config", "has no password"]),
    (no_file, ["bad.properties", "No such file"]),
]


@pytest.mark.parametrize(("make", "expected"), CLUSTERS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_cluster_that_cannot_be_read(cluster, warehouse, tmp_path, capsys, make, expected):
    with unchanged(warehouse):
        line = refused(warehouse, capsys, UNREADABLE, *make(cluster, tmp_path / "bad.properties"))
    for part in expected:
        assert part.format(**{name: cluster.address(name) for name in cluster.ports}) in line
    assert WRONG not in line
    assert PASSWORD not in line
    check_no_leftovers(warehouse)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("make", [make for make, _ in CLUSTERS], ids=lambda make: make.__name__)
def test_the_run_after_one_that_could_not_read_goes_on(cluster, good, tmp_path, capsys, make):
    warehouse = tmp_path / "w"
    ingest(warehouse, *good)
    refused(warehouse, capsys, UNREADABLE, *make(cluster, tmp_path / "bad.properties"))
    commit(cluster.broker, "billing", "orders", 2)
    found = ingest(warehouse, *good)
    assert (found["read"], found["decoded"], found["already_known"]) == (2, 2, 0)
    check_no_leftovers(warehouse)


def test_a_first_run_that_cannot_read_leaves_nothing_in_the_way(cluster, good, tmp_path, capsys):
    refused(tmp_path / "w", capsys, UNREADABLE, *closed_port(cluster, tmp_path / "bad.properties"))
    assert ingest(tmp_path / "w", *good)["decoded"] > 0


def told_everywhere(warehouse):
    """Rows of every table, and every text that a run leaves."""
    texts = [path.read_text() for path in [*warehouse.glob("_*/*"), *warehouse.rglob("*.json")] if path.is_file()]
    return "".join(map(repr, [*texts, *(rows(warehouse, name) for name in TABLES if (warehouse / name).exists())]))


@pytest.mark.spark
def test_no_secret_is_told(cluster, good, tmp_path):
    """Neither when all goes well, nor by a stack trace, nor by Spark, whatever it logs."""
    events = tmp_path / "events"
    events.mkdir()
    logged = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
    }
    options = " ".join(f"--conf {name}={value}" for name, value in logged.items())
    environment = {"PYSPARK_SUBMIT_ARGS": f"{options} pyspark-shell"}
    done = spawned(tmp_path / "w", *good, "--engine", "spark", "--debug", environment=environment)
    assert done.returncode == ExitCode.CLEAN, done.stderr
    bad = wrong_password(cluster, tmp_path / "bad.properties")
    failed = spawned(tmp_path / "w", *bad, "--result-file", tmp_path / "result.json", "--debug")
    assert failed.returncode == UNREADABLE
    assert "Traceback" in failed.stderr
    logs = [path.read_text(errors="replace") for path in events.rglob("*") if path.is_file()]
    assert any("SparkListenerApplicationEnd" in log for log in logs)
    said = [done.stdout, done.stderr, failed.stdout, failed.stderr, (tmp_path / "result.json").read_text(), *logs]
    everything = "".join(said) + told_everywhere(tmp_path / "w")
    for secret in (PASSWORD, WRONG, "LoginModule", repr(PASSWORD)[1:-1], json.dumps(PASSWORD)[1:-1]):
        assert secret not in everything


@pytest.mark.drawn_together(2)
def test_a_topic_that_is_absent(tmp_path, capsys):
    (tmp_path / "broker").mkdir()
    with running(NEWEST, tmp_path / "broker") as broker:
        live = ("--source", f"kafka:{broker.bootstrap}")
        line = refused(tmp_path / "w", capsys, UNREADABLE, *live)
        told = "no topic __consumer_offsets, which brokers make when the first group commits or joins"
        assert line == f"kafka:{broker.bootstrap}: {told}"
        make_topics(broker, "orders")
        commit(broker, "billing", "orders", 3)
        assert ingest(tmp_path / "w", *live)["decoded"] == 3


@pytest.mark.drawn_together(2)
def test_a_broker_that_dies_while_it_is_read(tmp_path, capsys, monkeypatch):
    (tmp_path / "broker").mkdir()
    with running(NEWEST, tmp_path / "broker") as broker:
        make_topics(broker, "orders")
        # In more than one offsets partition, so that something is read and something is not.
        groups = [f"group-{number}" for number in range(8)]
        for group in groups:
            commit(broker, group, "orders", 2)
        live = source(broker.bootstrap, tmp_path / "impatient.properties", IMPATIENT)
        ingest(tmp_path / "w", *live)
        for group in groups:
            commit(broker, group, "orders", 3)
        with unchanged(tmp_path / "w"), monkeypatch.context() as patched:
            read = dying_after(broker, patched, 2)
            line = refused(tmp_path / "w", capsys, UNREADABLE, *live)
        assert len(read) > 2
        assert broker.bootstrap in line
        assert re.search(r"\(tried for \d+ s\)", line)
        broker.restart({})
        found = ingest(tmp_path / "w", *live)
        assert found["decoded"] == 3 * len(groups)
        # Under another leader the last known record of each partition is read again, for comparison.
        assert found["already_known"] <= 4
        check_no_leftovers(tmp_path / "w")
        ingest(tmp_path / "anew", *live)
        assert history(tmp_path / "w") == history(tmp_path / "anew")


def dying_after(broker, patched, number):
    """Offsets that are asked for; the broker is killed before so many plus one are answered."""
    asked = []
    real = jobs.broker.fetch.partition_answer

    def answer(cluster, topic, partition, start, max_bytes):
        asked.append(start)
        if len(asked) == number + 1:
            broker.kill()
        return real(cluster, topic, partition, start, max_bytes)

    patched.setattr(jobs.broker.fetch, "partition_answer", answer)
    return asked


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
@pytest.mark.parametrize("is_read", [False, True])
def test_a_broker_that_starts_again_meanwhile(tmp_path, monkeypatch, is_read):
    """Between two connections it is away for longer than a run waits for an address at which nobody has answered."""
    (tmp_path / "broker").mkdir()
    with running(NEWEST, tmp_path / "broker") as broker:
        make_topics(broker, "orders")
        commit(broker, "billing", "orders", 3)
        starting = threading.Timer(OPEN_SECONDS, broker.restart, [{}])
        real = LiveSource.read_units

        def read_units(live, plan):
            answers = real(live, plan) if is_read else []
            broker.kill()
            starting.start()
            return answers or real(live, plan)

        monkeypatch.setattr(LiveSource, "read_units", read_units)
        try:
            assert ingest(tmp_path / "w", "--source", f"kafka:{broker.bootstrap}")["decoded"] == 3
        finally:
            starting.join()
