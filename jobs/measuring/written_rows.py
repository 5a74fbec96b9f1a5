"""Writes the rows that are made of a slice, all measures side by side, a range of keys after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from jobs.measuring.slice_rows import SliceRows
from jobs.measuring.task_messages import MeasuringInput
from jobs.measuring.whole_rows import Over, after, bucket_end, complete_rows, day_end, hour_end
from jobs.measuring.written_points import PointWriter
from jobs.replaying.tables.history_files import HistoryFiles
from schemas.tables.events import COMMIT_FINDINGS, COMMIT_VOLUME, EXPIRY_FORECAST, OFFSET_RESETS
from schemas.tables.lag import CONSUMPTION_RATES, GROUP_VERDICTS
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.rates.rates import Rates
from udfs.rules.expiry import ExpiryForecast
from udfs.rules.facts.subscribed_topics import note_reach
from udfs.rules.findings.commit_findings import CommitFindings, day_of
from udfs.rules.measure import Measure
from udfs.rules.offset_resets.choose_resets import Judge
from udfs.rules.offset_resets.find_resets import Resets
from udfs.rules.verdicts.group_verdicts import Verdicts
from udfs.rules.volume import Volume


@dataclass(frozen=True)
class Measured:
    """Makes rows of a table. `over`: when a row is over; None: the table has no rows that stay unchanged."""

    table: str
    measure: Measure
    over: Over | None


def measures_of(run_input: MeasuringInput, settled_from: int | None, judges: Sequence[Judge]) -> tuple[Measured, ...]:
    """`judges`: of moves since then, and since its day began."""
    of_resets, of_findings = judges
    return (
        Measured(CONSUMPTION_RATES.name, Rates(settled_from), bucket_end),
        Measured(OFFSET_RESETS.name, Resets(settled_from, of_resets), after("at_time")),
        Measured(COMMIT_FINDINGS.name, CommitFindings(settled_from, of_findings), day_end),
        Measured(COMMIT_VOLUME.name, Volume(settled_from), hour_end),
        Measured(EXPIRY_FORECAST.name, ExpiryForecast(), None),
        Measured(GROUP_VERDICTS.name, Verdicts(run_input.burrow, run_input.verdicts, run_input.objectives), None),
    )


class Writer:
    """Writes all rows that are made of a slice. Two rounds go through all ranges of keys: first what each must know of
    the others is noted, then rows are made."""

    def __init__(self, rows: SliceRows, settled_from: int | None, settled_to: int | None, files: HistoryFiles) -> None:
        self.rows, self.files, self.cluster, self.settled_to = rows, files, rows.run_input.cluster, settled_to
        since, since_day = settled_from, day_of(settled_from)
        self.judges = {each: Judge(each) for each in (since, since_day)}
        self.measures = measures_of(rows.run_input, since, (self.judges[since], self.judges[since_day]))
        self.points = PointWriter(rows.partition_slice.partition, self.cluster, settled_from, settled_to, files)
        self.groups: set[str] = set()

    def write_all(self) -> None:
        for keys in self.rows.ranges:
            self.look(self.rows.history(keys))
        if any(judge.asks for judge in self.judges.values()):
            for keys in self.rows.ranges:
                self.count(self.rows.history(keys).commits)
        for keys in self.rows.ranges:
            self.take(self.rows.history(keys))
        self.points.finish()
        for each in self.measures:
            self.write_measured(each, self.rows.history(self.rows.ranges[-1]))

    def look(self, history: PartitionHistory) -> None:
        note_reach(history, self.rows.reach)
        self.groups.update(history.table("offset_history").column("group_id").unique().to_pylist())
        for judge in self.judges.values():
            judge.look(history)
        for each in self.measures:
            each.measure.look(history)
        self.points.write(history, is_open=True)

    def count(self, commits: pa.Table) -> None:
        for judge in self.judges.values():
            judge.count(commits)

    def take(self, history: PartitionHistory) -> None:
        self.points.write(history, is_open=False)
        for each in self.measures:
            each.measure.take(history)

    def write_measured(self, each: Measured, history: PartitionHistory) -> None:
        rows = each.measure.rows(history)
        if rows.num_rows:
            made = complete_rows(each.table, each.over, rows, self.cluster, self.settled_to)
            self.files.write(each.table, made, history.offsets_partition)
