"""Start and end offsets of topic partitions at each snapshot: rows of topic_snapshots, looked up by time."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Flags, Numbers, Positions, first_of, numbers
from udfs.arrays.number_ranges import ranges
from udfs.arrays.texts import codes_of, encoded, of_texts

NOWHERE = -1
# An older end offset says nothing about now, and older growth says nothing about how fast the topic grows.
LOOKBACK = 30 * 24 * 3600 * 1_000_000
NO_TOPIC = -(1 << 62)
MOST_RISE = 1 << 62
MOST_PARTITIONS = 1 << 31
COLUMNS = (
    "captured_time", "topic", "topic_id", "partition", "log_start_offset", "log_end_offset", "leader_epoch",
)  # fmt: skip


@dataclass(frozen=True)
class Watermarks:
    """`times`: of all snapshots, ascending, in microseconds. `rows`: sorted by topic, partition and time; each has an
    end offset. `place`: a number for each row, in this order."""

    times: Numbers
    rows: pa.Table
    topics: pa.Array
    place: Numbers

    @classmethod
    def of(cls, snapshots: pa.Table) -> "Watermarks":
        """Of rows of topic_snapshots of one cluster."""
        watermarks = Snapshots.of(snapshots)
        return watermarks.rows_at(np.arange(len(watermarks.place)))

    def first_places(self, wanted: pa.Table) -> Numbers:
        """For each row of `wanted` (`topic`, `partition`) the number of its partition. The lookups below take it
        instead of `wanted`: several lookups then compare the text only once."""
        return places(self.topics, wanted, len(self.times))

    def at(self, wanted: pa.Table | Numbers, times: Numbers) -> Numbers:
        """For each row of `wanted` (`topic`, `partition`): the row of its newest snapshot at or before the time, not
        older than `LOOKBACK`; NOWHERE if there is none."""
        rows = self.newest_rows(wanted, np.searchsorted(self.times, times, side="right") - 1)
        if not len(self.place) or times.max(initial=0) - self.times[0] <= LOOKBACK:
            return rows
        is_old = (rows >= 0) & (self.row_times[rows] < times - LOOKBACK)
        return np.where(is_old, NOWHERE, rows)

    def after(self, wanted: pa.Table | Numbers, times: Numbers) -> Numbers:
        """Like `at`, for the first snapshot at or after the time; NOWHERE also if that snapshot lacks the partition. A
        later snapshot is not used: another run might not have it yet, and would answer differently."""
        snapshot = np.searchsorted(self.times, times, side="left")
        rows = self.newest_rows(wanted, snapshot)
        is_it = (rows >= 0) & (snapshot < len(self.times))
        is_it[is_it] = self.place[rows[is_it]] % len(self.times) == snapshot[is_it]
        return np.where(is_it, rows, NOWHERE)

    def own_after(self, first: Numbers, times: Numbers) -> Numbers:
        """Like `after`, for the first snapshot that has the partition: for answers that every run computes again.
        `first`: of `first_places`."""
        return self.first_from(first, np.searchsorted(self.times, times, side="left"))

    def oldest(self, first: Numbers) -> Numbers:
        """Like `at`, for the first of all snapshots."""
        return self.first_from(first, np.zeros(len(first), np.int64))

    def first_from(self, first: Numbers, snapshot: Numbers) -> Numbers:
        if not len(self.place):
            return np.full(len(first), NOWHERE)
        rows = np.searchsorted(self.place, first + snapshot, side="left")
        place = self.place[np.minimum(rows, len(self.place) - 1)]
        is_it = (first >= 0) & (rows < len(self.place)) & (place < first + len(self.times))
        return np.where(is_it, rows, NOWHERE)

    def newest_rows(self, wanted: pa.Table | Numbers, snapshot: Numbers) -> Numbers:
        """The row of the newest snapshot up to that one. Most partitions are in all snapshots."""
        first = wanted if isinstance(wanted, np.ndarray) else self.first_places(wanted)
        if not len(self.place):
            return np.full(len(first), NOWHERE)
        starts, firsts, sizes = self.blocks
        block = np.minimum(np.searchsorted(firsts, first), len(starts) - 1)
        is_there = (firsts[block] == first) & (snapshot >= 0)
        rows = np.where(is_there, starts[block] + np.minimum(snapshot, len(self.times) - 1), NOWHERE)
        rare = np.flatnonzero(is_there & (sizes < len(self.times))[block])
        row = (
            np.searchsorted(self.place, first[rare] + np.minimum(snapshot[rare], len(self.times) - 1), side="right") - 1
        )
        rows[rare] = np.where(row >= starts[block[rare]], row, NOWHERE)
        return rows

    @cached_property
    def blocks(self) -> tuple[Numbers, Numbers, Numbers]:
        """Blocks of rows of one partition: where each begins, the partition's number, and its number of rows."""
        starts = np.flatnonzero(first_of(self.partition_places))
        firsts = self.place[starts] - self.place[starts] % max(len(self.times), 1)
        return starts, firsts, np.diff(starts, append=len(self.place))

    @property
    def reach_far_back(self) -> bool:
        """Whether the oldest snapshot says nothing about the newest one."""
        return bool(len(self.times)) and bool(self.times[-1] - self.times[0] > LOOKBACK)

    @property
    def row_times(self) -> Numbers:
        return self.with_no_row[2][:-1]

    @property
    def end_offsets(self) -> Numbers:
        return self.with_no_row[0][:-1]

    @property
    def starts(self) -> Numbers:
        """NONE: not captured."""
        return self.with_no_row[1][:-1]

    @cached_property
    def leader_epochs(self) -> Numbers:
        """NONE: not captured."""
        return numbers(self.rows.column("leader_epoch"))

    @cached_property
    def topic_ids(self) -> pa.DictionaryArray:
        return encoded(self.rows.column("topic_id"))

    @cached_property
    def topic_codes(self) -> np.ndarray:
        """Positions in the dictionary of `topic_ids`. Below 0: NULL; the extra last entry is for no row."""
        return np.append(codes_of(self.topic_ids), NOWHERE).astype(np.int32)

    def codes_of_ids(self, ids: pa.ChunkedArray) -> Numbers:
        """The same codes for other ids. An id that no snapshot has gets the next free number; NULL gets NOWHERE."""
        known = self.topic_ids.dictionary.cast(pa.string())
        return of_texts(ids, lambda texts: pc.fill_null(pc.index_in(texts, value_set=known), len(known)), NOWHERE)

    @cached_property
    def known_topics(self) -> np.ndarray:
        """Like `topic_codes`, but a snapshot without an id gets the topic of the previous one."""
        codes = self.topic_codes[:-1]
        is_known = codes >= 0
        if is_known.all():
            return self.topic_codes
        is_known |= first_of(self.partition_places)
        named = np.maximum.accumulate(np.where(is_known, np.arange(len(codes)), 0))
        return np.append(codes[named], NOWHERE).astype(np.int32)

    @cached_property
    def is_other_topic(self) -> Flags:
        """Whether the partition's previous row is of another topic with the same name."""
        codes = self.known_topics[:-1]
        before = np.append(NOWHERE, codes[:-1])[: len(codes)]
        return np.asarray((codes != before) & (codes >= 0) & (before >= 0) & ~first_of(self.partition_places), np.bool_)

    @cached_property
    def topic_since(self) -> Numbers:
        """For each row, and for no row: the first snapshot of its topic, if an earlier snapshot has another topic with
        the same name; NONE if all have this one."""
        begins = self.is_other_topic | first_of(self.partition_places)
        first = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
        return np.append(np.where(self.is_other_topic[first], self.row_times[first], NONE), NONE)

    def are_of_other_topic(self, rows: Numbers, topic_ids: pa.ChunkedArray, begun: Numbers) -> Flags:
        """Whether commits are, or may be, for another topic with the name than these rows. `topic_ids`: those in the
        commits. NULL: a commit older than the first snapshot of the row's topic may be for the previous topic. `begun`:
        times of the commits."""
        ours, theirs = self.codes_of_ids(topic_ids), self.known_topics[rows]
        is_other = (ours >= 0) & (theirs >= 0) & (ours != theirs)
        return np.asarray(is_other | ((ours < 0) & (begun < self.topic_since[rows])), np.bool_)

    @cached_property
    def known_epochs(self) -> Numbers:
        """Like `leader_epochs`, but a snapshot without one gets that of the previous one."""
        is_known = (self.leader_epochs != NONE) | first_of(self.partition_places)
        return self.leader_epochs[np.maximum.accumulate(np.where(is_known, np.arange(len(is_known)), 0))]

    @cached_property
    def num_made_anew(self) -> Numbers:
        """For each row, and all rows up to it, how often a topic was made anew: it has another id than in the row
        before, or an older leader epoch."""
        is_older = np.append(False, self.known_epochs[1:] < self.known_epochs[:-1])[: len(self.place)]
        return np.cumsum(self.is_other_topic | (is_older & ~first_of(self.partition_places)))

    @cached_property
    def is_lower(self) -> Flags:
        """Whether the row before, of any partition, has a higher end."""
        return np.append(False, np.diff(self.end_offsets) < 0)[: len(self.place)]

    @cached_property
    def falls(self) -> Positions:
        """Rows with a lower end than the row before, of the same topic and partition."""
        return np.flatnonzero(self.is_lower & ~self.is_other_topic & ~first_of(self.partition_places))

    @cached_property
    def with_no_row(self) -> tuple[Numbers, Numbers, Numbers]:
        """End offsets, start offsets and times, each with an extra value for no row."""
        end, start, time = (
            np.append(numbers(self.rows.column(name)), NONE)
            for name in ("log_end_offset", "log_start_offset", "captured_time")
        )
        return end, start, time

    @property
    def partition_places(self) -> Numbers:
        """Equal numbers for rows of one topic partition."""
        return np.asarray(self.place // max(len(self.times), 1))

    @cached_property
    def run_starts(self) -> Numbers:
        """For each row, the first row of its run: rows of one topic partition and id, in which the log only grew. If
        the log was truncated or recreated, a new run begins."""
        if not len(self.place):
            return np.empty(0, np.int64)
        is_first = first_of(self.partition_places) | self.is_other_topic | self.is_lower
        return np.maximum.accumulate(np.where(is_first, np.arange(len(is_first)), 0))

    @cached_property
    def runs(self) -> Numbers:
        """For each row the number of its run."""
        return np.asarray(np.cumsum(first_of(self.run_starts)) - 1)

    @property
    def is_last_of_run(self) -> Flags:
        return np.append(first_of(self.run_starts)[1:], True)[: len(self.place)]

    @property
    def grown(self) -> Numbers:
        """For each row, by how much its end is above the first one of its run."""
        return np.asarray(self.end_offsets - self.end_offsets[self.run_starts])

    @cached_property
    def are_ends_far(self) -> bool:
        """Whether `rising` would not fit into 64 bits."""
        grown = self.grown[self.is_last_of_run].astype(np.float64)
        return bool(grown.sum() + 2 * len(grown) > MOST_RISE)

    def ranks(self, rows: Numbers, offsets: Numbers) -> tuple[Numbers, Numbers]:
        """Like `rising`, by the places of ends among all ends: slower, for ends of any size. The second are those of
        the offsets, in the runs of these rows."""
        ends = np.unique(self.end_offsets)
        own, asked = (np.searchsorted(ends, each, "right") for each in (self.end_offsets, offsets))
        return self.runs * (len(ends) + 1) + own, self.runs[rows] * (len(ends) + 1) + asked

    @cached_property
    def rising(self) -> Numbers:
        """End offsets, made ascending over all runs, so that one search serves all: each run continues where the
        previous one ends, with room for one value below its first end offset."""
        relative = self.grown
        before = np.append(0, np.cumsum(relative[self.is_last_of_run] + 2))
        return np.asarray(before[self.runs] + relative)

    @cached_property
    def run_offsets(self) -> tuple[Numbers, Numbers]:
        """For each row what lies just below its run's first end, and by how much `rising` is ahead of ends there."""
        return self.end_offsets[self.run_starts] - 1, self.rising - self.end_offsets


@dataclass(frozen=True)
class Snapshots:
    """All that was captured, as the files have it: millions of rows, of which an offsets partition needs few.
    `place`: as of `Watermarks`, in order; `order`: the row of each."""

    times: Numbers
    rows: pa.Table
    topics: pa.Array
    place: Numbers
    order: Positions

    @classmethod
    def of(cls, snapshots: pa.Table) -> "Snapshots":
        """Of rows of topic_snapshots of one cluster. A snapshot that does not hold an end, or one before the start,
        is none of its partition."""
        times = np.unique(numbers(snapshots.column("captured_time")))
        rows = snapshots.select(list(COLUMNS))
        for name in ("topic", "topic_id"):
            rows = rows.set_column(rows.column_names.index(name), name, encoded(rows.column(name)))
        ends, starts = rows.column("log_end_offset"), rows.column("log_start_offset")
        # No log ends before it begins: a snapshot that says so proves neither its end nor its beginning.
        is_known = pc.and_(ends.is_valid(), pc.fill_null(pc.greater_equal(ends, starts), True))
        if not pc.all(is_known, min_count=0).as_py():
            rows = rows.filter(is_known)
        topics = encoded(rows.column("topic")).dictionary.cast(pa.string()).sort()
        place = places(topics, rows, len(times)) + np.searchsorted(times, numbers(rows.column("captured_time")))
        order = np.argsort(place, kind="stable")
        return cls(times, rows.combine_chunks(), topics, place[order], order)

    def of_topics(self, names: pa.Array) -> Watermarks:
        """Few of a cluster's topics are of one offsets partition, and their arrays stay in the processor's cache."""
        wanted = np.flatnonzero(pc.is_in(self.topics, value_set=names).to_numpy(zero_copy_only=False))
        room = MOST_PARTITIONS * max(len(self.times), 1)
        first, end = (np.searchsorted(self.place, each * room) for each in (wanted, wanted + 1))
        return self.rows_at(ranges(first, end - first))

    def rows_at(self, which: Numbers) -> Watermarks:
        """`which`: places in the order."""
        rows = self.rows.take(pa.array(self.order[which])).combine_chunks()
        return Watermarks(self.times, rows, self.topics, self.place[which])


def places(topics: pa.Array, rows: pa.Table, num_times: int) -> Numbers:
    """A number for the topic and partition of each row, in their order, with room for every time; `NO_TOPIC` if the
    topic is unknown. Even a thousand topics with Kafka's highest partition number leave room for four million times."""
    names = encoded(rows.column("topic"))
    known = pc.fill_null(pc.index_in(names.dictionary.cast(pa.string()), value_set=topics), NOWHERE)
    # NULL is the last one.
    place = np.append(np.asarray(known.to_numpy(zero_copy_only=False), np.int64), NOWHERE)
    codes, partition = place[codes_of(names)], numbers(rows.column("partition"))
    numbered = (codes * MOST_PARTITIONS + np.maximum(partition, 0)) * max(num_times, 1)
    return np.where((codes < 0) | (partition < 0), NO_TOPIC, numbered)
