"""Burrow's storage, commit by commit: the ring of each partition, and which commits enter it.

`burrow_windows` gives the same result for a whole log at once, if commits arrive in log order."""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from schemas.words.lag import BurrowRule, LagVerdict
from udfs.rules.verdicts.burrow_evaluation import (
    NO_END,
    UNKNOWN_LAG,
    VERDICT_OF,
    BurrowRules,
    Windows,
    group_rule,
    partition_rules,
)

TopicPartition = tuple[str, int]


@dataclass
class Entry:
    """`order`: its offset in __consumer_offsets. `lag`: None is unknown."""

    offset: int
    time_ms: int
    order: int
    lag: int | None


@dataclass
class Group:
    last_commit_ms: int = 0
    rings: dict[TopicPartition, list[Entry]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True)
class Status:
    """What Burrow answers about a group. `complete`: the share of its partitions whose ring is full."""

    verdict: LagVerdict
    rule: BurrowRule
    partitions: dict[TopicPartition, tuple[LagVerdict, BurrowRule]]
    total_lag: int
    complete: float | None


class BurrowFold:
    def __init__(self, rules: BurrowRules) -> None:
        self.rules = rules
        self.ends: dict[TopicPartition, deque[int]] = defaultdict(lambda: deque(maxlen=rules.intervals))
        self.groups: dict[str, Group] = {}
        # Commits that had no end, by group: with nothing else they make the verdict unknown.
        self.without_end: dict[str, set[TopicPartition]] = defaultdict(set)

    def poll(self, topic: str, partition: int, end_offset: int) -> None:
        self.ends[topic, partition].append(end_offset)

    def commit(
        self, group_id: str, topic_partition: TopicPartition, offset: int, time_ms: int, order: int, now_s: int
    ) -> None:
        if time_ms < self.rules.oldest_ms(now_s) or not self.rules.admit(group_id):
            return
        if not (ends := self.ends.get(topic_partition)):
            self.without_end[group_id].add(topic_partition)
            return
        group = self.groups.setdefault(group_id, Group())
        ring = group.rings[topic_partition]
        place = bisect_left(ring, order, key=lambda entry: entry.order)
        is_full = len(ring) == self.rules.intervals
        if (is_full and place == 0) or (place < len(ring) and ring[place].order == order):
            return
        is_newest = place == len(ring)
        lag = max(0, ends[-1] - offset) if is_newest else None
        self.enter(ring, place, Entry(offset, time_ms, order, lag))
        if is_newest:
            group.last_commit_ms = time_ms

    def enter(self, ring: list[Entry], place: int, entry: Entry) -> None:
        """Over the entry before it when that is too young, else at its place; a full ring loses its oldest."""
        if place and entry.time_ms - ring[place - 1].time_ms < self.rules.min_distance_s * 1000:
            # The time stays: else a client that commits faster than this would never fill the ring.
            ring[place - 1] = Entry(entry.offset, ring[place - 1].time_ms, entry.order, entry.lag)
            return
        ring.insert(place, entry)
        del ring[: max(0, len(ring) - self.rules.intervals)]

    def delete_group(self, group_id: str) -> None:
        """A tombstone of the group's metadata. Tombstones of offsets are ignored."""
        self.groups.pop(group_id, None)
        self.without_end.pop(group_id, None)

    def windows(self, group_id: str, topic_partitions: Sequence[TopicPartition]) -> Windows:
        rings = self.groups[group_id].rings if group_id in self.groups else {}
        entries = [rings.get(each, []) for each in topic_partitions]
        width = self.rules.intervals
        return Windows(
            align_right([[entry.offset for entry in ring] for ring in entries], width, 0),
            align_right([[entry.time_ms for entry in ring] for ring in entries], width, 0),
            align_right([[lag_number(entry.lag) for entry in ring] for ring in entries], width, UNKNOWN_LAG),
            np.array([len(ring) for ring in entries], np.int64),
            align_right([list(self.ends.get(each, ())) for each in topic_partitions], width, NO_END),
            np.array([each in self.without_end.get(group_id, ()) for each in topic_partitions], np.bool_),
        )

    def status(self, group_id: str, now_s: int) -> Status:
        """Asking about a group that has not committed for too long removes it."""
        group = self.groups.get(group_id)
        if group is not None and group.last_commit_ms < self.rules.oldest_ms(now_s):
            del self.groups[group_id]
            group = None
        known = () if group is None else group.rings
        topic_partitions = sorted({*known, *self.without_end.get(group_id, ())})
        windows = self.windows(group_id, topic_partitions)
        decided = list(partition_rules(windows, self.rules, now_s))
        verdicts = [VERDICT_OF[rule] for rule in decided]
        verdict, rule = group_rule(verdicts, is_known=group is not None)
        return Status(
            verdict,
            rule,
            dict(zip(topic_partitions, zip(verdicts, decided, strict=True), strict=True)),
            int(windows.current_lags().sum()),
            float((windows.sizes == windows.intervals).sum() / len(known)) if known else None,
        )


def lag_number(lag: int | None) -> int:
    return UNKNOWN_LAG if lag is None else lag


def align_right(lists: list[list[int]], width: int, filler: int) -> np.ndarray:
    """A row for each list, its last value in the last column."""
    rows = [[filler] * (width - len(values)) + values for values in lists]
    return np.array(rows, np.int64).reshape(len(lists), width)
