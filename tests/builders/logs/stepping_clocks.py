"""A log of groups that do as they should under a broker's clock that steps, and snapshots of the topic's ends.

All times are true seconds: `skew` says by how much the clock is wrong then."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from schemas.words.records import OFFSETS_TOPIC
from tests.builders.generated.topics import KeyValue, offsets_partition, written
from tests.builders.logs.by_hand import generation
from tests.make.log import T0, Kept, LoggedBatch, write

HOUR: Final = 3_600
NUM_OFFSETS_PARTITIONS: Final = 50
COMMIT_EVERY: Final = 10
SNAPSHOT_EVERY: Final = 60
UNTIL: Final = 1_800
STEPS: Final = (600, 1_200)
SECONDS: Final = range(5, UNTIL, COMMIT_EVERY)
MEMBERS: Final = {"m-1": [0], "m-2": [1]}
# Messages a second in each partition, and how many of them are not yet committed.
RATE, BEHIND = 5, 20
Skew = Callable[[int], int]


def wrong_between(seconds: int) -> Skew:
    """Right at first and in the end, wrong by so much from one step to the other."""
    return lambda second: seconds if STEPS[0] <= second < STEPS[1] else 0


def wrong_from(seconds: int) -> Skew:
    return lambda second: seconds if second >= STEPS[0] else 0


@dataclass(frozen=True)
class Stepping:
    """`of_broker`: the clock of records; `of_captures`: that of snapshots, another machine's or the same."""

    of_broker: Skew
    of_captures: Skew

    def log(self) -> dict[str, list[LoggedBatch]]:
        """By group: each has an offsets partition of its own."""
        steady = [(0, self.joined("steady")), *((second, self.commits("steady", second)) for second in SECONDS)]
        # Without members, as a job that commits by itself.
        return {"steady": self.batches(steady),
                "alone": self.batches([(second, self.commits("alone", second)) for second in SECONDS])}  # fmt: skip

    def commit_times(self) -> list[int]:
        """In microseconds, of the records of a group, of each time one; in the order of its log."""
        return [self.ms(self.of_broker, second) * 1000 for second in SECONDS]

    def batches(self, events: Sequence[tuple[int, Sequence[KeyValue]]]) -> list[LoggedBatch]:
        result: list[LoggedBatch] = []
        offset = 0
        for second, pairs in events:
            time = self.ms(self.of_broker, second)
            kept = tuple(Kept(offset + place, time, *pair) for place, pair in enumerate(pairs))
            result.append(LoggedBatch(offset, kept[-1].offset, kept))
            offset += len(kept)
        return result

    def joined(self, group: str) -> Sequence[KeyValue]:
        return generation(group, 1, 0, MEMBERS)[1]

    def commits(self, group: str, second: int) -> list[KeyValue]:
        time = self.ms(self.of_broker, second)
        return [
            written(
                1, {"group": group, "topic": "t", "partition": partition},
                {"offset": end(second) - BEHIND, "leader_epoch": -1, "metadata": "", "commit_timestamp": time}, 3,
            )
            for partition in (0, 1)
        ]  # fmt: skip

    def snapshots(self) -> list[dict[str, Any]]:
        return [self.snapshot(second) for second in range(0, UNTIL + 1, SNAPSHOT_EVERY)]

    def snapshot(self, second: int) -> dict[str, Any]:
        ends = {"t": [end(second)] * 2, OFFSETS_TOPIC: [0] * NUM_OFFSETS_PARTITIONS}
        topics = [
            {"topic": name, "topic_id": f"{name[:1]:A<22}", "partitions": [
                {"partition": place, "log_start_offset": 0, "log_end_offset": each, "racks": []}
                for place, each in enumerate(result)]}
            for name, result in ends.items()
        ]  # fmt: skip
        return {"captured_at": self.ms(self.of_captures, second), "topics": topics}

    def ms(self, skew: Skew, second: int) -> int:
        return T0 + (second + skew(second)) * 1000


def end(second: int) -> int:
    return 100 + RATE * second


def write_log(folder: Path, log: Mapping[str, Sequence[LoggedBatch]]) -> str:
    """The source to ingest."""
    for group, batches in log.items():
        if batches:
            write(folder, offsets_partition(group, NUM_OFFSETS_PARTITIONS), list(batches))
    return f"segments:{folder}"


def write_snapshots(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path
