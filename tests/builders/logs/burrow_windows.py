"""Logs of raw commits from windows of Burrow: each is a group with a topic of its own, all asked about at once."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schemas.words.records import OFFSETS_TOPIC
from tests.builders.generated.topics import KeyValue, offsets_partition, written
from tests.make.log import T0, Kept, LoggedBatch, write
from tests.oracles.lag.burrow_vectors import Entry

NUM_OFFSETS_PARTITIONS = 1
# Burrow's clock has whole seconds: what comes within the second that it asks in has come.
NOW_MS = T0 + 1_000_000
ASKED_MS = NOW_MS + 900
POLLED_MS = NOW_MS + 500
# As many ends as Burrow keeps by default.
NUM_POLLS = 10


@dataclass
class BurrowLog:
    """`ends`: by time and topic what a snapshot says."""

    records: list[tuple[int, KeyValue]] = field(default_factory=list)
    ends: dict[int, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))

    def window(self, name: str, entries: Sequence[Entry], polls: Sequence[int], now: int) -> None:
        """Times of entries in milliseconds, `now` in seconds. The lag of an entry is by a snapshot just before it."""
        for number, (offset, time, lag) in enumerate(entries):
            assert lag is not None
            at = NOW_MS - now * 1000 + time
            # A record's own time decides which snapshot came before it, the time in its value is what Burrow goes by.
            came = at + 2 * number
            self.ends[came - 1][name] = offset + lag
            self.commit(name, offset, at, came)
        for poll in range(NUM_POLLS):
            self.ends[POLLED_MS + poll][name] = polls[poll * len(polls) // NUM_POLLS]

    def commit(self, name: str, offset: int | None, at: int, came: int) -> None:
        """None: it is deleted."""
        value = {"offset": offset, "leader_epoch": -1, "metadata": "", "commit_timestamp": at}
        key = {"group": name, "topic": name, "partition": 0}
        self.records.append((came, written(1, key, None if offset is None else value, 3)))

    def write(self, folder: Path) -> Path:
        """Returns the file of snapshots."""
        in_order = sorted(self.records, key=lambda record: record[0])
        kept = [Kept(place, time, *pair) for place, (time, pair) in enumerate(in_order)]
        write(folder, offsets_partition("any", NUM_OFFSETS_PARTITIONS),
              [LoggedBatch(each.offset, each.offset, (each,)) for each in kept])  # fmt: skip
        path = folder.with_suffix(".jsonl")
        path.write_text("".join(snapshot(at, self.ends[at]) for at in sorted(self.ends)))
        return path


def snapshot(at: int, ends: Mapping[str, int]) -> str:
    topics = [{"topic": name, "partitions": [{"partition": 0, "log_end_offset": end}]}
              for name, end in {**ends, OFFSETS_TOPIC: 0}.items()]  # fmt: skip
    return json.dumps({"captured_at": at, "topics": topics}) + "\n"
