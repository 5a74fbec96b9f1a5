"""A broker that does not know the password is not believed: Kafka's own always do."""

import pytest

from jobs.broker.client_security import Credentials
from jobs.broker.sasl_login import sasl_messages


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("last", [b"v=c29tZXRoaW5n", b"e=other-error", b"v=" + b"A" * 43 + b"="])
def test_a_broker_without_the_password_is_detected(mechanism: str, last: bytes) -> None:
    messages = sasl_messages(Credentials(mechanism, "user", "password"))
    first = next(messages)
    nonce = first.rpartition(b",r=")[2]
    messages.send(b"r=" + nonce + b"more,s=c2FsdA==,i=4096")
    with pytest.raises(ValueError, match=r"wrong signature|is not a SCRAM message"):
        messages.send(last)


def test_an_answer_to_another_client_is_refused() -> None:
    messages = sasl_messages(Credentials("SCRAM-SHA-256", "user", "password"))
    next(messages)
    with pytest.raises(ValueError, match="nonce"):
        messages.send(b"r=other,s=c2FsdA==,i=4096")
