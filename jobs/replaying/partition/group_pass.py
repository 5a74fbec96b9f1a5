"""Replays the groups of an offsets partition from their own records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.log.partition import DELETING, GROUP_TABLES, PartitionLog
from jobs.replaying.log.slices import Slice
from schemas.tables import READING_ENDS
from schemas.tables import TABLES as WRITTEN
from schemas.words.history import GroupState
from udfs.groups.fold import Fold
from udfs.groups.history.departures import departures_table
from udfs.groups.history.rows import RowsByTable, arrow_rows
from udfs.groups.history.unclear_details import unclear_details_table
from udfs.groups.readers.classic_records import classic_records
from udfs.groups.readers.modern_records import modern_records
from udfs.groups.readers.pause_collector import uncollected
from udfs.groups.readers.records import Record
from udfs.groups.states.group import Context
from udfs.topics.least_partitions import NamedByGroups
from udfs.topics.names import Key, Sighting, merge, of_groups
from udfs.topics.partition_codes import TopicCodes

CLASSIC, KNOWN_TOPICS = "classic_group_metadata", "group_partition_metadata"
# As Python objects, records take hundreds of bytes each.
WINDOW_ROWS = 1 << 14

# Commits answer questions about these rows, and offsets expire because of them, so they stay in memory until the end.
ASKED = (
    "ownership_intervals", "partition_moves", "reading_ends", "rebalances", "membership_intervals",
    "group_state_intervals",
)  # fmt: skip
# In addition to tables of the warehouse: rows that become part of another table.
TABLES = {**WRITTEN, "reading_ends": READING_ENDS}
# Other rows are written earlier, once there are this many, each time starting a new order: the rows of one group must
# not fill the memory.
MOST_HELD_ROWS = 1 << 20
FEW_ROWS = 1 << 12

GROUP_TOMBSTONES = pa.schema([("group_id", pa.string()), ("record_time", pa.timestamp("us", "UTC"))])


@dataclass
class HistoryRows:
    """Rows of the history tables of one offsets partition, by table."""

    cluster: str
    partition: int
    topics: TopicCodes
    of: dict[str, list[pa.Table]] = field(default_factory=dict)

    def take(self, rows: RowsByTable) -> None:
        for name, of_table in rows.of.items():
            if of_table:
                table = arrow_rows(TABLES[name], of_table, self.topics, self.cluster, self.partition)
                self.of.setdefault(name, []).append(table)
        rows.of.clear()

    def hand_on(self, write: Callable[[str, pa.Table], None], most_rows: int) -> None:
        """Passes on rows of tables that nothing else needs, once there are many."""
        names = [name for name in self.of if name not in ASKED]
        if sum(part.num_rows for name in names for part in self.of[name]) > most_rows:
            for name in names:
                write(name, self.table(name))
                del self.of[name]

    def table(self, name: str) -> pa.Table:
        parts = self.of.get(name, [])
        return pa.concat_tables(parts) if parts else arrow_rows(TABLES[name], [], self.topics, "", 0)


@dataclass
class GroupPass:
    """`closed` and `open`: the resulting rows. `states`: of the groups with records."""

    log: PartitionLog
    slice: Slice
    context: Context
    fold: Fold
    closed: HistoryRows
    open: HistoryRows
    # None: nothing may be written before it is certain that everything can be.
    write: Callable[[str, pa.Table], None] | None
    states: dict[str, str] = field(default_factory=dict)
    sightings: dict[Key, Sighting] = field(default_factory=dict)
    named: NamedByGroups = field(default_factory=NamedByGroups)
    tombstones: list[pa.Table] = field(default_factory=list)
    departures: list[pa.Table] = field(default_factory=list)
    unclear: list[pa.Table] = field(default_factory=list)
    num_records: int = 0

    @uncollected()
    def run(self, holes: Mapping[int, int | None]) -> None:
        for end, tables in self.log.windows(GROUP_TABLES, list(holes), WINDOW_ROWS):
            ours = {name: self.slice.rows(rows) for name, rows in tables.items()}
            self.note(ours)
            self.fold.take(in_order(ours, self.context.topics))
            if end in holes:
                self.fold.hole(end, holes[end])
            # Rows of a short log become tables once, at the end.
            if self.context.rows.num_rows > FEW_ROWS:
                self.take_closed()
            if self.write is not None:
                self.closed.hand_on(self.write, MOST_HELD_ROWS)
        open_rows = RowsByTable()
        self.states = self.fold.finish(open_rows)
        self.take_closed()
        self.open.take(open_rows)

    def take_closed(self) -> None:
        self.closed.take(self.context.rows)
        self.departures.append(departures_table(self.context.departures))
        self.context.departures.clear()
        self.unclear.append(unclear_details_table(self.context.unclear))
        self.context.unclear.clear()

    def note(self, tables: Mapping[str, pa.Table]) -> None:
        self.num_records += sum(rows.num_rows for rows in tables.values())
        self.named.add(tables)
        if KNOWN_TOPICS in tables:
            merge(self.sightings, of_groups(tables[KNOWN_TOPICS]))
        for name in DELETING:
            if name in tables:
                gone = tables[name].filter(tables[name].column("is_tombstone"))
                self.tombstones.append(gone.select(GROUP_TOMBSTONES.names).cast(GROUP_TOMBSTONES))

    def group_tombstones(self) -> pa.Table:
        return pa.concat_tables([GROUP_TOMBSTONES.empty_table(), *self.tombstones])


def in_order(tables: Mapping[str, pa.Table], topics: TopicCodes) -> Sequence[tuple[str, Record]]:
    modern = {name: rows for name, rows in tables.items() if name != CLASSIC and rows.num_rows}
    records = classic_records(tables[CLASSIC], topics) if CLASSIC in tables else []
    if not modern:
        return records
    return sorted([*records, *modern_records(modern, topics)], key=lambda each: each[1].offset)


def empty_stretches(states: Sequence[pa.Table]) -> pa.Table:
    """Intervals in which classic groups with a protocol type were Empty. Their offsets expire then."""
    rows = pa.concat_tables(list(states))
    has_type = pc.greater(pc.utf8_length(rows.column("protocol_type")), 0).fill_null(False)
    is_empty = pc.and_(pc.equal(rows.column("group_type"), "classic"), pc.equal(rows.column("state"), GroupState.EMPTY))
    empty = rows.filter(pc.and_(is_empty, has_type))
    return pa.table(
        {
            "group_id": empty.column("group_id"),
            "from_record_offset": empty.column("from_record_offset"),
            "to_record_offset": empty.column("to_record_offset"),
            "since_time": empty.column("from_time"),
        }
    )
