"""One connection to one broker: sends a request, reads the response, and says what failed in between.

It uses the requests and responses of kafka-python's protocol layer, but not its network layer: that retries every
error until a timeout, and does not report the reason.
"""

import io
import socket
import ssl
import struct
from typing import Any, Final

from jobs.broker.client_security import Credentials, Security
from jobs.broker.diagnosis import mismatch
from jobs.broker.errors import UNSUPPORTED_VERSION, ConnectionLost, NoAnswer, error_name
from jobs.broker.metadata import BOOTSTRAP, Node, metadata_request
from jobs.broker.sasl_login import sasl_messages
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

CLIENT_ID: Final = "groupscope"
# Far above the size of any response, and below what TLS or HTTP bytes would mean as a length.
MAX_ANSWER_BYTES: Final = 256 << 20
TLS_ALERT: Final = b"\x15\x03"
UNSUPPORTED_MECHANISM: Final = 33
NO_SASL_HERE: Final = 34


class KafkaConnection:
    def __init__(
        self, node: Node, security: Security, connect_seconds: float, answer_seconds: float, client_id: str = CLIENT_ID
    ) -> None:
        self.name = f"{node.host}:{node.port}"
        if node.id != BOOTSTRAP:
            # Often only this address is unreachable.
            self.name += f" (node {node.id}, as the cluster advertises it)"
        self._client_id = client_id
        self._number = 0
        self._sent: Any = None
        self._socket = self._connected_socket(node, connect_seconds)
        try:
            if security.context is not None:
                self._socket = self._tls_socket(security.context, node.host)
            self._socket.settimeout(answer_seconds)
            self._versions = self._agreed_versions()
            if security.credentials is not None:
                self._log_in(security.credentials, security.protocol)
            else:
                # Any client may ask for versions. A listener of another kind closes the connection at the next request.
                self.ask(metadata_request([]))
        except NoAnswer:
            self.close()
            raise
        except ConnectionLost as error:
            self.close()
            raise mismatch(node.host, node.port, self.name, security) or error from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def ask(self, request: Any) -> Any:
        request.API_VERSION = self._versions.api_version(request)
        self._send(request)
        return self._read_answer()

    def _send(self, request: Any) -> None:
        self._number += 1
        request.with_header(correlation_id=self._number, client_id=self._client_id)
        self._sent = request.header
        try:
            self._socket.sendall(request.encode(framed=True, header=True))
        except OSError as error:
            raise self._connection_error(error) from error

    def _read_answer(self) -> Any:
        try:
            size = self._receive(4)
            if size.startswith(TLS_ALERT):
                raise ConnectionLost(f"{self.name}: speaks TLS")
            number = int.from_bytes(size, "big", signed=True)
            if not 0 < number <= MAX_ANSWER_BYTES:
                raise failure(f"{self.name}: what answers there is no Kafka broker")
            content = io.BytesIO(self._receive(number))
        except OSError as error:
            raise self._connection_error(error) from error
        header, self._sent = self._sent, None
        kind = header.get_response_class()
        try:
            if kind.parse_header(content).correlation_id == header.correlation_id:
                return kind.decode(content)
        except (ValueError, IndexError, struct.error) as error:
            raise failure(f"{self.name}: what answers there is no Kafka broker") from error
        raise failure(f"{self.name}: what answers there is no Kafka broker")

    def _receive(self, size: int) -> bytearray:
        content = bytearray(size)
        rest = memoryview(content)
        while rest:
            number = self._socket.recv_into(rest)
            if not number:
                raise ConnectionLost(f"{self.name}: the broker closed the connection")
            rest = rest[number:]
        return content

    def _connection_error(self, error: OSError) -> Exception:
        """A broker sends an alert after the handshake only if it requires a certificate, or another one."""
        if isinstance(error, ssl.SSLError) and "alert" in str(error).lower():
            why = alert(error)
            line = f"{self.name}: the broker ended the TLS handshake ({why}); it may require another client certificate"
            return failure(f"{line}: check ssl.keystore.location")
        kind = NoAnswer if isinstance(error, TimeoutError) else ConnectionLost
        return kind(f"{self.name}: {why_lost(error)}")

    def _connected_socket(self, node: Node, seconds: float) -> socket.socket:
        try:
            connection = socket.create_connection((node.host, node.port), timeout=seconds)
        except (socket.gaierror, UnicodeError) as error:
            is_passing = isinstance(error, OSError) and error.errno == socket.EAI_AGAIN
            why = why_lost(error) if isinstance(error, OSError) else "not a name"
            line = (
                f"{self.name}: this machine cannot resolve the host name ({why}); check the name, and DNS on "
                "this machine"
            )
            raise (ConnectionLost(line) if is_passing else failure(line)) from error
        except OSError as error:
            raise self._connection_error(error) from error
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _tls_socket(self, context: ssl.SSLContext, host: str) -> socket.socket:
        try:
            return context.wrap_socket(self._socket, server_hostname=host)
        except ssl.SSLCertVerificationError as error:
            why = error.verify_message.rstrip(".").lower()
            is_name = "mismatch" in why
            what = "ssl.endpoint.identification.algorithm" if is_name else "ssl.truststore.location"
            raise failure(f"{self.name}: the broker's TLS certificate is not trusted: {why}: see {what}") from error
        except ssl.SSLError as error:
            if "alert" in str(error).lower():
                raise self._connection_error(error) from error
            if error.reason in {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"}:
                raise failure(f"{self.name}: what answers there speaks no TLS") from error
            raise self._connection_error(error) from error
        except OSError as error:
            raise self._connection_error(error) from error

    def _agreed_versions(self) -> Any:
        from kafka.protocol.broker_version_data import BrokerVersionData
        from kafka.protocol.metadata import ApiVersionsRequest

        version = ApiVersionsRequest.max_version
        answer = self._versions_answer(version)
        if answer.error_code == UNSUPPORTED_VERSION:
            known = [each.max_version for each in answer.api_keys if each.api_key == ApiVersionsRequest.API_KEY]
            answer = self._versions_answer(min([version, *known]) if known else 0)
        if answer.error_code:
            raise ConnectionLost(f"{self.name}: the broker reports no versions: {error_name(answer.error_code)}")
        return BrokerVersionData(
            api_versions={each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
        )

    def _versions_answer(self, version: int) -> Any:
        from kafka.protocol.metadata import ApiVersionsRequest

        self._send(ApiVersionsRequest(version=version, client_software_name=CLIENT_ID, client_software_version="1"))
        return self._read_answer()

    def _log_in(self, credentials: Credentials, protocol: str) -> None:
        from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

        chosen = self.ask(SaslHandshakeRequest(mechanism=credentials.mechanism, min_version=1))
        if chosen.error_code == UNSUPPORTED_MECHANISM:
            offered = ", ".join(sorted(chosen.mechanisms))
            line = f"{self.name}: the broker does not offer sasl.mechanism {credentials.mechanism}; it offers {offered}"
            raise failure(line)
        if chosen.error_code == NO_SASL_HERE:
            plain = protocol.removeprefix("SASL_")
            raise failure(f"{self.name}: no SASL there: set security.protocol to {plain}")
        if chosen.error_code:
            raise ConnectionLost(f"{self.name}: SASL: {error_name(chosen.error_code)}")
        messages = sasl_messages(credentials)
        said = next(messages)
        while True:
            answer = self.ask(SaslAuthenticateRequest(auth_bytes=said))
            if answer.error_code:
                raise self._not_let_in(credentials, answer.error_message or error_name(answer.error_code))
            try:
                said = messages.send(answer.auth_bytes)
            except StopIteration:
                return
            except ValueError as error:
                raise self._not_let_in(credentials, "the broker's answer does not match this password") from error

    def _not_let_in(self, credentials: Credentials, why: str) -> Failure:
        who = f"user {credentials.username!r} by {credentials.mechanism}"
        return failure(f"{self.name}: {who} is not let in ({why}): are name and password in sasl.jaas.config right?")


def failure(line: str) -> Failure:
    return Failure(ExitCode.UNREADABLE_INPUT, line)


def why_lost(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: is a broker up there, and the port right?"
    return (error.strerror or str(error) or type(error).__name__).lower()


def alert(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).lower().replace("_", " ")
