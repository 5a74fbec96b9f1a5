"""Adds up the lag of each group and topic by day and by minute while points are made. Percentiles need all points of a
day, and readers would have to sort them each time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from udfs.arrays.nullable import NONE, Numbers, Positions, every, first_of, integers, times
from udfs.arrays.texts import texts_of_codes
from udfs.lag.point_columns import BITS, CERTAINTY, GROUP_TYPES, METHODS, PointColumns, Subjects, point_columns

MINUTE, DAY = 60_000_000, 86_400_000_000
# About this many points are added up at once. Fewer need more calls; more do not fit into the processor's cache.
MOST_POINTS = 262_144
PERCENTS = (50, 95, 99)
MOST = int(np.iinfo(np.int64).max)


class Sums(NamedTuple):
    """Columns of both tables without `cluster` and `is_provisional`."""

    offsets_partition: int
    days: pa.Table
    minutes: pa.Table


@dataclass
class LagSums:
    """Takes points in pieces, by group and topic: first those that may still change, then the settled ones.
    `settled_to`: where the settled ones end; None: all may change."""

    offsets_partition: int
    settled_to: int | None
    subjects: Subjects = field(default_factory=Subjects)
    # Points of the newest group and topic, for which more may come.
    waiting: list[PointColumns] = field(default_factory=list)
    # Open points of a day that also has settled points, which come later.
    kept: list[PointColumns] = field(default_factory=list)

    def take(self, rows: pa.Table) -> Iterator[Sums]:
        points = point_columns(rows, self.subjects, self.settled_to)
        if self.waiting and self.waiting[-1].is_provisional[0] != points.is_provisional[0]:
            yield from self.add(self.all_waiting())
        self.waiting.append(points)
        is_one = self.waiting[0].subject[0] >> BITS == points.subject[-1] >> BITS
        if sum(map(len, self.waiting)) >= MOST_POINTS and not is_one:
            points_so_far = self.all_waiting()
            begun = int(np.flatnonzero(first_of(points_so_far.subject >> BITS))[-1])
            self.waiting = [points_so_far.take(slice(begun, None))]
            yield from self.add(points_so_far.take(slice(begun)))

    def remaining(self) -> Iterator[Sums]:
        if self.waiting:
            yield from self.add(self.all_waiting())
        if self.kept:
            yield from self.sum_points(PointColumns.together(self.kept))

    def all_waiting(self) -> PointColumns:
        points, self.waiting = PointColumns.together(self.waiting), []
        return points

    def add(self, points: PointColumns) -> Iterator[Sums]:
        if self.settled_to is None:
            return self.sum_points(points)
        is_provisional = bool(points.is_provisional[0])
        return self.sum_points(
            self.kept_apart(points, self.settled_to // DAY) if is_provisional else self.with_kept(points)
        )

    def sum_points(self, points: PointColumns) -> Iterator[Sums]:
        if len(points):
            yield sums_of(points, self.subjects, self.offsets_partition)

    def kept_apart(self, points: PointColumns, torn_day: int) -> PointColumns:
        is_torn = points.time // DAY == torn_day
        self.kept.append(points.take(is_torn))
        return points.take(~is_torn)

    def with_kept(self, points: PointColumns) -> PointColumns:
        if not self.kept:
            return points
        kept = PointColumns.together(self.kept)
        is_due = np.isin(kept.subject, points.subject[first_of(points.subject)])
        self.kept = [kept.take(~is_due)]
        return PointColumns.together([points, kept.take(is_due)])


@dataclass(frozen=True)
class Cells:
    """Points sorted by subject and then by time. `starts`: where each cell begins; `subject` and `number`: which
    subject and which day or minute it is."""

    starts: Positions
    subject: Numbers
    number: Numbers

    @staticmethod
    def of(subject: Numbers, number: Numbers) -> "Cells":
        is_first = first_of(subject) | first_of(number)
        starts = np.flatnonzero(is_first)
        return Cells(starts, subject[starts], number[starts])


def sums_of(points: PointColumns, subjects: Subjects, offsets_partition: int) -> Sums:
    """The sums of all points that some subjects have on some days."""
    points = points.take(by_minute(points))
    minutes = Cells.of(points.subject, points.time // MINUTE)
    days = Cells.of(points.subject, points.time // DAY)
    return Sums(
        offsets_partition,
        pa.table(
            {
                "day_time": times(days.number * DAY),
                **subjects.columns(days.subject),
                **shared_columns(points, days, offsets_partition),
                **minute_counts(points, minutes, days),
                **percentiles("lag", points.lag, days),
                **percentiles("time_lag_ms", points.time_lag, days),
                "time_lag_method": only_method(points, days),
            }
        ),
        pa.table(
            {
                "minute_time": times(minutes.number * MINUTE),
                "day_time": times(minutes.number * MINUTE // DAY * DAY),
                **subjects.columns(minutes.subject),
                **shared_columns(points, minutes, offsets_partition),
                **lateness(points, minutes),
            }
        ),
    )


def by_minute(points: PointColumns) -> Positions:
    """The order by subject and minute, by one sort of numbers that are nearly sorted."""
    starts = np.flatnonzero(first_of(points.subject))
    _, places = np.unique(points.subject[starts], return_inverse=True)
    minute = points.time // MINUTE
    minute -= minute.min()
    return np.argsort(np.repeat(places, lengths(starts, len(minute))) * (minute.max() + 1) + minute, kind="stable")


def lengths(starts: Positions, size: int) -> Numbers:
    return np.diff(starts, append=size).astype(np.int64)


def shared_columns(points: PointColumns, cells: Cells, offsets_partition: int) -> dict[str, pa.Array]:
    starts = cells.starts
    return {
        "group_type": texts_of_codes(np.maximum.reduceat(points.group_type, starts).astype(np.int64), GROUP_TYPES),
        "num_points": pa.array(lengths(starts, len(points))),
        "evidence_partition": every(offsets_partition, pa.int32(), len(starts)),
        "evidence_first_offset": pa.array(np.minimum.reduceat(points.first_offset, starts)),
        "evidence_last_offset": pa.array(np.maximum.reduceat(points.last_offset, starts)),
        "confidence": texts_of_codes(np.maximum.reduceat(points.confidence, starts).astype(np.int64), CERTAINTY),
    }


def minute_counts(points: PointColumns, minutes: Cells, days: Cells) -> dict[str, pa.Array]:
    """Counts minutes of each day. Each minute counts once, even if it has several partitions and snapshots."""
    first = np.searchsorted(minutes.starts, days.starts)
    is_unknown = np.minimum.reduceat(points.lag, minutes.starts) == NONE
    is_known = np.maximum.reduceat(points.time_lag, minutes.starts) != NONE
    return {
        "num_minutes": pa.array(lengths(first, len(minutes.starts))),
        "num_minutes_unknown": pa.array(np.add.reduceat(is_unknown, first, dtype=np.int64)),
        "num_minutes_known": pa.array(np.add.reduceat(is_known, first, dtype=np.int64)),
    }


def percentiles(name: str, values: Numbers, cells: Cells) -> dict[str, pa.Array]:
    """Nearest-rank percentiles and the maximum of the known values."""
    is_known = values != NONE
    number = np.add.reduceat(is_known, cells.starts, dtype=np.int64)
    ordered = sorted_within(np.repeat(np.arange(len(number)), number), values[is_known])
    end = np.cumsum(number)
    ranks = {f"p{percent}": (percent * number + 99) // 100 for percent in PERCENTS} | {"max": number}
    return {
        f"{name}_{each}": integers(pick_or_none(ordered, end - number + rank - 1, number))
        for each, rank in ranks.items()
    }


def pick_or_none(values: Numbers, places: Numbers, number: Numbers) -> Numbers:
    """NONE for cells without values."""
    return np.append(values, NONE)[np.where(number > 0, places, len(values))]


def sorted_within(cell: Numbers, values: Numbers) -> Numbers:
    """Sorts the values within each cell; cells keep their order. Cell and value become one number if it fits, which
    sorts many times faster."""
    if not len(values):
        return values
    least = int(values.min())
    span = int(values.max()) - least + 1
    if (int(cell[-1]) + 1) * span > MOST:
        return values[np.lexsort((values, cell))]
    base = cell * span - least
    keys = base + values
    keys.sort()
    return keys - base


def only_method(points: PointColumns, cells: Cells) -> pa.DictionaryArray:
    """The method, if all known values of a cell have the same; else NULL."""
    is_known = points.time_lag != NONE
    least = np.minimum.reduceat(np.where(is_known, points.method, len(METHODS)), cells.starts)
    most = np.maximum.reduceat(np.where(is_known, points.method, -1), cells.starts)
    return texts_of_codes(np.where(least == most, most, -1).astype(np.int64), METHODS)


def lateness(points: PointColumns, cells: Cells) -> dict[str, pa.Array]:
    """Of settled points the largest time lag, of open points the smallest: the first shows what exceeds an objective,
    the second whether anything is certainly within it."""
    is_provisional = points.is_provisional
    settled = np.maximum.reduceat(np.where(is_provisional, NONE, points.time_lag), cells.starts)
    known = np.where(is_provisional & (points.time_lag != NONE), points.time_lag, MOST)
    least = np.minimum.reduceat(known, cells.starts)
    return {
        "time_lag_ms_max": integers(settled),
        "open_time_lag_ms_min": integers(np.where(least == MOST, NONE, least)),
    }
