"""Writes points of lag, and their sums by day and minute."""

from dataclasses import dataclass, replace

from jobs.measuring.whole_rows import SNAPSHOT_OVER, complete_rows, day_end, minute_end, since
from jobs.replaying.tables.history_files import HistoryFiles
from schemas.tables import TABLES
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.point_tables import PointTables
from udfs.lag.points import asked_snapshots, points_at
from udfs.lag.sums import DAY, LagSums, Sums


@dataclass
class PointWriter:
    """Points are by far the most rows: written in pieces, already in the table's order. The open ones of all ranges of
    keys come first, then the settled ones. Times are microseconds."""

    offsets_partition: int
    cluster: str
    settled_from: int | None
    settled_to: int | None
    files: HistoryFiles

    def __post_init__(self) -> None:
        self.sums = LagSums(self.offsets_partition, self.settled_to)

    def write(self, history: PartitionHistory, *, is_provisional: bool) -> None:
        """Sums are of whole days, so points of the first day are computed again, but not written again."""
        begin = None if self.settled_from is None else self.settled_from // DAY * DAY
        tables = history.once("point_tables", self.point_tables)
        opened, settled = asked_snapshots(tables.history, begin, self.settled_to)
        for rows in points_at(tables, opened if is_provisional else settled):
            for each in self.sums.take(rows):
                self.write_sums(each)
            new = since(rows, SNAPSHOT_OVER, self.settled_from)
            made = complete_rows("lag_points", SNAPSHOT_OVER, new, self.cluster, self.settled_to)
            # If only the id of a topic is known, its position in the order is unknown.
            is_ordered = not rows.column("topic").null_count
            self.files.write("lag_points", made, self.offsets_partition, is_ordered=is_ordered)

    def point_tables(self, history: PartitionHistory) -> PointTables:
        """With all settled points, also those after the as-of time."""
        if self.settled_from is None:
            return PointTables(history)
        return PointTables(replace(history, as_of_time=max(history.as_of_time, self.settled_from - 1)))

    def write_sums(self, sums: Sums) -> None:
        for table, rows, over in (
            (TABLES["lag_days"], sums.days, day_end),
            (TABLES["lag_minutes"], sums.minutes, minute_end),
        ):
            new = since(rows, over, self.settled_from)
            made = complete_rows(table.name, over, new, self.cluster, self.settled_to)
            self.files.write(table.name, made, sums.offsets_partition)

    def finish(self) -> None:
        for each in self.sums.remaining():
            self.write_sums(each)
