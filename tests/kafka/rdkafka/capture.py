"""Logs of real brokers with groups whose members are librdkafka's, some beside Kafka's own, some beside members by hand
that claim anything. Made once, then read from the cache.

`python -m tests.kafka.rdkafka.capture [GROUPS [SEED]]` makes one and prints its folder.
"""

import json
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jobs.spark.cache_folder import build_once, cache_folder
from tests.kafka.broker import Broker
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.handovers.processes import PROGRAMS, STAGE, Process
from tests.kafka.java_programs import key_of
from tests.kafka.live_broker import KeptLog, copied_segments
from tests.kafka.rdkafka.lives import TOPICS, Life, RealLife, Stage, StrangeLife
from tests.kafka.releases import KAFKA_4_3

HERE: Final = Path(__file__).parent
MADE_BY: Final = (*PROGRAMS, *sorted(HERE.glob("*.py")), HERE.parent / "broker.py")
# At once: more would make members time out on a small machine.
AT_ONCE: Final = 30
EVENTS: Final = 4
# How many groups, and the seed.
USUAL: Final = (20, 3)
LONG: Final = (520, 11)


@dataclass(frozen=True)
class Capture(KeptLog):
    @cached_property
    def said(self) -> dict[str, Any]:
        """How often the process of a leader ended by itself."""
        found: dict[str, Any] = json.loads((self.folder / "said.json").read_text(encoding="utf-8"))
        return found


def capture_of(num_groups: int, seed: int) -> Capture:
    key = key_of((KAFKA_4_3, num_groups, seed), MADE_BY)
    return Capture(build_once(cache_folder() / "rdkafka" / key, lambda empty: make(empty, num_groups, seed)))


def usual_capture() -> Capture:
    return capture_of(*USUAL)


def make(folder: Path, num_groups: int, seed: int) -> None:
    def on(broker: Broker) -> None:
        java = Process(broker, folder, "java", STAGE)
        stage = Stage(broker.bootstrap, folder, java)
        stage.shared_host = stage.host()
        try:
            for name, count in TOPICS.items():
                java.order("topic", topic=name, partitions=count)
            java.order("snapshot")
            num_failed = play(stage, num_groups, seed)
            java.order("snapshot")
        except Exception as failure:
            raise PlayError(broker, repr(failure)) from failure
        finally:
            for process in (java, stage.shared_host):
                process.kill()
        broker.stop()
        copied_segments(broker, folder / "log")
        (folder / "said.json").write_text(json.dumps({"failed_leaders": num_failed}), encoding="utf-8")

    on_fresh_broker(KAFKA_4_3, folder, {}, on)


def play(stage: Stage, num_groups: int, seed: int) -> int:
    num_failed = 0
    for first in range(0, num_groups, AT_ONCE):
        lives: list[Life] = [
            (StrangeLife if at % 3 == 2 else RealLife)(f"group-{at}", seed * 10_000 + at, stage)
            for at in range(first, min(first + AT_ONCE, num_groups))
        ]
        threads = [threading.Thread(target=life.live, args=(EVENTS,)) for life in lives]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        num_failed += sum(life.num_failed for life in lives)
    return num_failed


def main(numbers: Sequence[str]) -> int:
    num_groups, seed, *_ = (*map(int, numbers), *USUAL[len(numbers) :])
    sys.stdout.write(f"{capture_of(num_groups, seed).folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
