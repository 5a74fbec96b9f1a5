"""What listens at an address that has just hung up on us: brokers tell nothing to a client of the wrong kind."""

import socket
import ssl
import struct
from typing import Final

from jobs.client_security import Security
from jobs.failure import Failure
from schemas.exit_codes import ExitCode

PROBE_SECONDS: Final = 3.0
API_VERSIONS: Final = 18
SASL_HANDSHAKE: Final = 17
SASL_ERRORS: Final = {0, 33}


def mismatch(host: str, port: int, name: str, security: Security) -> Failure | None:
    """What to set otherwise; None when the listener is of our kind or tells nothing."""
    if security.context is None and speaks_tls(host, port):
        return told(f"{name}: speaks TLS: set security.protocol to {security.protocol.replace('PLAINTEXT', 'SSL')}")
    if security.context is not None and not speaks_tls(host, port) and speaks_plainly(host, port):
        plain = security.protocol.replace("SSL", "PLAINTEXT")
        return told(f"{name}: speaks no TLS: set security.protocol to {plain}")
    if security.credentials is None:
        mechanisms = sasl_mechanisms(host, port, security.context)
        if mechanisms:
            wanted = "SASL_SSL" if security.context else "SASL_PLAINTEXT"
            return told(f"{name}: asks for SASL ({', '.join(mechanisms)}): set security.protocol to {wanted}")
    return None


def told(line: str) -> Failure:
    return Failure(ExitCode.UNREADABLE_INPUT, line)


def speaks_tls(host: str, port: int) -> bool:
    """Whether it is trusted, and would trust us, is another matter."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=PROBE_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return True
    except ssl.SSLError as error:
        return "alert" in str(error).lower()
    except OSError:
        return False


def speaks_plainly(host: str, port: int) -> bool:
    return raw_answer(host, port, None, API_VERSIONS, 0, b"") is not None


def sasl_mechanisms(host: str, port: int, context: ssl.SSLContext | None) -> list[str]:
    wished = b"PLAIN"
    answer = raw_answer(host, port, context, SASL_HANDSHAKE, 1, struct.pack(">h", len(wished)) + wished)
    if answer is None or struct.unpack_from(">h", answer)[0] not in SASL_ERRORS:
        return []
    (number,) = struct.unpack_from(">i", answer, 2)
    names, at = [], 6
    for _ in range(number):
        (size,) = struct.unpack_from(">h", answer, at)
        names.append(answer[at + 2 : at + 2 + size].decode())
        at += 2 + size
    return sorted(names)


def raw_answer(
    host: str, port: int, context: ssl.SSLContext | None, api_key: int, version: int, body: bytes
) -> bytes | None:
    """The body, if it is one; by hand, since a connection of the usual kind has just failed."""
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
