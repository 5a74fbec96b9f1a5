"""Makes an archive of the classes that a broker of each release loads. Java maps it into memory, in place of parsing
and checking thousands of classes in each of the brokers and tools that tests start (see `java_programs`).

`python -m tests.kafka.shared_classes` makes those that are absent. Without them all works, but starts slowly.
"""

import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jobs.spark.cache_folder import build_once
from jobs.spark.jars import jar_folder
from tests.kafka.broker import SMALL_MACHINE, START_SECONDS, STOP_SECONDS, Broker, free_ports
from tests.kafka.java_programs import archive_of, expanded, java_command
from tests.kafka.releases import RELEASES, Release


def archived(release: Release) -> Path:
    """Its archive is absent if this Java has none of its own to add to."""
    classpath = [jar_folder(jar_set) for jar_set in release.jar_sets]
    archive = archive_of(expanded(classpath))

    def build(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            broker = Broker(release, Path(scratch), *free_ports(2))
            broker.format()
            options = [*SMALL_MACHINE, *broker.scratch_options, f"-XX:ArchiveClassesAtExit={folder / archive.name}"]
            command = java_command("kafka.Kafka", classpath, [str(broker.write_properties({}))], options)
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                wait_until_serving(process, broker)
                process.terminate()
                process.wait(STOP_SECONDS)

    build_once(archive.parent, build)
    return archive


def wait_until_serving(process: "subprocess.Popen[bytes]", broker: Broker) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", broker.port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


def main() -> None:
    for release in RELEASES.values():
        sys.stdout.write(f"{archived(release)}\n")


if __name__ == "__main__":
    main()
