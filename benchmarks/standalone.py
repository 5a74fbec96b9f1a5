"""A standalone cluster of Spark on this machine: a master, and workers of one core each."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from jobs.spark.java import java_home

START_SECONDS = 120
# What is planned for a worker's core: the Java heap, and 900 MB for Python.
WORKER_MEMORY = "2560m"
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.executor.cores": "1",
    "spark.executor.memory": "1g",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    # A second copy of a slow task would need a core that is measured.
    "spark.speculation": "false",
}


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """The address of the master; everything listens on this machine only."""
    folder.mkdir()
    with ExitStack() as running:
        log = folder / "master.log"
        running.enter_context(daemon("master.Master", log, "--port", "0"))
        address = awaited(log, r"spark://127\.0\.0\.1:\d+")
        for number in range(workers):
            log = folder / f"worker-{number}.log"
            running.enter_context(daemon("worker.Worker", log, "--cores", "1", "--memory", WORKER_MEMORY, address))
            awaited(log, "Successfully registered with master")
        yield address


@contextmanager
def daemon(name: str, log: Path, *arguments: str) -> Iterator[None]:
    """`name`: of a class of Spark."""
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(log.with_suffix(""))}
    words = [f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--webui-port", "0", *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program("spark-class"), *words], env=environment() | own, stdout=output, stderr=output, cwd=log.parent
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def awaited(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if found := re.search(pattern, log.read_text()):
            return found[0]
        time.sleep(0.05)
    raise RuntimeError(f"no {pattern!r} after {START_SECONDS} s in:\n{log.read_text()}")


def submit_command(address: str, events: Path, script: Path, *words: str | Path) -> list[str]:
    settings = SETTINGS | {"spark.master": address, "spark.eventLog.dir": f"file://{events}"}
    pairs = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return [program("spark-submit"), *pairs, str(script), *map(str, words)]


def environment() -> dict[str, str]:
    return {**os.environ, "JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}


def program(name: str) -> str:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeError("pyspark is not installed")
    return str(Path(spec.origin).parent / "bin" / name)
