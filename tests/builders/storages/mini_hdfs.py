"""A real HDFS on this machine: name node and data node of the Hadoop release that Spark brings, in one process."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jobs.spark.jars import JarSet, jars
from tests.kafka.java_programs import expanded, java_command
from tests.short_lived_java import FLAGS, SPARK_HOME

SPARK_JARS = SPARK_HOME / "jars"
# Hadoop's test classes name JUnit's, which their jar lacks.
HADOOP: Final = JarSet(
    "hadoop-minicluster-3.5.0",
    (
        "org.apache.hadoop:hadoop-client-minicluster:3.5.0",
        "org.junit.jupiter:junit-jupiter-api:5.11.4",
        "org.junit.platform:junit-platform-commons:1.11.4",
        "org.opentest4j:opentest4j:1.3.0",
    ),
    is_transitive=False,
)
PATIENCE_SECONDS = 180
MOST_HANGING_SECONDS = 60


def classpath() -> list[Path]:
    return expanded([*jars(HADOOP), SPARK_JARS])


@dataclass
class MiniHdfs:
    """Everything that it writes lies in the folder, and is there again when it is started again."""

    folder: Path
    # Of its virtual machine.
    options: Sequence[str] = ()
    port: int = 0
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def uri(self) -> str:
        return f"hdfs://127.0.0.1:{self.port}"

    def start(self) -> None:
        """The first time it makes a new file system."""
        details, log = self.folder / "details.json", self.folder / "log.txt"
        details.unlink(missing_ok=True)
        arguments = ["-datanodes", "1", "-nnport", str(self.port), "-writeDetails", str(details)]
        arguments += [] if self.port else ["-format"]
        options = [*FLAGS, f"-Djava.io.tmpdir={self.folder}", *self.options]
        command = java_command("org.apache.hadoop.test.MiniDFSClusterManager", classpath(), arguments, options)
        with log.open("a") as output:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=output, stderr=output)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (details.is_file() and details.read_text().endswith("}")):
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, f"HDFS did not start in {PATIENCE_SECONDS} s: {log.read_text()}"
            time.sleep(0.2)
        self.port = json.loads(details.read_text())["namenode_port"]

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It accepts connections and requests, and answers when this is over: also those that nobody waits for any
        more. It is over after a while at the latest: whoever waits for ever would hold the test."""
        end = threading.Timer(MOST_HANGING_SECONDS, self.send, [signal.SIGCONT])
        end.start()
        assert self.process is not None
        self.send(signal.SIGSTOP)
        # On a busy machine it goes on answering for some time.
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
        try:
            yield
        finally:
            end.cancel()
            self.send(signal.SIGCONT)

    def is_stopped(self) -> bool:
        """Since it was made to hang, without an end so far."""
        assert self.process is not None
        return os.waitid(os.P_PID, self.process.pid, os.WCONTINUED | os.WNOHANG) is None

    def send(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@contextmanager
def mini_hdfs(folder: Path, options: Sequence[str] = ()) -> Iterator[MiniHdfs]:
    folder.mkdir()
    started = MiniHdfs(folder, options)
    try:
        started.start()
        yield started
    finally:
        started.kill()
