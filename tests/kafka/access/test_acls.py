"""docs/operations.md is right: what it grants is enough and no more, and without each right happens what it says."""

import json
import re

import pytest

from jobs import cli
from jobs.broker.client_properties import ClientProperties, client_properties
from jobs.broker.cluster import KafkaCluster
from jobs.broker.connection import KafkaConnection
from jobs.broker.fetch import fetch_request
from jobs.broker.offsets import partition_offsets
from schemas.words.exit_codes import ExitCode
from tests.kafka import kafka_tools
from tests.kafka.access import operations_page
from tests.kafka.access.guarded_broker import CONFIGS, Guarded
from tests.kafka.access.secured_broker import GUEST, PASSWORD, SCRAM_USER, client_file, login, quoted, secured
from tests.kafka.live.committing import commit, make_topics
from tests.runs.ingested import history, ingest, rows, run_ingest
from tests.runs.refused import unchanged

pytestmark = pytest.mark.broker

Capsys = pytest.CaptureFixture[str]
OFFSETS_TOPIC = "__consumer_offsets"
COMMITTED = {"billing": "orders", "audits": "payments"}
# It has read the same as others have committed, and sets a timeout for itself.
SHARED = "shared"
READ, TOPICS, GROUPS, CLUSTER, SETTINGS, GROUP_SETTINGS = operations_page.rights()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    with secured(folder) as result:
        properties = {"security.protocol": "SASL_PLAINTEXT"} | login("PLAIN", GUEST, GUEST)
        user = Guarded(result, client_file(folder / "guest.properties", properties))
        make_topics(user.broker, *COMMITTED.values())
        for group, topic in COMMITTED.items():
            commit(user.broker, group, topic, 5)
        kafka_tools.start_share_group(user.broker, SHARED, "orders")
        kafka_tools.set_for_group(user.broker, SHARED, share_session_timeout_ms=9000)
        for right in operations_page.rights():
            user.grant(right)
        yield user


def lines_since(capsys):
    """Lines of standard error since the last call."""
    return [line.removeprefix("groupscope: ") for line in capsys.readouterr().err.splitlines()]


def run_capture(path, *arguments):
    return cli.main(["capture", "--into", str(path), *arguments])


def captured(path, *arguments):
    assert run_capture(path, *arguments) == ExitCode.CLEAN
    snapshot = json.loads(path.read_text().splitlines()[-1])
    return snapshot


def topics(snapshot):
    return {topic["topic"] for topic in snapshot["topics"]}


def without_address(snapshot):
    """Each listener has a port of its own."""
    brokers = [{name: broker[name] for name in ("id", "host", "rack")} for broker in snapshot["brokers"]]
    return {**snapshot, "captured_at": 0, "brokers": brokers}


def test_with_these_rights_everything_is_read(guarded, tmp_path, capsys):
    ingest(tmp_path / "ours", *guarded.source)
    snapshot = captured(tmp_path / "ours.jsonl", *guarded.source)
    assert lines_since(capsys) == []
    ingest(tmp_path / "all", *guarded.source_of_all)
    assert history(tmp_path / "ours") == history(tmp_path / "all")
    assert {row["group_id"] for row in rows(tmp_path / "ours", "offset_commits")} == set(COMMITTED)
    assert topics(snapshot) == {*COMMITTED.values(), OFFSETS_TOPIC}
    assert without_address(snapshot) == without_address(captured(tmp_path / "all.jsonl", *guarded.source_of_all))
    assert snapshot["settings"]
    assert snapshot["groups"] == [{"group_id": SHARED, "settings": {"share.session.timeout.ms": "9000"}}]
    ends = [row["log_end_offset"] for row in rows(tmp_path / "ours", "topic_snapshots")]
    assert len(ends) == 2 * (2 * len(COMMITTED) + 4)
    assert None not in ends


def test_the_page_says_what_each_right_is_for():
    assert [loss.right for loss in operations_page.losses()] == operations_page.rights()


@pytest.mark.drawn(1)
@pytest.mark.parametrize("loss", operations_page.losses(), ids=lambda loss: " ".join(loss.right[1:3]))
def test_without_a_right_happens_what_the_page_says(guarded, tmp_path, capsys, loss):
    ingest(tmp_path / "w", *guarded.source)
    whole = captured(tmp_path / "snapshots", *guarded.source)
    lines_since(capsys)
    with guarded.without(loss.right):
        assert run_ingest(tmp_path / "new", *guarded.source) == loss.exit_code
        said = lines_since(capsys)
        assert said == ([] if loss.message is None else [loss.message])
        snapshot = captured(tmp_path / "snapshots", *guarded.source)
        if loss.exit_code:
            with unchanged(tmp_path / "w"):
                assert run_ingest(tmp_path / "w", *guarded.source) == loss.exit_code
        else:
            assert lines_since(capsys) == said
            assert history(tmp_path / "new") == history(tmp_path / "w")
    missing = {READ: {OFFSETS_TOPIC}, TOPICS: set(COMMITTED.values()), GROUPS: set(COMMITTED.values())}
    assert topics(whole) - topics(snapshot) == missing.get(loss.right, set())
    assert (snapshot["settings"] is None) == (loss.right == SETTINGS)
    assert snapshot["groups"] == ([] if loss.right == GROUP_SETTINGS else whole["groups"])
    assert snapshot["brokers"] == whole["brokers"]
    lines_since(capsys)
    # The next run goes on.
    ingest(tmp_path / "w", *guarded.source)
    assert lines_since(capsys) == []


@pytest.mark.drawn_together(5)
def test_describe_alone_is_not_enough_to_read(guarded, tmp_path, capsys):
    describe = ("--operation", "Describe", "--topic", OFFSETS_TOPIC)
    with guarded.without(READ), guarded.having(describe):
        assert OFFSETS_TOPIC in topics(captured(tmp_path / "snapshots", *guarded.source))
        assert lines_since(capsys) == []
        assert run_ingest(tmp_path / "w", *guarded.source) == ExitCode.UNREADABLE_INPUT
        line = f"topic {OFFSETS_TOPIC}: the Kafka user has no READ permission on it"
        assert lines_since(capsys) == [line]
    assert f"`{line}`" in operations_page.PAGE


@pytest.mark.drawn_together(5)
def test_naming_a_hidden_topic_is_reported(guarded, tmp_path, capsys):
    """Brokers say nothing of commits to topics that a user may not describe."""
    ingest(tmp_path / "w", *guarded.source)
    with guarded.without(TOPICS), guarded.having((*TOPICS[:2], "--topic", "payments")):
        captured(tmp_path / "snapshots", "--topic", "orders", *guarded.source)
        (line,) = lines_since(capsys)
        assert f"`{line}`" in operations_page.PAGE
        assert cli.main(["capture", "--warehouse", str(tmp_path / "w"), *guarded.source]) == ExitCode.CLEAN
        assert lines_since(capsys) == [line]


@pytest.mark.drawn_together(5)
def test_groups_that_nobody_names_are_reported(guarded, tmp_path, capsys):
    some = ("--operation", "Describe", "--group", "bill", "--resource-pattern-type", "prefixed")
    with guarded.without(GROUPS), guarded.having(some), guarded.without(CLUSTER):
        assert topics(captured(tmp_path / "snapshots", *guarded.source)) == {"orders", OFFSETS_TOPIC}
    (loss,) = [loss for loss in operations_page.losses() if loss.right == CLUSTER]
    assert lines_since(capsys) == [loss.message]


@pytest.mark.drawn_together(5)
def test_what_groups_hide_the_warehouse_knows(guarded, tmp_path):
    with guarded.without(GROUPS):
        for expected in ({OFFSETS_TOPIC}, {OFFSETS_TOPIC, *COMMITTED.values()}):
            run_id = ingest(tmp_path / "w", *guarded.source)["run_id"]
            result = [row["topic"] for row in rows(tmp_path / "w", "topic_snapshots") if row["run_id"] == run_id]
            assert set(result) == expected


@pytest.mark.drawn_together(5)
def test_the_queries_of_the_page(guarded, tmp_path, capfd):
    with guarded.without(TOPICS), guarded.having((*TOPICS[:2], "--topic", "payments")):
        ingest(tmp_path / "w", *guarded.source)
    uncaptured, written, late = (answer(tmp_path / "w", query, capfd) for query in operations_page.blocks("sql"))
    assert uncaptured == [{"topic": "orders", "commits": 5}]
    committed, shared = (
        {row["offsets_partition"] for row in rows(tmp_path / "w", table)}
        for table in ("offset_commits", "group_partition_metadata")
    )
    assert {row["offsets_partition"] for row in written} == committed | shared
    asked = {row["offsets_partition"]: row["asked"] for row in late}
    assert {place: asked.pop(place) for place in committed - shared} == dict.fromkeys(committed - shared, 5)
    assert asked.keys() == shared
    assert {row["gone"] for row in late} == {0}


def answer(warehouse, query, capfd):
    capfd.readouterr()
    assert cli.main(["sql", "--warehouse", str(warehouse), "--format", "json", query]) == ExitCode.CLEAN
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


LISTENERS = {"SSL": "MUTUAL", "SASL_PLAINTEXT": "LOGIN", "SASL_SSL": "TLSLOGIN"}


@pytest.mark.drawn_together(5)
@pytest.mark.parametrize("text", operations_page.blocks("properties"), ids=lambda text: text.split()[0].split("=")[1])
def test_the_properties_files_of_the_page(guarded, tmp_path, text):
    user, password = (SCRAM_USER, PASSWORD) if "SCRAM" in text else (GUEST, GUEST)
    places = {
        "/etc/groupscope/ca.pem": str(guarded.secured.authority.certificate),
        "/etc/groupscope/client.pem": str(guarded.secured.client.store),
        '"groupscope"': quoted(user),
        '"secret"': quoted(password),
    }
    for shown, real in places.items():
        text = text.replace(shown, real)
    values = dict(line.split("=", 1) for line in text.splitlines())
    path = client_file(tmp_path / "properties", values)
    address = guarded.secured.address(LISTENERS[values["security.protocol"]])
    with KafkaCluster(address, client_properties(path)) as cluster:
        assert [node.id for node in cluster.nodes()] == [1]


# As the table under "How often" has them.
DEFAULTS = {
    "cleanup.policy": ("compact", "cleaned"),
    "segment.bytes": ("104857600", "100 MiB"),
    "segment.ms": ("604800000", "7 days"),
    "min.cleanable.dirty.ratio": ("0.5", "0.5"),
    "delete.retention.ms": ("86400000", "24 h"),
    "min.compaction.lag.ms": ("0", "0"),
}


def configured(guarded, words):
    guarded.secured.tool(CONFIGS, *words)
    return guarded.secured.tool(CONFIGS, "--describe", *words[1:5])


@pytest.mark.drawn_together(5)
def test_the_settings_of_the_page(guarded):
    lag, quota = operations_page.commands("settings")
    reported = guarded.secured.tool(CONFIGS, "--describe", "--all", *lag[1:5])
    defaults = dict(re.findall(r"^ *([\w.]+)=(\S+) sensitive=", reported, flags=re.MULTILINE))
    for name, (value, shown) in DEFAULTS.items():
        assert defaults[name] == value
        assert shown in operations_page.PAGE
    assert lag[-1] in configured(guarded, lag)
    assert "consumer_byte_rate=1.048576E7" in configured(guarded, quota)
    # So little that a single answer is too much: the broker says how long it will not listen.
    configured(guarded, [*quota[:-1], "consumer_byte_rate=10"])
    try:
        assert throttled_ms(guarded, client_properties(None)) > 0
        assert throttled_ms(guarded, ClientProperties({"client.id": "another"})) == 0
    finally:
        guarded.secured.tool(CONFIGS, *quota[:-2], "--delete-config", "consumer_byte_rate")


def throttled_ms(guarded, properties):
    with KafkaCluster(guarded.broker.bootstrap, properties) as cluster:
        request = fetch_request(OFFSETS_TOPIC, busiest(cluster), 0, 1 << 20)
        return max(int(cluster.ask(request, 1).throttle_time_ms) for _ in range(2))


def busiest(cluster):
    ends = partition_offsets(cluster, [(OFFSETS_TOPIC, number) for number in range(4)])
    return max(ends, key=lambda key: ends[key].end)[1]


@pytest.mark.drawn_together(5)
def test_a_run_asks_for_what_the_page_says_and_changes_nothing(guarded, tmp_path, monkeypatch):
    asked = set()
    send = KafkaConnection._send

    def noted(connection, request):
        asked.add(type(request).__name__.removesuffix("Request"))
        send(connection, request)

    monkeypatch.setattr(KafkaConnection, "_send", noted)
    before = everything(guarded.broker)
    ingest(tmp_path / "w", *guarded.source)
    captured(tmp_path / "snapshots", *guarded.source)
    (named,) = re.findall(r"^\| requests \| (.+) \|$", operations_page.PAGE, flags=re.MULTILINE)
    login, of_share_groups = {"SaslHandshake", "SaslAuthenticate"}, {"DescribeShareGroupOffsets"}
    assert asked == set(re.findall(r"\b[A-Z]\w+[A-Z]\w+|Metadata|Fetch\b", named)) - of_share_groups | login
    asked.clear()
    ingest(tmp_path / "w", *guarded.source)
    assert "Fetch" not in asked
    assert everything(guarded.broker) == before


def everything(broker):
    """Where each partition of each topic ends, and which groups there are."""
    groups = kafka_tools.tool(broker, "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--list")
    return kafka_tools.offsets(broker, kafka_tools.LATEST), groups
