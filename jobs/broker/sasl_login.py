"""The messages that a client sends and receives while it logs in with SASL."""

from collections.abc import Generator

from jobs.broker.client_security import Credentials


def sasl_messages(credentials: Credentials) -> Generator[bytes, bytes, None]:
    """Yields messages to send and takes the responses. ValueError if the broker does not know the password either."""
    if credentials.mechanism == "PLAIN":
        yield f"\0{credentials.username}\0{credentials.password}".encode()
        return
    from kafka.net.sasl.scram import ScramClient

    # Commas and equals signs separate the fields.
    name = credentials.username.replace("=", "=3D").replace(",", "=2C")
    client = ScramClient(name, credentials.password, credentials.mechanism)
    try:
        client.process_server_first_message((yield client.first_message()))
        client.process_server_final_message((yield client.final_message()))
    except KeyError as error:
        raise ValueError("the broker's answer is not a SCRAM message") from error
