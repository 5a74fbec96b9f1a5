"""Groups alone, without tables: their records folded in one run, and in runs that end anywhere.

A log takes some milliseconds here, so that hundreds of thousands can be tried. What comes with the commits (simple
groups, answers of commits, transactions) is not in it: `memory_runs` has all of it.
"""

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from jobs.replaying.log.partition import GROUP_TABLES
from jobs.replaying.partition.group_pass import in_order
from schemas.tables import READING_ENDS
from tests.builders.groups.named_rows import named_rows
from tests.builders.logs.decoded_parts import batches_of
from tests.builders.logs.short_logs import ShortLog, short_log
from tests.make.log import ROOM, tables_of
from udfs.groups.fold import Fold
from udfs.groups.history.rows import RowsByTable
from udfs.groups.readers.records import Record
from udfs.groups.states.group import Context
from udfs.log.gaps import Gaps
from udfs.topics.partition_codes import TopicCodes

LOGS_AT_ONCE: Final = 200
MOVES: Final = "partition_moves"
GroupRecord = tuple[str, Record]
# Last offset before what was not seen, and the largest time up to there.
Hole = tuple[int, int | None]
Kept = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class GroupLog:
    """`ends` are last offsets of batches, behind any of which a run may end."""

    records: Sequence[GroupRecord]
    gaps: Gaps
    holes: Sequence[Hole]
    is_late: bool
    ends: Sequence[int]
    topics: TopicCodes

    def between(self, first: int, last: int) -> Iterator[tuple[list[GroupRecord], Hole | None]]:
        """Records behind `first` up to `last`, cut at holes; of one at its end a run does not know yet."""
        before = first
        for hole in [each for each in self.holes if first <= each[0] < last]:
            yield self.some(before, hole[0]), hole
            before = hole[0]
        yield self.some(before, last), None

    def some(self, first: int, last: int) -> list[GroupRecord]:
        offsets = [record.offset for _, record in self.records]
        return list(self.records[bisect_right(offsets, first) : bisect_right(offsets, last)])


@dataclass
class GroupRuns:
    log: GroupLog
    states: dict[str, str] = field(default_factory=dict)
    closed: Kept = field(default_factory=Counter)
    # By group, as the last run left them that met it.
    open: dict[str, Kept] = field(default_factory=dict)

    def run(self, first: int, last: int) -> None:
        log, still = self.log, RowsByTable()
        seen = [*([-1] if log.is_late else []), *(hole for hole, _ in log.holes if hole < last)]
        context = Context(log.topics, log.gaps, seen)
        fold = Fold(context, self.states)
        for records, hole in log.between(first, last):
            fold.take(records)
            if hole is not None:
                fold.hole(*hole)
        made = fold.finish(still)
        self.states |= made
        self.closed += plain_rows(context.rows)
        self.closed += Counter(("departure", *each) for each in context.departures)
        self.open |= {group: Counter() for group in made}
        for row, number in plain_rows(still).items():
            self.open[row[1]][row] += number

    @property
    def rows(self) -> Kept:
        return sum(self.open.values(), Counter(self.closed))


def differences(seeds: Sequence[int], **sizes: int) -> Iterator[tuple[int, list[int], list[Any], list[Any]]]:
    """Of each seed whose log does not agree: the ends of the runs, rows of one run alone, rows of several alone."""
    for start in range(0, len(seeds), LOGS_AT_ONCE):
        logs = [short_log(seed, **sizes) for seed in seeds[start : start + LOGS_AT_ONCE]]
        for short, log in zip(logs, group_logs(logs), strict=True):
            one = rows_of_runs(log, [])
            chance = random.Random(short.seed)
            for ends in (log.ends, chance.sample(log.ends, min(3, len(log.ends)))):
                several = rows_of_runs(log, sorted(ends))
                if several != one:
                    yield short.seed, sorted(ends), list((one - several).elements()), list((several - one).elements())


def rows_of_runs(log: GroupLog, ends: Sequence[int]) -> Kept:
    runs = GroupRuns(log)
    bounds = [-1, *ends, ROOM]
    for first, last in pairwise(bounds):
        runs.run(first, last)
    return runs.rows


def plain_rows(rows: RowsByTable) -> Kept:
    """A row that stands for several partitions is as many; a move has when its owner before stopped reading."""
    counts: Kept = Counter()
    for name, some in with_reading_ends(rows).items():
        for row in some:
            tp = row.get("tp")
            for each in tp if isinstance(tp, frozenset) else (tp,):
                counts[row_key(name, {**row, "tp": each})] += 1
    return counts


def with_reading_ends(rows: RowsByTable) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Rows of reading_ends belong to those of partition_moves, one by one."""
    by_table = {name: named_rows(rows, name) for name in list(rows.of)}
    ends = by_table.pop(READING_ENDS.name, [])
    moves = zip(by_table.get(MOVES, []), ends, strict=True)
    return by_table | {MOVES: [{**end, **move} for move, end in moves]}


def row_key(name: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The group stands behind the table's name."""
    return (name, row["group_id"], *((field, frozen(row[field])) for field in sorted(row)))


def frozen(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return frozenset(map(frozen, value))
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def group_logs(logs: Sequence[ShortLog]) -> list[GroupLog]:
    """Records of all logs by one call, since most of its cost does not depend on their number."""
    tables, topics = tables_of(list(map(batches_of, logs))), TopicCodes()
    records = in_order({name: rows for name, rows in tables.items() if name in GROUP_TABLES}, topics)
    offsets = np.array([record.offset for _, record in records])
    known = np.sort(np.concatenate([rows.column("record_offset").to_numpy() for rows in tables.values()]))
    times = times_by_offset(tables)
    result = []
    for number, log in enumerate(logs):
        low, high = np.searchsorted(offsets, [number * ROOM, (number + 1) * ROOM])
        own = [(group, moved(record, number * ROOM)) for group, record in records[low:high]]
        low, high = np.searchsorted(known, [number * ROOM, (number + 1) * ROOM])
        result.append(group_log(log, own, known[low:high] - number * ROOM, times, number * ROOM, topics))
    return result


def times_by_offset(tables: Mapping[str, pa.Table]) -> dict[int, int]:
    result: dict[int, int] = {}
    for rows in tables.values():
        times = rows.column("record_time").cast(pa.int64()).to_pylist()
        result.update(zip(rows.column("record_offset").to_pylist(), times, strict=True))
    return result


def moved(record: Record, by: int) -> Record:
    return record._replace(offset=record.offset - by, batch=record.batch - by)


def group_log(
    log: ShortLog, records: list[GroupRecord], known: np.ndarray, times: Mapping[int, int], by: int, topics: TopicCodes
) -> GroupLog:
    steps = np.diff(known, prepend=-1)
    places = np.flatnonzero(steps > 1)
    gaps = Gaps((known[places] - steps[places] + 1).tolist(), (known[places] - 1).tolist())
    parts = sorted(log.parts, key=lambda part: part.first)
    holes, time = [], None
    for part, following in pairwise(parts):
        inside = [times[offset + by] for offset in known[(known >= part.first) & (known <= part.last)].tolist()]
        time = max([*inside, *([] if time is None else [time])], default=None)
        if following.first > part.last + 1:
            holes.append((part.last, time))
    ends = [batch.last_offset for part in parts for batch in part.batches][:-1]
    return GroupLog(records, gaps, holes, parts[0].first > 0, ends, topics)
