"""A listener that accepts connections and never answers is no broker that commands wait for."""

import re
import time

import pytest

from jobs.broker.client_properties import ClientProperties
from jobs.broker.cluster import KafkaCluster
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.silent_server import silent_server

PATIENCE_SECONDS = 60
# With TLS it is the handshake that has no answer, which has the time for connecting.
KINDS = {
    "PLAINTEXT": {"request.timeout.ms": "300"},
    "SSL": {"security.protocol": "SSL", "socket.connection.setup.timeout.ms": "300"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_broker_that_never_answers_is_given_up_soon(kind: str) -> None:
    begun = time.monotonic()
    properties = ClientProperties({"default.api.timeout.ms": "500", **KINDS[kind]})
    with silent_server() as port, pytest.raises(Failure) as failed:
        KafkaCluster(f"127.0.0.1:{port}", properties)
    # On a busy machine a single attempt may take longer.
    assert re.fullmatch(rf"127\.0\.0\.1:{port}: no answer in time \(tried for (0\.5|\d+) s\)", str(failed.value))
    assert failed.value.code == ExitCode.UNREADABLE_INPUT
    assert time.monotonic() - begun < PATIENCE_SECONDS


def test_the_time_that_is_reported_is_the_time_that_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """One request may have more time than all attempts to reach a cluster."""
    monkeypatch.setattr("jobs.broker.cluster.OPEN_SECONDS", 0.2)
    begun = time.monotonic()
    with silent_server() as port, pytest.raises(Failure, match=r"no answer in time \(tried for \d+ s\)$") as failed:
        KafkaCluster(f"127.0.0.1:{port}", ClientProperties({"request.timeout.ms": "2000"}))
    (result,) = re.findall(r"for (\d+) s", str(failed.value))
    assert 2 <= int(result) <= time.monotonic() - begun
