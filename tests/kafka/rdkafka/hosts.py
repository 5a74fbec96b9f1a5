"""A process with many members of confluent-kafka, which is librdkafka, by order of JSON lines on its standard input.

python -m tests.kafka.rdkafka.hosts BOOTSTRAP
"""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import confluent_kafka

ROOT: Final = Path(__file__).parents[3]
EVERY_SECONDS: Final = 0.05
SETTINGS: Final = {
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "heartbeat.interval.ms": 300,
    "session.timeout.ms": 3_000,
    # Nothing is written to the topics: it is members that count.
    "fetch.wait.max.ms": 5_000,
    "log_level": 2,
}


class Host:
    """Its members end with it, and say no goodbye. It may end by itself: some inputs fail an assertion of librdkafka's
    `cooperative-sticky`. Orders to it then come to nothing."""

    def __init__(self, bootstrap: str, said: Path) -> None:
        with said.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.kafka.rdkafka.hosts", bootstrap],
                stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, text=True, cwd=ROOT,
            )  # fmt: skip
        self._lock = threading.Lock()

    def order(self, word: str, member: str, **more: Any) -> None:
        assert self._process.stdin is not None
        with self._lock, suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"order": word, "member": member, **more}) + "\n")
            self._process.stdin.flush()

    @property
    def has_failed(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()


def joined(bootstrap: str, order: dict[str, Any]) -> confluent_kafka.Consumer:
    consumer = confluent_kafka.Consumer(SETTINGS | {"bootstrap.servers": bootstrap} | order["settings"])
    consumer.subscribe(order["topics"])
    return consumer


def poll_all(consumers: dict[str, confluent_kafka.Consumer], lock: threading.Lock) -> None:
    while True:
        with lock:
            for consumer in consumers.values():
                consumer.poll(0)
        time.sleep(EVERY_SECONDS)


def main(bootstrap: str) -> None:
    consumers: dict[str, confluent_kafka.Consumer] = {}
    lock = threading.Lock()
    threading.Thread(target=poll_all, args=(consumers, lock), daemon=True).start()
    for line in sys.stdin:
        order = json.loads(line)
        with lock:
            if order["order"] == "join":
                consumers[order["member"]] = joined(bootstrap, order)
            elif order["order"] == "subscribe":
                consumers[order["member"]].subscribe(order["topics"])
            else:
                consumer = consumers.pop(order["member"])
                threading.Thread(target=consumer.close, daemon=True).start()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
