"""A real broker on free loopback ports: one KRaft node, formatted, started and stopped by its own process id."""

import base64
import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from jobs.spark.jars import jar_folder
from tests.kafka.java_programs import java_command
from tests.kafka.releases import Release

# Long enough on a machine whose cores are all busy with other work.
START_SECONDS: Final = 240
STOP_SECONDS: Final = 120
# On the classpath: named by an option, it would be taken for one of the other log4j, which 4.3 brings too.
LOGGING_FOLDER: Final = Path(__file__).with_name("logging")
# Many short-lived machines on few cores: what the second compiler and a concurrent collector cost never comes back.
SMALL_MACHINE: Final = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SERVING: Final = "Kafka Server started"


class BrokerError(RuntimeError):
    pass


@dataclass
class Broker:
    """Use `running`. Everything that the broker writes is below `folder`."""

    release: Release
    folder: Path
    port: int
    controller_port: int
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def log_dir(self) -> Path:
        return self.folder / "data"

    @property
    def output(self) -> Path:
        return self.folder / "broker.out"

    @property
    def scratch_options(self) -> list[str]:
        """For whatever runs beside the broker too: what Java leaves in its temporary folder goes with the broker's."""
        return [f"-Djava.io.tmpdir={self.folder}"]

    def write_properties(self, overrides: dict[str, str]) -> Path:
        properties = self.release.properties | {
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller_port}",
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://127.0.0.1:{self.controller_port}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "log.dirs": str(self.log_dir),
        }
        path = self.folder / "server.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in (properties | overrides).items()))
        return path

    def format(self) -> None:
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        features = [argument for feature in self.release.features for argument in ("--feature", feature)]
        config = self.write_properties({})
        # One word, since the id may begin with a hyphen.
        arguments = ["format", "--config", str(config), f"--cluster-id={cluster_id}", *features]
        done = subprocess.run(
            kafka_command(self.release, "kafka.tools.StorageTool", arguments),
            capture_output=True,
            text=True,
            check=False,
            timeout=START_SECONDS,
        )
        if done.returncode:
            raise BrokerError(f"{self.release.name} could not be formatted: {done.stdout}{done.stderr}")

    def start(self, overrides: dict[str, str]) -> None:
        config = self.write_properties(overrides)
        with self.output.open("ab") as output:
            begin = output.tell()
            self._process = subprocess.Popen(
                kafka_command(self.release, "kafka.Kafka", [str(config)], options=self.scratch_options),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # In its own session: an interrupt at the keyboard must not stop it before its clients.
                start_new_session=True,
            )
        self._wait_until_serving(begin)

    def _wait_until_serving(self, begin: int) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while SERVING not in (said := self.output.read_bytes()[begin:].decode(errors="replace")):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise BrokerError(f"{self.release.name} did not start: {said[-4000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """A clean stop, so that every segment is whole; killed only when it does not end by itself."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        # On a busy machine it goes on answering for some time.
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Returns when it is gone: until then it answers."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def restart(self, overrides: dict[str, str]) -> None:
        self.stop()
        self.start(overrides)


@contextmanager
def running(release: Release, folder: Path, overrides: dict[str, str] | None = None) -> Iterator[Broker]:
    """A freshly formatted broker in the empty `folder`; `overrides` are broker properties."""
    with ExitStack() as held:
        port, controller_port = free_ports(2)
        broker = Broker(release, folder, port, controller_port)
        broker.format()
        held.callback(broker.stop)
        broker.start(overrides or {})
        yield broker


def kafka_command(
    release: Release, main: str, arguments: list[str], *classes: Path, options: Sequence[str] = ()
) -> list[str]:
    """The command that runs a class of the release's jars, or of `classes` against them."""
    classpath = [*classes, *map(jar_folder, release.jar_sets), LOGGING_FOLDER]
    return java_command(main, classpath, arguments, [*SMALL_MACHINE, *options])


def free_ports(number: int) -> list[int]:
    """Held all at once, so that they differ."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [each.getsockname()[1] for each in sockets]
