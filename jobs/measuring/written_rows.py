"""Writes the rows that are made of a slice, all measures side by side, some groups after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobs.measuring.slice_rows import SliceRows
from jobs.measuring.task_messages import MeasuringInput
from jobs.measuring.whole_rows import Over, after, bucket_end, complete_rows, day_end, hour_end
from jobs.measuring.written_points import PointWriter
from jobs.replaying.tables.history_files import HistoryFiles
from udfs.lag.key_ranges import KeyRange
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.rates.rates import Rates
from udfs.rules.expiry import ExpiryForecast
from udfs.rules.findings.odd_commits import OddCommits, day_of
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

    def chosen(self, history: PartitionHistory, later: PartitionHistory) -> PartitionHistory:
        """Of `Writer.histories`."""
        return history if self.over is None else later


def measures_of(run_input: MeasuringInput, settled_from: int | None, judges: Sequence[Judge]) -> tuple[Measured, ...]:
    """`judges`: of moves since then, and since its day began, which is before any bucket that is not over."""
    of_resets, of_findings = judges
    return (
        Measured("consumption_rates", Rates(settled_from, of_findings.reset_rows), bucket_end),
        Measured("offset_resets", Resets(settled_from, of_resets), after("at_time")),
        Measured("odd_commits", OddCommits(settled_from, of_findings), day_end),
        Measured("commit_volume", Volume(settled_from), hour_end),
        Measured("expiry_forecast", ExpiryForecast(), None),
        Measured("group_verdicts", Verdicts(run_input.burrow, run_input.verdicts, run_input.objectives), None),
    )


class Writer:
    """Writes all rows that are made of a slice."""

    def __init__(self, rows: SliceRows, settled_from: int | None, settled_to: int | None, files: HistoryFiles) -> None:
        self.rows, self.files, self.cluster = rows, files, rows.run_input.cluster
        self.settled_from, self.settled_to = settled_from, settled_to
        self.points = PointWriter(rows.partition_slice.partition, self.cluster, settled_from, settled_to, files)
        self.num_groups = 0

    def write_all(self) -> None:
        for ranges in self.rows.ranges:
            self.write_groups(ranges)
        self.points.finish()

    def write_groups(self, ranges: Sequence[KeyRange]) -> None:
        """Of the groups that have these keys, and no others. Two rounds go through the ranges: first what each must
        know of the others is noted, then rows are made. A single range is read once."""
        since, since_day = self.settled_from, day_of(self.settled_from)
        judges = {each: Judge(each) for each in (since, since_day)}
        measures = measures_of(self.rows.run_input, since, (judges[since], judges[since_day]))
        groups: set[str] = set()
        for keys in ranges:
            history, later = self.histories(keys)
            groups.update(history.table("offset_history").column("group_id").unique().to_pylist())
            for judge in judges.values():
                judge.look(later)
            for each in measures:
                each.measure.look(each.chosen(history, later))
            self.points.write(later, is_provisional=True)
        self.num_groups += len(groups)
        if any(judge.asks for judge in judges.values()):
            for keys in ranges:
                commits = self.rows.commits_of(keys)
                for judge in judges.values():
                    judge.count(commits)
        for keys in ranges:
            history, later = self.histories(keys)
            self.points.write(later, is_provisional=False)
            for each in measures:
                each.measure.take(each.chosen(history, later))
        history, later = self.histories(ranges[-1])
        for each in measures:
            self.write_measured(each, each.chosen(history, later))

    def histories(self, keys: KeyRange) -> tuple[PartitionHistory, PartitionHistory]:
        """As of the run; and up to the newest time that was measured, for tables whose rows are each about a time of
        their own."""
        history = self.rows.history(keys)
        return history, history.once("later", self.later)

    def later(self, history: PartitionHistory) -> PartitionHistory:
        measured_to = self.rows.run_input.measured_to
        return history if measured_to <= history.as_of_time else replace(history, as_of_time=measured_to)

    def write_measured(self, each: Measured, history: PartitionHistory) -> None:
        rows = each.measure.rows(history)
        if rows.num_rows:
            made = complete_rows(each.table, each.over, rows, self.cluster, self.settled_to)
            self.files.write(each.table, made, history.offsets_partition)
