"""An S3-compatible server on this machine that honours conditional puts, and a proxy before it that misbehaves."""

import http.client
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from jobs.storage.options import StorageOptions

PROGRAM = Path(__file__).with_name("s3_program.py")
PATIENCE_SECONDS = 60
SECRET = "s3cr3t-of-the-test"


def free_port() -> int:
    with socket.socket() as result:
        result.bind(("127.0.0.1", 0))
        return int(result.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def started_s3() -> "tuple[subprocess.Popen[bytes], str]":
    """The process and its URL."""
    port, nothing = free_port(), subprocess.DEVNULL
    command = [sys.executable, str(PROGRAM), "-H", "127.0.0.1", "-p", str(port)]
    running = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not answers(port):
        assert running.poll() is None
        assert time.monotonic() < deadline, f"the S3 server did not start in {PATIENCE_SECONDS} s"
        time.sleep(0.05)
    return running, f"http://127.0.0.1:{port}"


@contextmanager
def s3_server() -> Iterator[str]:
    """Its URL, while it runs."""
    running, url = started_s3()
    with running:
        try:
            yield url
        finally:
            running.kill()


def make_bucket(url: str, name: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(f"{url}/{name}", method="PUT")):
        pass


def options_for(url: str, retry_seconds: int = 30, **others: str) -> StorageOptions:
    values = {
        "aws_endpoint_url": url,
        "aws_region": "us-east-1",
        "aws_allow_http": "true",
        "aws_access_key_id": "key-of-the-test",
        "aws_secret_access_key": SECRET,
        **others,
    }
    return StorageOptions(tuple(sorted(values.items())), retry_seconds)


@dataclass
class Misbehaviour:
    """What the proxy does to the next requests, one after the other: wait so long, answer a status, hang up, answer
    nothing though it is done ("lose"), do it a second time and answer that ("repeat"), or pass on. `only`: to requests
    with this in their path. `may_read`: not to requests that change nothing."""

    next: list[str] = field(default_factory=list)
    always: str = "pass"
    only: str = ""
    may_read: bool = False
    requests: list[str] = field(default_factory=list)
    # Those that were done twice.
    repeated: list[str] = field(default_factory=list)
    # Bytes of the bodies that were answered, by path.
    answered: Counter[str] = field(default_factory=Counter)
    # How many were being answered at one time.
    num_now: int = 0
    most_at_once: int = 0


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Clients end in the middle of a request. Its stack trace would stand among the lines of the run."""


@contextmanager
def proxy(url: str) -> Iterator[tuple[str, Misbehaviour]]:
    behaviour = Misbehaviour()
    server = QuietServer(("127.0.0.1", 0), handler_of(url.removeprefix("http://"), behaviour))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", behaviour
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def handler_of(behind: str, behaviour: Misbehaviour) -> type[BaseHTTPRequestHandler]:
    count = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            with count:
                behaviour.num_now += 1
                behaviour.most_at_once = max(behaviour.most_at_once, behaviour.num_now)
            try:
                self.answer_one()
            finally:
                with count:
                    behaviour.num_now -= 1

        def answer_one(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            behaviour.requests.append(f"{self.command} {self.path}")
            what = "pass"
            if behaviour.only in self.path and not (behaviour.may_read and self.command in READING):
                what = behaviour.next.pop(0) if behaviour.next else behaviour.always
            if what.startswith("wait "):
                time.sleep(float(what.removeprefix("wait ")))
            elif what.isdigit():
                self.give(int(what), {}, ERRORS[what].encode())
                return
            elif what == "hang up":
                self.close_connection = True
                return
            result = self.passed_on(body)
            if what == "repeat":
                behaviour.repeated.append(f"{self.command} {self.path}")
                result = self.passed_on(body)
            if what == "lose":
                self.close_connection = True
            else:
                self.give(*result)

        def passed_on(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            connection = http.client.HTTPConnection(behind, timeout=30)
            connection.request(self.command, self.path, body, dict(self.headers))
            result = connection.getresponse()
            left_out = ("connection", "transfer-encoding", "date", "server")
            headers = {name: value for name, value in result.getheaders() if name.lower() not in left_out}
            return result.status, headers, result.read()

        def give(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() != "content-length" or self.command == "HEAD":
                    self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("content-length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                behaviour.answered[self.path] += len(body)
                self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer

        def log_message(self, *_: object) -> None: ...

    return Handler


READING = ("GET", "HEAD")
# As AWS answers, the request repeated: secrets are in them too.
ERRORS = {
    "403": "<?xml version='1.0'?><Error><Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated "
    f"does not match</Message><AWSAccessKeyId>key-of-the-test</AWSAccessKeyId><Echo>{SECRET}</Echo></Error>",
    "500": f"<?xml version='1.0'?><Error><Code>InternalError</Code><Message>{SECRET}</Message></Error>",
    "503": "<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Reduce your request rate</Message></Error>",
}
