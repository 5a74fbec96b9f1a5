"""How far groups were behind at each snapshot: of each partition with a live commit, an owner or a subscriber."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.history_words import Confidence, OffsetEnd
from schemas.lag_words import LagUnknown, TimeLagMethod
from schemas.vocabulary import GroupType
from udfs.lag.as_of import NOWHERE, key_codes, newest_at
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.streams_time import stream_times
from udfs.lag.subscriptions import subscribed_partitions
from udfs.lag.texts import are_equal, chosen, codes_of, first_valid, or_else, texts
from udfs.lag.time_lag import written_times
from udfs.lag.watermarks import Watermarks
from udfs.replay.nullable import NONE, Flags, Numbers, every, first_of, integers, numbers, times

KEY = ("group_id", "name", "partition")
STILL = np.iinfo(np.int64).max
CERTAIN, POSSIBLE = Confidence.CERTAIN.value, Confidence.POSSIBLE.value
METHODS, REASONS = [each.value for each in TimeLagMethod], [each.value for each in LagUnknown]


class Pairs(NamedTuple):
    """Rows of a table, each with the place of a snapshot at which it held."""

    rows: Numbers
    snapshots: Numbers


def pairs_of(from_times: Numbers, to_times: Numbers, snapshots: Numbers) -> Pairs:
    """Half-open intervals; NONE as an end: still so."""
    first = np.searchsorted(snapshots, from_times, side="left")
    last = np.searchsorted(snapshots, np.where(to_times == NONE, STILL, to_times), side="left")
    number = np.where(from_times == NONE, 0, np.maximum(last - first, 0))
    rows = np.repeat(np.arange(len(number)), number)
    before = np.repeat(np.cumsum(number) - number, number)
    return Pairs(rows, first[rows] + np.arange(len(rows)) - before)


def lag_point_rows(history: PartitionHistory, settled_from: int | None) -> pa.Table:
    """Columns of lag_points but `cluster` and `is_open`."""
    every_time = history.watermarks.times
    is_asked = (every_time <= history.as_of_time) & (every_time >= (NONE if settled_from is None else settled_from))
    snapshots = every_time[is_asked]
    owners = reading_owners(history.table("ownership_intervals"))
    sources = (history.table("offset_history"), owners, subscribed_partitions(history))
    codes = key_codes(KEY, *map(named, sources))
    pairs = [
        pairs_of(numbers(table.column("from_time")), numbers(table.column("to_time")), snapshots) for table in sources
    ]
    pairs[2] = of_captured_partitions(history.watermarks, sources[2], pairs[2], snapshots)
    # By snapshot first, then by key: so rows stand in the order of the table.
    width = max((int(each.max(initial=0)) + 1 for each in codes), default=1)
    numbered = [pair.snapshots * width + code[pair.rows] for code, pair in zip(codes, pairs, strict=True)]
    points = np.sort(np.concatenate(numbered))
    points = points[first_of(points)]
    commit, owner, subscriber = (
        rows_at(points, number, pair.rows) for number, pair in zip(numbered, pairs, strict=True)
    )
    at = snapshots[points // width] if len(snapshots) else points
    return Points(history, sources, (commit, owner, subscriber), codes[0], points % width, at).table()


def named(rows: pa.Table) -> pa.Table:
    """With the name of the topic, or its id where that alone is known; no topic's name has a slash."""
    by_id = pc.binary_join_element_wise("", rows.column("topic_id").cast(pa.string()), "/")
    return rows.select(["group_id", "partition"]).append_column("name", pc.coalesce(rows.column("topic"), by_id))


def of_captured_partitions(watermarks: Watermarks, subscribed: pa.Table, pairs: Pairs, snapshots: Numbers) -> Pairs:
    """A topic may get partitions later, and may go: only those that the very snapshot holds."""
    at = snapshots[pairs.snapshots] if len(snapshots) else pairs.snapshots
    mark = watermarks.at(subscribed.select(["topic", "partition"]).take(pairs.rows), at)
    is_there = (mark >= 0) & (of_marks(watermarks.row_times, mark) == at)
    return Pairs(pairs.rows[is_there], pairs.snapshots[is_there])


def reading_owners(owners: pa.Table) -> pa.Table:
    """Share groups commit nothing here, and standby tasks read nothing."""
    is_share = pc.equal(owners.column("group_type"), GroupType.SHARE.value)
    is_standby = pc.fill_null(pc.not_equal(owners.column("role"), "active"), False)
    is_known = pc.or_(owners.column("topic").is_valid(), owners.column("topic_id").is_valid())
    return owners.filter(pc.and_(pc.invert(pc.or_(is_share, is_standby)), is_known))


def rows_at(every_pair: Numbers, number: Numbers, rows: Numbers) -> Numbers:
    """For each pair the row of a source; of several the last, as of two owners the later one."""
    found = np.full(len(every_pair), NOWHERE)
    found[np.searchsorted(every_pair, number)] = rows
    return found


@dataclass(frozen=True)
class Points:
    """`sources`: offset_history, owners, subscribed partitions. `chosen`: for each point a row of each, or NOWHERE.
    `codes`: of the keys of points; `offset_codes`: of offset_history's rows."""

    history: PartitionHistory
    sources: tuple[pa.Table, pa.Table, pa.Table]
    chosen: tuple[Numbers, Numbers, Numbers]
    offset_codes: Numbers
    codes: Numbers
    at: Numbers

    def table(self) -> pa.Table:
        offsets = self.sources[0]
        commit, owner, _ = self.chosen
        topics = self.topics()
        marks = self.history.watermarks
        mark = marks.at(topics, self.at)
        committed = taken(offsets, "committed_offset", commit)
        is_recreated = self.is_recreated(mark)
        is_negative = (commit >= 0) & (committed < 0)
        reason = self.reasons(commit, mark, is_recreated, is_negative)
        is_known = reason < 0
        is_captured = (mark >= 0) & ~is_recreated
        end = np.where(is_captured, of_marks(marks.ends, mark), NONE)
        start = np.where(is_captured, of_marks(marks.starts, mark), NONE)
        has_start = is_known & (start != NONE)
        lag = np.where(is_known, end - committed, NONE)
        behind = np.maximum(committed, start)
        columns: dict[str, pa.Array] = {
            "snapshot_time": times(self.at),
            **self.subject(topics, mark),
            "committed_offset": integers(np.where(commit >= 0, committed, NONE)),
            "log_start_offset": integers(start),
            "log_end_offset": integers(end),
            "lag_raw": integers(lag),
            "lag_floor": integers(np.where(is_known, np.maximum(lag, 0), NONE)),
            "lag_available": integers(np.where(has_start, np.maximum(end - behind, 0), NONE)),
            "lost_messages": integers(np.where(has_start, np.maximum(start - committed, 0), NONE)),
            "no_commit": pa.array(reason == REASONS.index(LagUnknown.NO_COMMIT.value)),
            "committed_beyond_end": pa.array(is_known & (lag < 0)),
            "lag_data": pa.nulls(len(lag), pa.int64()),
            "committed_negative": pa.array(is_negative),
            "snapshot_age_ms": integers(np.where(mark >= 0, (self.at - of_marks(marks.row_times, mark)) // 1000, NONE)),
            "leader_epoch": integers(taken(offsets, "leader_epoch", commit), pa.int32()),
            **self.time_lags(commit, mark, committed, start, lag),
            "owner_member_id": texts(self.sources[1], "member_id", owner),
            "unknown_reason": chosen(reason, REASONS),
            **self.evidence(commit),
        }
        return pa.table(columns)

    def topics(self) -> pa.Table:
        """Topic and partition of each point."""
        partition = self.first_number("partition")
        return pa.table({"topic": self.first_text("topic"), "partition": pa.array(partition.astype(np.int32))})

    def subject(self, topics: pa.Table, mark: Numbers) -> dict[str, pa.Array]:
        """What is only subscribed to is the topic that has the name at the snapshot."""
        groups = self.first_text("group_id")
        topic_ids = [texts(table, "topic_id", rows) for table, rows in zip(self.sources[:2], self.chosen, strict=False)]
        is_subscribed = np.maximum(*self.chosen[:2]) < 0
        topic_ids.append(texts(self.history.watermarks.rows, "topic_id", np.where(is_subscribed, mark, NOWHERE)))
        return {
            "group_id": groups,
            "group_type": self.group_types(groups),
            "topic": topics.column("topic"),
            "topic_id": first_valid(topic_ids),
            "partition": topics.column("partition"),
        }

    def first_text(self, name: str) -> pa.DictionaryArray:
        """Of the commit where there is one, else of the owner, else of the subscription."""
        return first_valid([texts(table, name, rows) for table, rows in zip(self.sources, self.chosen, strict=True)])

    def first_number(self, name: str) -> Numbers:
        commit, owner, subscriber = (
            taken(table, name, rows) for table, rows in zip(self.sources, self.chosen, strict=True)
        )
        return np.where(self.chosen[0] >= 0, commit, np.where(self.chosen[1] >= 0, owner, subscriber))

    def group_types(self, groups: pa.DictionaryArray) -> pa.DictionaryArray:
        """As the group was then; a simple group counts as classic, as Kafka has it."""
        states = self.history.table("group_state_intervals")
        wanted = pa.table({"group_id": groups.dictionary})
        have, of_group = key_codes(("group_id",), states, wanted)
        # A group that no state tells of has a number that no state has.
        found = newest_at(have, numbers(states.column("from_time")), of_group[codes_of(groups)], self.at)
        owned = texts(self.sources[1], "group_type", self.chosen[1])
        return or_else(first_valid([owned, texts(states, "group_type", found)]), GroupType.CLASSIC.value)

    def is_recreated(self, mark: Numbers) -> Flags:
        """The commit names another topic id than the snapshot."""
        ours = texts(self.sources[0], "topic_id", self.chosen[0])
        theirs = texts(self.history.watermarks.rows, "topic_id", mark)
        return np.asarray(are_equal(ours, theirs) == 0, np.bool_)

    def reasons(self, commit: Numbers, mark: Numbers, is_recreated: Flags, is_negative: Flags) -> Numbers:
        """Why lag is not known, as a place in `REASONS`; -1 where it is."""
        found = [
            ((commit < 0) & self.is_in_hole(), LagUnknown.HISTORY_HOLE),
            (commit < 0, LagUnknown.NO_COMMIT),
            (is_negative, LagUnknown.COMMITTED_NEGATIVE),
            (mark < 0, LagUnknown.NO_SNAPSHOT),
            (is_recreated, LagUnknown.TOPIC_RECREATED),
        ]
        return np.select([each for each, _ in found], [REASONS.index(why.value) for _, why in found], -1)

    def is_in_hole(self) -> Flags:
        """The newest commit before ended with what is covered: which one holds now is not known."""
        offsets = self.sources[0]
        found = newest_at(self.offset_codes, numbers(offsets.column("from_time")), self.codes, self.at)
        is_hole = pc.equal(offsets.column("ended_by").cast(pa.string()), OffsetEnd.COVERAGE_HOLE.value)
        flags = np.append(pc.fill_null(is_hole, False).to_numpy(), False)
        return np.asarray(flags[found])

    def time_lags(
        self, commit: Numbers, mark: Numbers, committed: Numbers, start: Numbers, lag: Numbers
    ) -> dict[str, pa.Array]:
        has_lag = lag > 0
        nothing = (lag != NONE) & ~has_lag
        estimate, low, high = (np.where(nothing, 0, NONE) for _ in range(3))
        method = np.where(nothing, METHODS.index(TimeLagMethod.NO_LAG.value), METHODS.index(TimeLagMethod.NONE.value))
        rows = np.flatnonzero(has_lag)
        # What is deleted cannot be read: the oldest message that can be counts.
        first = np.maximum(committed, start)[rows]
        is_left = first < self.history.watermarks.ends[mark[rows]]
        rows, first = rows[is_left], first[is_left]
        written = written_times(self.history.watermarks, mark[rows], first)
        now = self.at[rows]
        estimate[rows], low[rows] = ago(now, written.estimate), ago(now, written.latest)
        high[rows] = ago(now, written.earliest)
        method[rows[written.estimate != NONE]] = METHODS.index(TimeLagMethod.INTERPOLATED.value)
        method[rows[written.is_extrapolated]] = METHODS.index(TimeLagMethod.EXTRAPOLATED.value)
        self.take_stream_times(commit, rows, (estimate, low, high), method)
        names = ("time_lag_ms", "time_lag_low_ms", "time_lag_high_ms")
        found = {name: integers(each) for name, each in zip(names, (estimate, low, high), strict=True)}
        return {**found, "time_lag_method": chosen(method, METHODS)}

    def take_stream_times(
        self, commit: Numbers, rows: Numbers, lags: tuple[Numbers, Numbers, Numbers], method: Numbers
    ) -> None:
        """Where Kafka Streams says itself what time it has come to. That is the time that producers gave its messages:
        the bounds, of when brokers wrote them, make room for it."""
        estimate, low, high = lags
        held = np.unique(commit[rows])
        known = np.full(self.sources[0].num_rows, NONE)
        known[held] = stream_times(self.sources[0].column("metadata").take(pa.array(held)))
        told = known[commit[rows]]
        here, then = rows[told != NONE], told[told != NONE]
        estimate[here] = ago(self.at[here], then)
        low[here] = np.minimum(low[here], estimate[here])
        high[here] = np.where(high[here] == NONE, NONE, np.maximum(high[here], estimate[here]))
        method[here] = METHODS.index(TimeLagMethod.STREAMS_METADATA.value)

    def evidence(self, commit: Numbers) -> dict[str, pa.Array]:
        """The record of the commit, else of what made the member an owner or a subscriber."""
        record = integers(self.first_number("from_offset"))
        return {
            "evidence_partition": every(self.history.offsets_partition, pa.int32(), len(commit)),
            "evidence_first_offset": record,
            "evidence_last_offset": record,
            "confidence": chosen(self.is_possible(commit).astype(np.int64), [CERTAIN, POSSIBLE]),
        }

    def is_possible(self, commit: Numbers) -> Flags:
        """Whether it may be of a transaction that was aborted. How sure the end of an offset is comes later, and says
        nothing of the time before."""
        flags = pc.equal(self.sources[0].column("confidence").cast(pa.string()), POSSIBLE)
        return np.asarray(np.append(pc.fill_null(flags, False).to_numpy(), False)[commit], np.bool_)


def ago(now: Numbers, then: Numbers) -> Numbers:
    return np.where(then == NONE, NONE, np.maximum(now - then, 0) // 1000)


def of_marks(values: Numbers, rows: Numbers) -> Numbers:
    return values[rows] if len(values) else np.full(len(rows), NONE)


def taken(table: pa.Table, name: str, rows: Numbers) -> Numbers:
    """NONE where there is no row."""
    values = numbers(table.column(name))
    return np.where(rows >= 0, values[rows], NONE) if len(values) else np.full(len(rows), NONE)
