"""A play that Kafka's own client breaks off by a known fault is played again; one that fails otherwise is not."""

from typing import Final

import pytest

from jobs.spark.jars import jar_folder
from tests.kafka import broker, fresh_brokers
from tests.kafka.broker import Broker, BrokerError
from tests.kafka.capture import HERE, run_phase, scenario_sources
from tests.kafka.fresh_brokers import TRIES, PlayError, known_fault, on_fresh_broker
from tests.kafka.java_programs import compile_java
from tests.kafka.phases import Phase
from tests.kafka.releases import KAFKA_3_9_OLD

SOURCES: Final = [*scenario_sources(KAFKA_3_9_OLD), *sorted((HERE / "java" / "faults").glob("*.java"))]

KAFKAS: Final = """\
java.util.concurrent.ExecutionException: java.lang.Exception: ConsumerGroups.rebalanced
\tat java.base/java.util.concurrent.FutureTask.report(FutureTask.java:122)
\tat Scenarios.main(Scenarios.java:28)
Caused by: java.lang.Exception: ConsumerGroups.rebalanced
\tat Scenarios.run(Scenarios.java:54)
\t... 5 more
Caused by: java.lang.IllegalStateException: No current assignment for partition orders-4
\tat org.apache.kafka.clients.consumer.internals.SubscriptionState.assignedState(SubscriptionState.java:378)
\tat org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer.position(AsyncKafkaConsumer.java:1034)
\tat Member.commitPositions(Member.java:105)
"""
OURS: Final = """\
java.util.concurrent.ExecutionException: java.lang.Exception: ConsumerGroups.deleted
\tat Scenarios.main(Scenarios.java:28)
Caused by: java.lang.IllegalStateException: waited in vain until a member has 6 partitions
\tat Cluster.until(Cluster.java:137)
"""
LOGGED: Final = """\
[2026-11-22 13:22:29,784] ERROR [Consumer clientId=c] Unexpected error (org.apache.kafka.clients.NetworkClient)
java.lang.NullPointerException
\tat org.apache.kafka.clients.NetworkClient.poll(NetworkClient.java:1)
"""
SENT_AWAY: Final = """\
org.apache.kafka.common.errors.UnknownMemberIdException: The coordinator is not aware of this member.
java.util.concurrent.CompletionException: org.apache.kafka.common.errors.UnknownMemberIdException: The coordinator is \
not aware of this member.
\tat java.base/java.util.concurrent.CompletableFuture.reportJoin(CompletableFuture.java:413)
\tat Reader.throwFailure(Reader.java:114)
\tat Outages.main(Outages.java:53)
Caused by: org.apache.kafka.common.errors.UnknownMemberIdException: The coordinator is not aware of this member.
"""
UNKNOWN: Final = KAFKAS.replace("No current assignment for partition orders-4", "Something else")
MISUSED: Final = KAFKAS.replace("org.apache.kafka.clients.consumer.internals.", "Member.")


@pytest.mark.parametrize("said", [KAFKAS, KAFKAS + KAFKAS, LOGGED + KAFKAS, KAFKAS + "failed: [ConsumerGroups]\n"])
def test_a_known_fault_of_kafka_is_recognized(said):
    fault = known_fault(said)
    assert fault is not None
    assert fault.message == "No current assignment for partition"


@pytest.mark.parametrize("said", [SENT_AWAY, "the machine stood still: members timed out: left-consumer-1"])
def test_so_is_a_machine_that_had_no_time_for_members(said):
    assert known_fault(said) is not None


@pytest.mark.parametrize(
    "said", [SENT_AWAY + OURS, "", "failed\n", OURS, KAFKAS + OURS, OURS + KAFKAS, LOGGED, UNKNOWN, MISUSED]
)
def test_everything_else_is_not(said):
    assert known_fault(said) is None


def played(tmp_path, scenario):
    """Returns how many brokers it took; the marker says how often the scenario ran."""
    classes = compile_java(SOURCES, [jar_folder(jar_set) for jar_set in KAFKA_3_9_OLD.jar_sets])
    folder = tmp_path / "capture"
    folder.mkdir()
    brokers = []

    def play(broker):
        brokers.append(broker.port)
        assert list(folder.iterdir()) == []
        (folder / "left").touch()
        run_phase(broker, Phase((f"Faults.{scenario}:{tmp_path / 'marker'}",)), classes, folder)

    on_fresh_broker(KAFKA_3_9_OLD, folder, {}, play)
    return len(brokers)


@pytest.mark.broker
@pytest.mark.drawn_together(1)
def test_a_fault_of_kafkas_client_is_played_again(tmp_path, capsys):
    assert played(tmp_path, "once") == 2
    assert (tmp_path / "marker").read_text() == "11"
    said = capsys.readouterr().err
    assert said.count("3.9.1-old: the play failed (No current assignment for partition)") == 1


@pytest.mark.broker
@pytest.mark.drawn_together(1)
@pytest.mark.parametrize("tries", [2, pytest.param(TRIES, marks=pytest.mark.soak)])
def test_a_fault_that_stays_ends_it_after_a_few_tries(tmp_path, tries, monkeypatch):
    monkeypatch.setattr(fresh_brokers, "TRIES", tries)
    with pytest.raises(PlayError, match="No current assignment"):
        played(tmp_path, "always")
    assert (tmp_path / "marker").read_text() == "1" * tries


@pytest.mark.broker
@pytest.mark.drawn_together(1)
def test_a_fault_of_our_own_is_not_played_again(tmp_path):
    with pytest.raises(PlayError, match="No current assignment"):
        played(tmp_path, "ours")
    assert (tmp_path / "marker").read_text() == "1"


def test_a_broker_that_never_comes_is_named_in_its_own_term(tmp_path, monkeypatch):
    monkeypatch.setattr(broker, "START_SECONDS", 0.5)
    monkeypatch.setattr(broker, "kafka_command", lambda *_, **__: ["sh", "-c", "echo alive; exec sleep 600"])
    waited = Broker(KAFKA_3_9_OLD, tmp_path, 1, 2)
    with pytest.raises(BrokerError, match=f"^{KAFKA_3_9_OLD.name} did not start: alive"):
        waited.start({})
    # It has no process any more.
    waited.stop()
