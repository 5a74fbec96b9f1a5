"""The process of members that another language's library plays: it does what JSON lines on its standard input say, as
`Obeying.java` does, and writes the same diary.

python -m tests.kafka.handovers.obeying kafka-python|confluent BOOTSTRAP DIARY
"""

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

POLL_SECONDS = 0.1
Order = dict[str, Any]
Partition = tuple[str, int]


class Diary:
    """A line each: `ms group client word topic:partition[:offset]…`, in the file before the reader goes on."""

    def __init__(self, path: Path) -> None:
        self._lines = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, group: str, client: str, word: str, partitions: Iterable[tuple[Any, ...]] = ()) -> None:
        words = (":".join(map(str, each)) for each in sorted(partitions))
        with self._lock:
            self._lines.write(" ".join((str(int(time.time() * 1000)), group, client, word, *words)) + "\n")
            self._lines.flush()


class Consumer(Protocol):
    """What a library's consumer is asked for; its callbacks write to the diary by themselves."""

    def poll(self) -> dict[Partition, int]:
        """The last offset of each partition that came."""

    def assignment(self) -> list[Partition]: ...

    def close(self) -> None: ...


class Reader:
    """A member on a thread of its own that reads without a pause."""

    def __init__(self, consumer: Callable[["Reader"], Consumer], diary: Diary, order: Order) -> None:
        self.order = order
        self._diary = diary
        self._new_consumer = consumer
        self._is_closing = threading.Event()
        self._stand_ms = 0
        self._ended: Future[None] = Future()
        threading.Thread(target=self._run_to_the_end, daemon=True).start()

    def write(self, word: str, partitions: Iterable[tuple[Any, ...]] = ()) -> None:
        self._diary.write(self.order["group"], self.order["client"], word, partitions)

    def _run_to_the_end(self) -> None:
        try:
            self._run()
            self._ended.set_result(None)
        except BaseException as failure:
            self.write("failed")
            traceback.print_exc()
            self._ended.set_exception(failure)

    def _run(self) -> None:
        consumer = self._new_consumer(self)
        self.write("started")
        while not self._is_closing.is_set():
            if self._stand_ms:
                stand_ms, self._stand_ms = self._stand_ms, 0
                self.write("standing")
                time.sleep(stand_ms / 1000)
                self.write("woke")
            last = consumer.poll()
            self.write("read" if last else "polled", [(*at, offset) for at, offset in last.items()])
        self.write("closing", consumer.assignment())
        consumer.close()
        self.write("closed")

    def revoked(self, partitions: list[Partition]) -> None:
        self.write("revoked", partitions)
        if partitions:
            time.sleep(self.order["slow_ms"] / 1000)

    def stand_still(self, ms: int) -> None:
        self._stand_ms = ms

    def close(self) -> None:
        self._is_closing.set()
        self._ended.result()


def obey(consumer: Callable[[Reader], Consumer], diary: Diary) -> None:
    readers: dict[str, Reader] = {}

    def follow(order: Order) -> None:
        client = order["client"]
        if order["order"] == "join":
            readers[client] = Reader(consumer, diary, order)
        elif order["order"] == "close":
            readers.pop(client).close()
        else:
            readers[client].stand_still(order["ms"])

    def answer(order: Order) -> None:
        try:
            follow(order)
            said = "done"
        except BaseException:
            traceback.print_exc()
            said = "failed"
        sys.stdout.write(f"{said} {order['number']}\n")
        sys.stdout.flush()

    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()


def main(library: str, bootstrap: str, diary: str) -> None:
    module = import_module(f"tests.kafka.handovers.{library.replace('-', '_')}_consumer")
    obey(lambda reader: module.Consumer(bootstrap, reader), Diary(Path(diary)))
    # Nobody says goodbye.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
