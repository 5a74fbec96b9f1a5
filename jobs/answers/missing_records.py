"""Which records of the log are missing, so that the state of groups is unknown there."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from jobs.answers.history import History
from jobs.answers.table_reader import Condition, Row, equal
from jobs.output.failure import Failure, say, visible
from jobs.output.rows import time_text
from schemas.words.exit_codes import ExitCode
from schemas.words.history import OffsetEnd
from schemas.words.records import OFFSETS_TOPIC
from udfs.sentences.name_lists import list_names

# Limit of partitions without a known offset in a message; for more, only the number.
MOST_NAMED = 5


class Unseen(NamedTuple):
    """Between two known ranges of an offsets partition, or before the first. An open interval ended at `from_time`, so
    that time is included."""

    offsets_partition: int
    # The last record before it; -1: none.
    after_offset: int
    from_time: datetime | None
    to_time: datetime | None

    def holds(self, at: datetime) -> bool:
        has_begun = self.from_time is None or self.from_time <= at
        # Records of the oldest format have no time, so the beginning of such a range is unknown.
        return has_begun and self.to_time is not None and at < self.to_time

    def __str__(self) -> str:
        since = "" if self.from_time is None else f" after {time_text(self.from_time)}"
        until = "" if self.to_time is None else f"{' and' if since else ''} before {time_text(self.to_time)}"
        return f"records of {OFFSETS_TOPIC}-{self.offsets_partition}{since}{until} are missing from the warehouse"


def unseen_of(stretches: Sequence[Row]) -> list[Unseen]:
    """For one offsets partition. A log that begins at offset 0 has nothing before."""
    unseen: list[Unseen] = []
    before, since = -1, None
    for row in sorted(stretches, key=lambda row: row["first_offset"]):
        if row["first_offset"] > before + 1:
            unseen.append(Unseen(row["offsets_partition"], before, since, row["from_time"]))
        before = row["last_offset"]
        # Clocks may step back: no range ended before the largest time.
        since = max(filter(None, (since, row["to_time"])), default=None)
    return unseen


def check_seen_at(history: History, at: datetime) -> bool:
    """Whether all offsets partitions have records of that time. Prints those that have not; fails if none has."""
    if (gap := history.offsets_partitions.gap_in_lists()) is not None:
        say(gap)
    by_partition: dict[int, list[Row]] = defaultdict(list)
    for row in history.coverage():
        by_partition[row["offsets_partition"]].append(row)
    unseen = [each for some in by_partition.values() for each in unseen_of(some) if each.holds(at)]
    partitions = sorted({each.offsets_partition for each in unseen})
    if not partitions:
        return gap is None
    if len(partitions) == len(by_partition):
        again = min((each.to_time for each in unseen if each.to_time is not None), default=None)
        later = "" if again is None else f"; the next ones are of {time_text(again)}"
        raise Failure(ExitCode.USAGE, f"{time_text(at)}: records of that time are missing from the warehouse{later}")
    named = ", ".join(map(str, partitions))
    missing = f"records of partitions {named} at {time_text(at)} are missing from the warehouse"
    say(f"{OFFSETS_TOPIC}: {missing}, so the state of their groups is unknown")
    return False


def say_unseen_offsets(history: History, group: str, at: datetime) -> None:
    """For partitions with commits before such a range and none after it: they are missing from every answer."""
    columns = ["topic", "partition", "from_record_offset", "to_time", "ended_by"]
    is_before = Condition("from_time", "<=", at, or_null=True)
    rows = history.rows("offset_history", equal("group_id", group), is_before, columns=columns)
    newest = {
        (row["topic"], row["partition"]): row for row in sorted(rows, key=lambda row: int(row["from_record_offset"]))
    }
    unseen = sorted(place for place, row in newest.items() if is_cut(row, at))
    if unseen:
        named = list_names([f"{topic}-{partition}" for topic, partition in unseen], MOST_NAMED)
        line = "are unknown: records after the last known commits are missing, so later commits may be too"
        say(visible(f"group {group}: committed offsets of {named} at {time_text(at)} {line}"))


def is_cut(row: Row, at: datetime) -> bool:
    return row["ended_by"] == OffsetEnd.COVERAGE_HOLE and row["to_time"] is not None and row["to_time"] <= at
