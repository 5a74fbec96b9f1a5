"""A standalone cluster of Spark on this machine: a master, and workers of one core each."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from jobs.spark.java import java_home

START_SECONDS = 120
HOST = "127.0.0.1"
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
    spark_class, hosts = program("spark-class"), [HOST] * workers
    with cluster_of(spark_class, environment(), folder, hosts, WORKER_MEMORY) as address:
        yield address


@contextmanager
def cluster_of(
    spark_class: str, environment: Mapping[str, str], folder: Path, hosts: Sequence[str], memory: str
) -> Iterator[str]:
    """The address of the master. `hosts`: addresses of this machine, one for each worker."""
    folder.mkdir()
    daemon = partial(run_daemon, spark_class, environment)
    with ExitStack() as running:
        log = folder / "master.log"
        running.enter_context(daemon("master.Master", HOST, log, "--port", "0"))
        address = wait_for(log, r"spark://127\.0\.0\.1:\d+")
        for number, host in enumerate(hosts):
            log = folder / f"worker-{number}.log"
            running.enter_context(daemon("worker.Worker", host, log, "--cores", "1", "--memory", memory, address))
            wait_for(log, "Successfully registered with master")
        yield address


@contextmanager
def run_daemon(
    spark_class: str, environment: Mapping[str, str], name: str, host: str, log: Path, *arguments: str
) -> Iterator[None]:
    """`name`: of a class of Spark. Its own script would fork and return."""
    own = {"SPARK_LOCAL_IP": host, "SPARK_WORKER_DIR": str(log.with_suffix(""))}
    words = [f"org.apache.spark.deploy.{name}", "--host", host, "--webui-port", "0", *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [spark_class, *words], env={**environment, **own}, stdout=output, stderr=output, cwd=log.parent
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def wait_for(log: Path, pattern: str) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if match := re.search(pattern, log.read_text()):
            return match[0]
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
