"""Makes archives of the classes that a broker of each release, the tests' HDFS and Spark load. Java maps one into
memory, in place of parsing and checking thousands of classes in each broker, tool, name node and session that
tests start (see `tests.short_lived_java`). It saves a session a third of its processor time: 6.5 of 21 s.

`python -m tests.shared_classes` makes those that are absent. Without them all works, but starts slowly.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jobs.spark.cache_folder import build_once
from jobs.spark.jars import jar_folder
from tests.builders.storages import mini_hdfs
from tests.kafka.broker import SMALL_MACHINE, START_SECONDS, STOP_SECONDS, Broker, free_ports
from tests.kafka.java_programs import expanded, java_command
from tests.kafka.releases import FORMER, RELEASES
from tests.short_lived_java import archive_of, of_spark, spark_archive

ROOT = Path(__file__).parents[1]


def of_broker(release):
    """Its archive is absent if this Java has none of its own to add to."""
    classpath = [jar_folder(jar_set) for jar_set in release.jar_sets]
    archive = archive_of(expanded(classpath))

    def build(folder):
        with tempfile.TemporaryDirectory() as scratch:
            broker = Broker(release, Path(scratch), *free_ports(2))
            broker.format()
            options = [*SMALL_MACHINE, *broker.scratch_options, made_at_exit(folder, archive)]
            command = java_command("kafka.Kafka", classpath, [str(broker.write_properties({}))], options)
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                wait_until_serving(process, broker)
                process.terminate()
                process.wait(STOP_SECONDS)

    build_once(archive.parent, build)
    return archive


def of_hdfs():
    archive = archive_of(mini_hdfs.classpath())

    def build(folder):
        with tempfile.TemporaryDirectory() as scratch:
            started = mini_hdfs.MiniHdfs(Path(scratch), options=(made_at_exit(folder, archive),))
            started.start()
            assert started.process is not None
            started.process.terminate()
            started.process.wait(STOP_SECONDS)

    build_once(archive.parent, build)
    return archive


def of_executors():
    """And of drivers: those of the program that tests run where there is no Java on the PATH."""
    archive = spark_archive()

    def build(folder):
        environment = {**os.environ, **of_spark()}
        environment["SPARK_SUBMIT_OPTS"] += f" {made_at_exit(folder, archive)}"
        with tempfile.TemporaryDirectory() as scratch:
            command = [sys.executable, "-m", "tests.processes.delta_round_trip", f"{scratch}/table"]
            subprocess.run(
                command, env=environment, cwd=ROOT, capture_output=True, check=True, timeout=4 * START_SECONDS
            )

    build_once(archive.parent, build)
    return archive


def made_at_exit(folder, archive):
    return f"-XX:ArchiveClassesAtExit={folder / archive.name}"


def wait_until_serving(process, broker):
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", broker.port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


def all_archives():
    yield from map(of_broker, (RELEASES | FORMER).values())
    yield of_hdfs()
    yield of_executors()


def main():
    for archive in all_archives():
        sys.stdout.write(f"{archive}\n")


if __name__ == "__main__":
    main()
