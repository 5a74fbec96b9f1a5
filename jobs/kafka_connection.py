"""One connection to one broker: a request, its answer, and what went wrong in between.

Requests and answers are those of kafka-python's protocol layer. Its own network layer is left alone: that tries again
until a time is over whatever the reason, and tells none.
"""

import io
import socket
from typing import Any, Final

from jobs.client_properties import ClientProperties
from jobs.failure import Failure
from jobs.kafka_errors import UNSUPPORTED_VERSION, ConnectionLost, error_name
from schemas.exit_codes import ExitCode

CLIENT_ID: Final = "groupscope"
# Far above what is asked for, and below what TLS or HTTP would make of the four bytes of a length.
MAX_ANSWER_BYTES: Final = 1 << 30


class KafkaConnection:
    def __init__(self, host: str, port: int, properties: ClientProperties) -> None:
        self.address = f"{host}:{port}"
        self._number = 0
        self._sent: Any = None
        self._socket = connected_socket(host, port, properties.seconds("socket.connection.setup.timeout.ms"))
        self._socket.settimeout(properties.seconds("request.timeout.ms"))
        try:
            self._versions = self._agreed_versions()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def ask(self, request: Any) -> Any:
        self.send(request)
        return self.answer()

    def send(self, request: Any) -> None:
        """One request at a time: its answer is to be taken before the next."""
        request.API_VERSION = self._versions.api_version(request)
        self._send(request)

    def answer(self) -> Any:
        try:
            size = int.from_bytes(self._received(4), "big", signed=True)
            if not 0 < size <= MAX_ANSWER_BYTES:
                raise ConnectionLost(f"{self.address}: what answers there is no Kafka broker")
            content = io.BytesIO(self._received(size))
        except OSError as error:
            raise ConnectionLost(f"{self.address}: {why_lost(error)}") from error
        header, self._sent = self._sent, None
        kind = header.get_response_class()
        if kind.parse_header(content).correlation_id != header.correlation_id:
            raise ConnectionLost(f"{self.address}: an answer to another request")
        return kind.decode(content)

    def _send(self, request: Any) -> None:
        self._number += 1
        request.with_header(correlation_id=self._number, client_id=CLIENT_ID)
        self._sent = request.header
        try:
            self._socket.sendall(request.encode(framed=True, header=True))
        except OSError as error:
            raise ConnectionLost(f"{self.address}: {why_lost(error)}") from error

    def _received(self, size: int) -> bytearray:
        content = bytearray(size)
        rest = memoryview(content)
        while rest:
            number = self._socket.recv_into(rest)
            if not number:
                raise ConnectionLost(f"{self.address}: closed by the broker")
            rest = rest[number:]
        return content

    def _agreed_versions(self) -> Any:
        from kafka.protocol.broker_version_data import BrokerVersionData
        from kafka.protocol.metadata import ApiVersionsRequest

        version = ApiVersionsRequest.max_version
        answer = self._versions_answer(version)
        if answer.error_code == UNSUPPORTED_VERSION:
            known = [each.max_version for each in answer.api_keys if each.api_key == ApiVersionsRequest.API_KEY]
            answer = self._versions_answer(min([version, *known]) if known else 0)
        if answer.error_code:
            raise ConnectionLost(f"{self.address}: the broker tells no versions: {error_name(answer.error_code)}")
        return BrokerVersionData(
            api_versions={each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
        )

    def _versions_answer(self, version: int) -> Any:
        from kafka.protocol.metadata import ApiVersionsRequest

        request = ApiVersionsRequest(version=version, client_software_name=CLIENT_ID, client_software_version="1")
        self._send(request)
        return self.answer()


def connected_socket(host: str, port: int, seconds: float) -> socket.socket:
    try:
        found = socket.create_connection((host, port), timeout=seconds)
    except socket.gaierror as error:
        line = f"{host}:{port}: no such host ({error.strerror}): is the name right, and known on this machine?"
        raise Failure(ExitCode.UNREADABLE_INPUT, line) from error
    except OSError as error:
        raise ConnectionLost(f"{host}:{port}: {why_lost(error)}") from error
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def why_lost(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return (error.strerror or str(error) or type(error).__name__).lower()
