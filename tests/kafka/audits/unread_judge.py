"""Judges what a warehouse says of unread time and of who reads, by what the readers themselves wrote down.

Bounds of a gap are the sums of the bounds of its rows in `partition_moves`: those of its partition that moved while it
lasted, or so shortly before or after that no other gap of the partition is nearer."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any, Final

import numpy as np

Row = dict[str, Any]
# The clock of a diary, and the time that a callback takes to write its line.
CLOCK_MS: Final = 50
# By so much may the record that changes an owner lie before or after what the clients see of it.
NEAR_MS: Final = 1_000
# What a client needs to get an assignment that was written: the answer of SyncGroup, or that of a heartbeat.
CLASSIC_DELIVERY_MS: Final = 500
DEFAULT_HEARTBEAT_MS: Final = 5_000
HEARTBEAT: Final = "group.consumer.heartbeat.interval.ms"
WIDE: Final = 10
MOST_MORE_MS: Final = 1_000
SHARE: Final = "share"
AT_MOST_OUTSIDE: Final = 1 / 200


@dataclass(frozen=True)
class Judged:
    """`low` and `high` are NULL without bounds."""

    gap: Row
    low: int | None
    high: int | None
    bases: tuple[str, ...]
    delivery_ms: int

    @property
    def truth_ms(self) -> int:
        return int(self.gap["to_ms"] - self.gap["from_ms"])

    @property
    def width_ms(self) -> int | None:
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def is_below(self) -> bool:
        """Somebody could read for a part of what the lower bound says that nobody could."""
        return self.low is not None and self.low > self.truth_ms + CLOCK_MS

    @property
    def is_above(self) -> bool:
        """Nobody could read for longer than the upper bound, and not since the machine was late."""
        return self.above_ms > self.gap["stall_ms"]

    @property
    def is_late(self) -> bool:
        """It would be above its bounds, but the machine was late."""
        return 0 < self.above_ms <= self.gap["stall_ms"]

    @property
    def above_ms(self) -> int:
        least_ms = self.gap.get("least_ms", self.truth_ms)
        return 0 if self.high is None else max(0, least_ms - CLOCK_MS - self.high)

    @property
    def is_outside(self) -> bool:
        return self.is_below or self.is_above

    @property
    def is_too_wide(self) -> bool:
        width = self.width_ms
        return (
            self.gap["commits"]
            and width is not None
            and width > WIDE * self.truth_ms
            and width > self.delivery_ms + MOST_MORE_MS
        )

    @property
    def is_unknown(self) -> bool:
        """As it should be: nothing in the log bounds it. A member that joins again with nothing new has its partitions
        back at once, and no record says so."""
        is_unseen = self.gap["way"] == "returned" and self.truth_ms <= CLOCK_MS + self.gap["stall_ms"]
        return self.width_ms is None and (is_unseen or self.gap["group_kind"] == SHARE)

    @property
    def is_missing(self) -> bool:
        return self.is_too_wide or (self.width_ms is None and not self.is_unknown)

    @property
    def kind(self) -> str:
        """Of a group that never commits the log has no more than its assignments: bounds must hold, and may be wide. Of
        one that commits after its readers stopped, they cannot hold."""
        if self.gap["commits_late"]:
            return f"{self.gap['group_kind']}, late commits"
        return f"{self.gap['group_kind']}{'' if self.gap['commits'] else ', no commits'}"

    def __str__(self) -> str:
        bounds = "no bounds" if self.low is None else f"{self.low} to {self.high} ms"
        return f"{bounds}, true {self.truth_ms} ms: {self.gap} {'; '.join(self.bases)}"


def judged(gaps: Sequence[Row], moves: Iterable[Row], heartbeat: int | None) -> list[Judged]:
    """`heartbeat`: the interval in milliseconds that snapshots say; NULL: they say nothing."""
    rows = rows_of_gaps(gaps, moves)
    result = []
    for number, gap in enumerate(gaps):
        bounds = rows[number]
        is_classic = gap["group_kind"] == "classic"
        result.append(
            Judged(
                gap,
                sum(row["unread_low_ms"] for row in bounds) if bounds else None,
                sum(row["unread_high_ms"] for row in bounds) if bounds else None,
                tuple(str(row["unread_basis"]) for row in bounds),
                CLASSIC_DELIVERY_MS if is_classic else heartbeat or DEFAULT_HEARTBEAT_MS,
            )
        )
    return result


def heartbeat_ms(snapshots: Path) -> int | None:
    """Of consumer groups, by the newest snapshot: no setting of the broker changes in a capture."""
    settings = json.loads(snapshots.read_text(encoding="utf-8").splitlines()[-1])["settings"]
    return int(settings[HEARTBEAT]) if HEARTBEAT in settings else None


def rows_of_gaps(gaps: Sequence[Row], moves: Iterable[Row]) -> dict[int, list[Row]]:
    """By the gap's number: each row belongs to the nearest gap of its partition, if one is near."""
    of_partition = defaultdict(list)
    for number, gap in enumerate(gaps):
        of_partition[gap["group"], gap["topic"], gap["partition"]].append(number)
    result: dict[int, list[Row]] = defaultdict(list)
    for row in moves:
        if row["unread_high_ms"] is None or row["move_time"] is None or row["role"] not in (None, "active"):
            continue
        ms = ms_of(row["move_time"])
        numbers = of_partition[row["group_id"], row["topic"], row["partition"]]
        nearest = min(numbers, key=lambda number: distance(gaps[number], ms), default=None)
        if nearest is not None and distance(gaps[nearest], ms)[0] <= NEAR_MS:
            result[nearest].append(row)
    return result


def distance(gap: Row, ms: float) -> tuple[float, float]:
    """Of a moment to a gap; of two that are equally near, the one that ends nearest is meant."""
    outside = max(gap["from_ms"] - ms, ms - gap["to_ms"], 0)
    return outside, abs(gap["to_ms"] - ms)


def ms_of(time: Any) -> float:
    return float((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


# -- who reads


@dataclass(frozen=True)
class WhoReads:
    """At drawn instants: owners that cover them, of these the certain readers, and those that the truth contradicts."""

    num_owners: int
    # Of the owners that do hold the partition then.
    certain_share: float
    # Another client had it before `reader_certain_until_time`.
    not_the_reader: tuple[str, ...]
    # Of the owners that had given the partition up, those of groups whose commits are late left out, the ones whose
    # `reader_doubt_from_time` is later, or that have none.
    num_given_up: int
    not_in_doubt: tuple[str, ...]


def who_reads(held: Iterable[Row], intervals: Iterable[Row], instants: Sequence[int]) -> WhoReads | None:
    """None: the warehouse has no such columns."""
    of_partition = defaultdict(list)
    for row in held:
        of_partition[row["group"], row["topic"], row["partition"]].append(row)
    at = np.sort(np.asarray(instants, np.int64))
    num_owners = num_held = num_certain = num_given_up = 0
    wrong: list[str] = []
    late: list[str] = []
    for row in intervals:
        if "reader_certain_until_time" not in row:
            return None
        key = row["group_id"], row["topic"], row["partition"]
        if row["role"] not in (None, "active") or key not in of_partition:
            continue
        begin, end = ms_of(row["from_time"]), at[-1] + 1 if row["to_time"] is None else ms_of(row["to_time"])
        covered = at[(at >= begin) & (at < end)]
        # A thread of Kafka Streams has a client id of its own.
        client = (row["client_id"] or "").partition("-StreamThread-")[0]
        mine = [each for each in of_partition[key] if each["client"] == client]
        others = [each for each in of_partition[key] if each["client"] != client]
        certain_until, doubt_from = row["reader_certain_until_time"], row["reader_doubt_from_time"]
        is_certain = covered < (begin if certain_until is None else ms_of(certain_until))
        is_anothers = within(covered, others, CLOCK_MS)
        # What it does then may be late: its last commit, for one.
        late_ends = [each | {"to_ms": each["to_ms"] and each["to_ms"] + each["stall_ms"]} for each in mine]
        is_mine = within(covered, late_ends, -CLOCK_MS)
        # Who is away gave up a little before the record of it.
        given_up = covered[~is_mine & (covered > first_end(mine, begin - NEAR_MS * (row["phase"] == "held")))]
        if mine and mine[0]["commits_late"]:
            given_up = given_up[:0]
        is_late = given_up < (np.inf if doubt_from is None else ms_of(doubt_from))
        wrong += [described(row, instant) for instant in covered[is_certain & is_anothers]]
        late += [described(row, instant) for instant in given_up[is_late]]
        num_owners, num_held = num_owners + len(covered), num_held + int(is_mine.sum())
        num_certain += int((is_mine & is_certain).sum())
        num_given_up += len(given_up)
    return WhoReads(num_owners, num_certain / max(num_held, 1), tuple(wrong), num_given_up, tuple(late))


def within(at: Any, held: Iterable[Row], less_ms: int) -> Any:
    result = np.zeros(len(at), bool)
    for row in held:
        end = np.inf if row["to_ms"] is None else row["to_ms"]
        result |= (at >= row["from_ms"] + less_ms) & (at < end - less_ms)
    return result


def first_end(held: Iterable[Row], begin: float) -> float:
    """When a client first gave up what it has had since, or got after, the interval's begin."""
    return min((row["to_ms"] for row in held if row["to_ms"] is not None and row["to_ms"] >= begin), default=np.inf)


def described(row: Row, instant: int) -> str:
    return (
        f"{row['group_id']} {row['topic']}-{row['partition']} at {instant}: {row['client_id']} "
        f"from {row['from_time']}, certain until {row['reader_certain_until_time']}, doubt from "
        f"{row['reader_doubt_from_time']}, to {row['to_time']}"
    )


def drawn(truth: Row, number: int, generator: np.random.Generator) -> list[int]:
    """Instants from the first assignment to the last one."""
    begins = [row["from_ms"] for row in truth["held"]]
    return [int(each) for each in generator.integers(min(begins), max(begins), number)]
