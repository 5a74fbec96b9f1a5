"""Finds out what listens at an address that has just closed the connection. A broker gives a wrong client no reason."""

import socket
import ssl
import struct
from typing import Final

from jobs.broker.client_security import Security
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

PROBE_SECONDS: Final = 3.0
API_VERSIONS: Final = 18
SASL_HANDSHAKE: Final = 17
SASL_ERRORS: Final = {0, 33}


def mismatch(host: str, port: int, name: str, security: Security) -> Failure | None:
    """Which setting to change; None if the listener is of our kind or gives no information."""
    is_tls = speaks_tls(host, port)
    if not is_tls and not speaks_plainly(host, port):
        return None
    mechanisms = sasl_mechanisms(host, port, untrusting_context() if is_tls else None)
    is_sasl = security.credentials is not None if mechanisms is None else bool(mechanisms)
    protocol = ("SASL_" if is_sasl else "") + ("SSL" if is_tls else "PLAINTEXT")
    if protocol == security.protocol:
        return None
    kinds = ["speaks TLS" if is_tls else "speaks no TLS"] if is_tls != (security.context is not None) else []
    if is_sasl != (security.credentials is not None):
        kinds.append(f"asks for SASL ({', '.join(mechanisms)})" if mechanisms else "does not use SASL")
    line = f"{name}: {' and '.join(kinds)}: set security.protocol to {protocol}"
    return Failure(ExitCode.UNREADABLE_INPUT, line)


def speaks_tls(host: str, port: int) -> bool:
    """Whether it uses TLS. Whether either side trusts the other is another question."""
    try:
        with (
            socket.create_connection((host, port), timeout=PROBE_SECONDS) as plain,
            untrusting_context().wrap_socket(plain, server_hostname=host),
        ):
            return True
    except ssl.SSLError as error:
        return "alert" in str(error).lower()
    except OSError:
        return False


def untrusting_context() -> ssl.SSLContext:
    """For requests without secrets."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def speaks_plainly(host: str, port: int) -> bool:
    return raw_answer(host, port, None, API_VERSIONS, 0, b"") is not None


def sasl_mechanisms(host: str, port: int, context: ssl.SSLContext | None) -> list[str] | None:
    """None: unknown, for example if a client needs a certificate to ask."""
    wished = b"PLAIN"
    answer = raw_answer(host, port, context, SASL_HANDSHAKE, 1, struct.pack(">h", len(wished)) + wished)
    if answer is None:
        return None
    try:
        if struct.unpack_from(">h", answer)[0] not in SASL_ERRORS:
            return []
        (number,) = struct.unpack_from(">i", answer, 2)
        names, at = [], 6
        for _ in range(number):
            (size,) = struct.unpack_from(">h", answer, at)
            names.append(answer[at + 2 : at + 2 + size].decode())
            at += 2 + size
    except (struct.error, UnicodeDecodeError):
        return None
    return sorted(names)


def raw_answer(
    host: str, port: int, context: ssl.SSLContext | None, api_key: int, version: int, body: bytes
) -> bytes | None:
    """The body of a response, if it is one. Read by hand, since a normal connection has just failed."""
    number = 77
    request = struct.pack(">hhih", api_key, version, number, -1) + body
    try:
        with socket.create_connection((host, port), timeout=PROBE_SECONDS) as plain:
            speaking = context.wrap_socket(plain, server_hostname=host) if context else plain
            with speaking, speaking.makefile("rb") as reader:
                speaking.sendall(struct.pack(">i", len(request)) + request)
                head = reader.read(8)
                if len(head) < 8 or struct.unpack(">i", head[4:])[0] != number:
                    return None
                return reader.read(struct.unpack(">i", head[:4])[0] - 4)
    except (OSError, struct.error):
        return None
