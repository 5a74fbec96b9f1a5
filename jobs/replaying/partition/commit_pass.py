"""Links the commits of an offsets partition, chunk by chunk, into the offsets that were in force."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from jobs.replaying.log.partition import COLUMNS, COMMITS, MARKERS, PartitionLog, as_read
from jobs.replaying.log.slices import Slice
from jobs.replaying.tables.history_files import HistoryFiles
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema
from udfs.commits.early_rules import EarlyOffsetReplay
from udfs.commits.link_commits import Finished, OffsetReplay

TRANSACTIONS = "transactions"
# A full row group of commits has more, so each is a window of its own. Two at once take more memory and as much time.
WINDOW_ROWS = 1 << 16


@dataclass
class CommitPass:
    log: PartitionLog
    slice: Slice
    replay: OffsetReplay
    files: HistoryFiles
    partition: int
    # For one slice only. Transactions that also have commits in other slices are merged later.
    transactions: list[pa.Table] = field(default_factory=list)
    num_records: int = 0

    def run(self, holes: Mapping[int, int | None]) -> Finished:
        take_overs = self.take_overs()
        stops = [*holes, *(first - 1 for first in take_overs)]
        for end, tables in self.log.windows((COMMITS, MARKERS), stops, WINDOW_ROWS):
            commits, markers = self.rows(tables, COMMITS), self.rows(tables, MARKERS)
            self.num_records += commits.num_rows
            self.write(self.replay.take(commits, markers))
            if end in holes:
                self.write(self.replay.hole(end, holes[end]))
            if isinstance(self.replay, EarlyOffsetReplay) and end + 1 in take_overs:
                self.write(self.replay.take_over(end + 1, take_overs[end + 1]))
        finished = self.replay.finish()
        self.write(finished.closed)
        self.write(finished.open)
        return finished

    def take_overs(self) -> dict[int, int | None]:
        """First records of coordinators that no longer go by the rules of 3.7, and their times."""
        ends = self.replay.ends if isinstance(self.replay, EarlyOffsetReplay) else ()
        return {each.first_offset: each.from_time for each in self.log.epochs.of.values() if each.first_offset in ends}

    def rows(self, tables: Mapping[str, pa.Table], name: str) -> pa.Table:
        if name in tables:
            return self.slice.rows(tables[name]).unify_dictionaries()
        whole = table_schema(TABLES[name])
        return as_read(pa.schema([whole.field(column) for column in COLUMNS[name]])).empty_table()

    def write(self, rows: Mapping[str, pa.Table]) -> None:
        for name, of_table in rows.items():
            if not of_table.num_rows:
                continue
            if name == TRANSACTIONS and self.slice.num_slices > 1:
                self.transactions.append(of_table)
                continue
            self.files.write(name, of_table, self.partition, is_ordered=True)
