"""Rows that measures make of histories: of one, or of the same one in ranges of keys."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from udfs.lag.key_ranges import ranges_of, rows_by_key
from udfs.lag.partition_history import RECORD_AND_TIME, PartitionHistory, Reach
from udfs.lag.point_tables import PointTables
from udfs.lag.points import asked_snapshots, points_at
from udfs.lag.rates.rates import Rates
from udfs.rules.findings.odd_commits import OddCommits, day_of
from udfs.rules.measure import Measure
from udfs.rules.offset_resets.choose_resets import Judge
from udfs.rules.offset_resets.find_resets import Resets
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.freshness import Objective
from udfs.rules.verdicts.group_verdicts import Verdicts
from udfs.rules.verdicts.own_verdict import OwnRules
from udfs.rules.volume import Volume

# Of all keys, or of ranges of them.
Histories = PartitionHistory | Sequence[PartitionHistory]


def measured(measure: Measure, of: Histories, judge: Judge | None = None) -> pa.Table:
    """In the rounds of a run."""
    ranges = [of] if isinstance(of, PartitionHistory) else of
    for each in ranges:
        measure.look(each)
        if judge is not None:
            judge.look(each)
    for each in ranges:
        if judge is not None:
            judge.count(each.commits)
    for each in ranges:
        measure.take(each)
    return measure.rows(ranges[-1])


def in_ranges(history: PartitionHistory, most_rows: int) -> list[PartitionHistory]:
    """The same in ranges of about so many rows of both tables."""
    tables, reach = {**history.tables, "offset_commits": history.commits}, Reach()
    for name in RECORD_AND_TIME:
        reach.add(name, tables[name], history.as_of_time)
    both = (history.table("offset_history"), history.commits)
    return [
        replace(history.within(keys), reach=reach)
        for some in ranges_of(map(rows_by_key, both), most_rows)
        for keys in some
    ]


def rate_rows(of: Histories, settled_from: int | None) -> pa.Table:
    judge = Judge(day_of(settled_from))
    return measured(Rates(settled_from, judge.reset_rows), of, judge)


def volume_rows(of: Histories, settled_from: int | None) -> pa.Table:
    return measured(Volume(settled_from), of)


def reset_rows(of: Histories, settled_from: int | None) -> pa.Table:
    judge = Judge(settled_from)
    return measured(Resets(settled_from, judge), of, judge)


def odd_commit_rows(of: Histories, settled_from: int | None) -> pa.Table:
    judge = Judge(day_of(settled_from))
    return measured(OddCommits(settled_from, judge), of, judge)


def verdict_rows(of: Histories, burrow: BurrowRules, own: OwnRules, objectives: Sequence[Objective] = ()) -> pa.Table:
    return measured(Verdicts(burrow, own, objectives), of)


def lag_point_pieces(history: PartitionHistory, settled_from: int | None, settled_to: int | None) -> Iterator[pa.Table]:
    """First for snapshots from `settled_to` on, then for those before."""
    tables = PointTables(history)
    for asked in asked_snapshots(history, settled_from, settled_to):
        yield from points_at(tables, asked)
