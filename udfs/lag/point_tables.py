"""The tables from which points are made, as arrays for lookups. Each array has one extra value at the end: for "no
row"."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.history import OffsetEnd
from schemas.words.records import GroupType
from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.arrays.texts import encoded, is_value, same, together
from udfs.lag.as_of import first_rows, key_codes, newest_at
from udfs.lag.confidence import are_possible
from udfs.lag.doubtful_times import Doubt
from udfs.lag.key_ranges import KEY, with_names
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.point_cells import RowsInForce
from udfs.lag.streams_time import stream_times
from udfs.lag.subscriptions import subscribed_partitions
from udfs.lag.watermarks import places

KEPT = ("group_id", "topic", "partition")

Coded = tuple[list[Numbers], pa.Array]


@dataclass(frozen=True)
class PointTables:
    history: PartitionHistory

    @cached_property
    def sources(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """offset_history, owners, and subscribed partitions."""
        owners = reading_owners(self.history.table("ownership_intervals"))
        subscribed = subscribed_partitions(self.history)
        return self.history.table("offset_history"), *map(self.history.keys.rows, (owners, subscribed))

    @cached_property
    def codes(self) -> list[Numbers]:
        """For each source, the key of each row. Keys are in the order of lag_points."""
        _, owners, subscribed = self.sources
        return key_codes(KEY, *map(with_names, (self.history.offset_keys, owners, subscribed)))

    @cached_property
    def intervals(self) -> list[tuple[Numbers, Numbers, Numbers]]:
        return [
            (codes, numbers(table.column("from_time")), numbers(table.column("to_time")))
            for codes, table in zip(self.codes, self.sources, strict=True)
        ]

    @cached_property
    def rows_in_force(self) -> list[RowsInForce]:
        return [RowsInForce.of(*intervals, self.history.watermarks.times) for intervals in self.intervals]

    @cached_property
    def keys(self) -> pa.Table:
        """One row per key."""
        return first_rows(KEPT, self.sources, np.concatenate(self.codes))

    @cached_property
    def first_places(self) -> Numbers:
        marks = self.history.watermarks
        return places(marks.topics, self.keys, len(marks.times))

    @cached_property
    def group_ids(self) -> tuple[Numbers, pa.Array]:
        (codes,), values = together([encoded(self.keys.column("group_id"))])
        return codes, values

    @cached_property
    def topics(self) -> tuple[Numbers, pa.Array]:
        (codes,), values = together([encoded(self.keys.column("topic"))])
        return codes, values

    @cached_property
    def partitions(self) -> np.ndarray:
        return np.asarray(self.keys.column("partition").to_numpy(), np.int32)

    @cached_property
    def topic_ids(self) -> Coded:
        """Topic ids of commits and owners, and the few of marks."""
        known = [encoded(table.column("topic_id")) for table in (self.history.offset_keys, self.sources[1])]
        return together([*known, self.history.watermarks.topic_ids.dictionary.dictionary_encode()])

    def known_topics_of(self, marks: Numbers) -> Numbers:
        of_marks = self.topic_ids[0][2]
        return np.asarray(of_marks[self.history.watermarks.known_topics[marks]], np.int64)

    @cached_property
    def member_ids(self) -> tuple[Numbers, pa.Array]:
        (codes,), values = together([encoded(self.sources[1].column("member_id"))])
        return codes, values

    @cached_property
    def group_types(self) -> Coded:
        """Types of owners, of states, and of a group for which no state is known."""
        owners, states = self.sources[1], self.history.table("group_state_intervals")
        known = [encoded(table.column("group_type")) for table in (owners, states)]
        return together([*known, same(GroupType.CLASSIC.value, 1)])

    @cached_property
    def committed_offsets(self) -> Numbers:
        return with_none_row(self.sources[0], "committed_offset")

    @cached_property
    def begin_times(self) -> Numbers:
        """When each committed value came into force. It may have been committed again since then, as later records may
        show."""
        return with_none_row(self.sources[0], "from_time")

    @cached_property
    def leader_epochs(self) -> Numbers:
        return with_none_row(self.sources[0], "leader_epoch")

    @cached_property
    def from_offsets(self) -> list[Numbers]:
        return [with_none_row(table, "from_record_offset") for table in self.sources]

    @cached_property
    def stream_times(self) -> Numbers:
        return np.append(stream_times(self.sources[0].column("metadata")), NONE)

    @cached_property
    def are_possible(self) -> Flags:
        """Whether a commit may belong to a transaction that was aborted."""
        return np.append(are_possible(self.sources[0]), False)

    @property
    def mark_ends(self) -> Numbers:
        return self.history.watermarks.with_no_row[0]

    @property
    def mark_starts(self) -> Numbers:
        return self.history.watermarks.with_no_row[1]

    @property
    def mark_times(self) -> Numbers:
        return self.history.watermarks.with_no_row[2]

    def states_at(self, keys: Numbers, times: Numbers) -> Numbers:
        """Rows of group_state_intervals; NOWHERE if there is none."""
        states, of_keys = self.state_groups
        from_times = numbers(self.history.table("group_state_intervals").column("from_time"))
        return newest_at(states, from_times, of_keys[keys], times)

    @cached_property
    def state_groups(self) -> list[Numbers]:
        """A number for the group of each row of group_state_intervals, and for that of each key."""
        return key_codes(("group_id",), self.history.table("group_state_intervals"), self.keys)

    def are_in_hole(self, keys: Numbers, times: Numbers) -> Flags:
        """Whether the newest earlier commit ended where a range of unread records begins: then the offset in force is
        unknown."""
        if not self.are_holes.any():
            return np.zeros(len(keys), np.bool_)
        codes, begun, _ = self.intervals[0]
        rows = newest_at(codes, begun, keys, times)
        return np.asarray(self.are_holes[rows], np.bool_)

    def are_in_doubt(self, keys: Numbers, times: Numbers) -> Flags:
        """Whether the clock of the log went back around the time and the key's offset changed then."""
        is_doubtful = np.zeros(len(keys), np.bool_)
        for doubt, is_touched in self.doubts:
            is_doubtful |= doubt.holds_at(times) & is_touched[keys]
        return is_doubtful

    @cached_property
    def doubts(self) -> list[tuple[Doubt, Flags]]:
        changes = (numbers(self.sources[0].column(name)) for name in ("from_time", "to_time"))
        return list(self.history.doubtful.touched_keys(self.codes[0], *changes, size=self.keys.num_rows))

    @cached_property
    def are_holes(self) -> Flags:
        return np.append(is_value(self.sources[0].column("ended_by"), OffsetEnd.COVERAGE_HOLE), False)


def with_none_row(table: pa.Table, name: str) -> Numbers:
    return np.append(numbers(table.column(name)), NONE)


def reading_owners(owners: pa.Table) -> pa.Table:
    """Leaves out share groups, which commit nothing here, and standby tasks, which do not read for the group."""
    is_share = pc.equal(owners.column("group_type"), GroupType.SHARE.value)
    is_standby = pc.fill_null(pc.not_equal(owners.column("role"), "active"), False)
    is_known = pc.or_(owners.column("topic").is_valid(), owners.column("topic_id").is_valid())
    return owners.filter(pc.and_(pc.invert(pc.or_(is_share, is_standby)), is_known))
