"""Every way in to a real broker that is configured so, and one clear line for every closed door."""

import re
import time

import pytest
from kafka import KafkaProducer

from jobs.broker.client_properties import client_properties
from jobs.broker.cluster import KafkaCluster
from jobs.broker.errors import Forbidden
from jobs.broker.fetch import fetch
from jobs.broker.offsets import partition_offsets
from jobs.output.failure import Failure
from tests.kafka.access.certificates import KEY_PASSWORD
from tests.kafka.access.secured_broker import (
    GUEST,
    MECHANISMS,
    PASSWORD,
    SESSION_MS,
    client_file,
    login,
    secured,
)

pytestmark = pytest.mark.broker

TLS, LOGIN, TLS_LOGIN = ({"security.protocol": name} for name in ("SSL", "SASL_PLAINTEXT", "SASL_SSL"))
NO_NAME = {"ssl.endpoint.identification.algorithm": ""}
TLS_1_2 = {"ssl.enabled.protocols": "TLSv1.2"}
HASTY = {"default.api.timeout.ms": "5000"}
RECORDS = 40
WRONG = "wr0ng-one"


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    with secured(tmp_path_factory.mktemp("secured")) as result:
        result.tool("org.apache.kafka.tools.TopicCommand", "--create", "--topic", "t", "--partitions", "2")
        produce(result.broker.bootstrap)
        yield result


def produce(bootstrap):
    """More than a TLS record holds, in several batches."""
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    for number in range(RECORDS):
        producer.send("t", bytes([number]) * 5000, partition=0).get(10)
    producer.close()


def opened(there, listener, values):
    """Through a file, as users give it."""
    path = client_file(there.broker.folder / "client.properties", HASTY | values)
    address = there.broker.bootstrap if listener == "PLAINTEXT" else there.address(listener)
    return KafkaCluster(address, client_properties(path))


def trust(there):
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(there.authority.certificate)}


def own(there):
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(there.client.store)}


def inline(there):
    """All in the properties themselves, the encrypted key with spaces for its ends of lines."""
    return {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": there.authority.certificate.read_text(),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": there.client.certificate.read_text(),
        "ssl.keystore.key": there.authority.encrypted(there.client).read_text().replace("\n", " "),
    }


def reads(there, cluster):
    """Metadata, offsets and batches."""
    topic = cluster.topics(["t"])["t"]
    assert topic is not None
    assert [each.partition for each in topic.partitions] == [0, 1]
    offsets = partition_offsets(cluster, [("t", 0), ("t", 1)])
    assert [(each.start, each.end) for each in offsets.values()] == [(0, RECORDS), (0, 0)]
    (segment,) = (there.broker.log_dir / "t-0").glob("*.log")
    assert b"".join(each.content for each in fetch(cluster, "t", 0, 0, RECORDS)) == segment.read_bytes()


@pytest.mark.parametrize(
    "values", [TLS, TLS | TLS_1_2, TLS | NO_NAME], ids=["by default", "an older version", "any name"]
)
def test_a_broker_by_tls(there, values):
    with opened(there, "TLS", values | trust(there)) as cluster:
        reads(there, cluster)


def test_a_store_that_holds_the_brokers_own_certificate_and_no_root(there):
    values = TLS | trust(there) | {"ssl.truststore.location": str(there.own.certificate)}
    with opened(there, "TLS", values) as cluster:
        reads(there, cluster)


def test_a_client_certificate(there):
    with opened(there, "MUTUAL", TLS | trust(there) | own(there)) as cluster:
        reads(there, cluster)


def test_a_client_certificate_inside_the_properties_under_a_password(there):
    with opened(there, "MUTUAL", TLS | inline(there) | {"ssl.key.password": KEY_PASSWORD}) as cluster:
        reads(there, cluster)


def test_the_files_are_not_needed_where_tasks_run(there, tmp_path):
    store, authority = tmp_path / "store", tmp_path / "ca"
    store.write_bytes(there.client.store.read_bytes())
    authority.write_bytes(there.authority.certificate.read_bytes())
    values = TLS | own(there) | trust(there)
    values |= {"ssl.keystore.location": str(store), "ssl.truststore.location": str(authority)}
    properties = client_properties(client_file(tmp_path / "client.properties", values))
    store.unlink()
    authority.unlink()
    with KafkaCluster(there.address("MUTUAL"), properties) as cluster:
        reads(there, cluster)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("listener", "values"), [("LOGIN", LOGIN), ("TLSLOGIN", TLS_LOGIN)])
def test_a_login(there, listener, values, mechanism):
    with opened(there, listener, values | trust(there) | login(mechanism)) as cluster:
        reads(there, cluster)


def test_a_login_that_expires_during_the_read(there):
    with opened(there, "SCRAMONLY", LOGIN | login("SCRAM-SHA-256")) as cluster:
        reads(there, cluster)
        # Only the broker's clock ends a login, and the broker says nothing of it.
        time.sleep(SESSION_MS / 1000 + 0.5)
        parts = fetch(cluster, "t", 0, 0, RECORDS, 1)
        next(parts)
        time.sleep(SESSION_MS / 1000 + 0.5)
        assert len(list(parts)) == RECORDS - 1


def refusal(there, listener, values):
    with pytest.raises(Failure) as failed:
        opened(there, listener, values)
    line = str(failed.value)
    assert failed.value.code == 21
    assert "\n" not in line
    for secret in (PASSWORD, KEY_PASSWORD, WRONG):
        assert secret not in line
    return line.removeprefix(there.broker.bootstrap if listener == "PLAINTEXT" else there.address(listener))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("listener", "values"), [("LOGIN", LOGIN), ("TLSLOGIN", TLS_LOGIN)])
def test_a_wrong_password_and_an_unknown_user(there, listener, values, mechanism):
    values = values | trust(there)
    line = refusal(there, listener, values | login(mechanism, password=WRONG))
    assert re.match(
        rf": user '.*' by {mechanism} is not let in \(.*\): are name and password in sasl.jaas.config", line
    )
    line = refusal(there, listener, values | login(mechanism, user="nobody"))
    assert line.startswith(f": user 'nobody' by {mechanism} is not let in (")


def test_a_mechanism_that_the_broker_does_not_offer(there):
    line = refusal(there, "SCRAMONLY", LOGIN | login("PLAIN"))
    assert line == ": the broker does not offer sasl.mechanism PLAIN; it offers SCRAM-SHA-256, SCRAM-SHA-512"


TO_LOGIN = "asks for SASL (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512)"


@pytest.mark.parametrize(
    ("listener", "values", "said"),
    [
        ("TLS", {}, "speaks TLS: set security.protocol to SSL"),
        ("MUTUAL", {}, "speaks TLS: set security.protocol to SSL"),
        ("LOGIN", {}, f"{TO_LOGIN}: set security.protocol to SASL_PLAINTEXT"),
        ("TLSLOGIN", {}, f"speaks TLS and {TO_LOGIN}: set security.protocol to SASL_SSL"),
        ("PLAINTEXT", TLS, "speaks no TLS: set security.protocol to PLAINTEXT"),
        ("LOGIN", TLS, f"speaks no TLS and {TO_LOGIN}: set security.protocol to SASL_PLAINTEXT"),
        ("TLSLOGIN", TLS, f"{TO_LOGIN}: set security.protocol to SASL_SSL"),
        ("PLAINTEXT", LOGIN | login("PLAIN"), "no SASL there: set security.protocol to PLAINTEXT"),
        ("TLS", LOGIN | login("PLAIN"), "speaks TLS and does not use SASL: set security.protocol to SSL"),
        ("TLSLOGIN", LOGIN | login("PLAIN"), "speaks TLS: set security.protocol to SASL_SSL"),
        ("LOGIN", TLS_LOGIN | login("PLAIN"), "speaks no TLS: set security.protocol to SASL_PLAINTEXT"),
        ("TLS", TLS_LOGIN | login("PLAIN"), "no SASL there: set security.protocol to SSL"),
    ],
)
def test_a_listener_of_another_kind(there, listener, values, said):
    assert refusal(there, listener, values | trust(there)) == f": {said}"


UNTRUSTED = ": the broker's TLS certificate is not trusted: "


def test_a_broker_that_is_not_trusted(there):
    assert refusal(there, "TLS", TLS).startswith(UNTRUSTED)
    line = refusal(there, "STRANGER", TLS | trust(there))
    assert line.startswith(UNTRUSTED)
    assert line.endswith(": see ssl.truststore.location")


def test_a_broker_that_is_trusted_under_another_name(there):
    values = TLS | trust(there) | {"ssl.truststore.location": str(there.stranger.certificate)}
    line = refusal(there, "STRANGER", values)
    assert line.startswith(UNTRUSTED)
    assert line.endswith("'127.0.0.1': see ssl.endpoint.identification.algorithm")
    with opened(there, "STRANGER", values | NO_NAME) as cluster:
        reads(there, cluster)


@pytest.mark.parametrize("versions", [{}, TLS_1_2])
def test_no_client_certificate_or_one_that_nobody_knows(there, versions):
    said = ": the broker ended the TLS handshake ("
    values = TLS | trust(there) | versions
    assert refusal(there, "MUTUAL", values).startswith(said)
    stranger = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(there.stranger.issued("x", "DNS:x").store)}
    assert refusal(there, "MUTUAL", values | stranger).startswith(said)


@pytest.mark.parametrize("password", [{}, {"ssl.key.password": WRONG}])
def test_a_key_under_another_password(there, password):
    line = refusal(there, "MUTUAL", TLS | inline(there) | password)
    assert line == "client property ssl.keystore.key: cannot be read: is ssl.key.password right?"


def test_a_key_that_is_not_the_certificates(there):
    key = there.authority.issued("other", "DNS:x").key.read_text()
    line = refusal(there, "MUTUAL", TLS | inline(there) | {"ssl.keystore.key": key})
    message = "this private key does not belong to the first certificate of ssl.keystore.certificate.chain"
    assert line == f"client property ssl.keystore.key: {message}"


def test_missing_permissions_are_named_and_once_given_suffice(there):
    guest = LOGIN | login("PLAIN", GUEST, GUEST)

    def allow(operation, *on):
        user = ["--add", "--allow-principal", f"User:{GUEST}", "--operation", operation]
        there.tool("org.apache.kafka.tools.AclCommand", *user, *on)

    with opened(there, "LOGIN", guest) as cluster:
        with pytest.raises(Forbidden, match=r"^topic t: the Kafka user has no DESCRIBE permission on it$"):
            cluster.topics(["t"])
        with pytest.raises(Forbidden, match=r"^topic t: the Kafka user has no DESCRIBE permission on it$"):
            partition_offsets(cluster, [("t", 0)])
        with pytest.raises(Forbidden, match=r"^topic t: the Kafka user has no DESCRIBE permission on it$"):
            list(fetch(cluster, "t", 0, 0, 1))
        with pytest.raises(
            Forbidden, match=r"^settings of the brokers are left out: the Kafka user has no DESCRIBE_CONFIGS permission"
        ):
            cluster.settings(["offsets.retention.minutes"])
        left_out = {}
        assert cluster.topics(["t"], left_out) == {}
        assert left_out == {"t": "topic t: the Kafka user has no DESCRIBE permission on it"}
        left = {}
        assert partition_offsets(cluster, [("t", 0)], left) == {}
        assert left == {("t", 0): "topic t: the Kafka user has no DESCRIBE permission on it"}
        allow("Describe", "--topic", "t")
        assert partition_offsets(cluster, [("t", 0)])["t", 0].end == RECORDS
        with pytest.raises(Forbidden, match=r"^topic t: the Kafka user has no READ permission on it$"):
            list(fetch(cluster, "t", 0, 0, 1))
        allow("DescribeConfigs", "--cluster")
        assert cluster.settings(["offsets.retention.minutes"]) == {"offsets.retention.minutes": "10080"}
