"""Computes the lag at each snapshot for each partition with a live commit, an owner or a subscriber."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from schemas.words.history import Confidence
from schemas.words.lag import LagUnknown, TimeLagMethod
from udfs.arrays.nullable import NONE, Flags, Numbers, every, integers, known_integers, times
from udfs.arrays.texts import of_codes, texts_of_codes
from udfs.lag.as_of import NOWHERE
from udfs.lag.partition_history import PartitionHistory
from udfs.lag.point_cells import Cells, cells_of, marks_of_cells, spans_of
from udfs.lag.point_tables import PointTables
from udfs.lag.time_lag import written_times
from udfs.lag.topics_then import topics_between
from udfs.lag.watermarks import LOOKBACK

CERTAINTY = [Confidence.CERTAIN.value, Confidence.POSSIBLE.value]
METHODS, REASONS = [each.value for each in TimeLagMethod], [each.value for each in LagUnknown]


def asked_snapshots(history: PartitionHistory, settled_from: int | None, settled_to: int | None) -> tuple[range, range]:
    """Positions of snapshots from `settled_from` on: those from `settled_to` on, and those before. `settled_to` None:
    there are none before."""
    every_time = history.watermarks.times
    begin = 0 if settled_from is None else int(np.searchsorted(every_time, settled_from))
    end = int(np.searchsorted(every_time, history.as_of_time, side="right"))
    middle = begin if settled_to is None else int(np.clip(np.searchsorted(every_time, settled_to), begin, end))
    return range(middle, end), range(begin, middle)


def points_at(tables: PointTables, asked: range) -> Iterator[pa.Table]:
    """Rows of lag_points without `cluster` and `is_provisional`, by group, topic, partition and snapshot, in pieces.
    `asked`: positions of the snapshots."""
    if not asked:
        return
    marks = tables.history.watermarks
    held = [each.within(asked) for each in tables.rows_in_force]
    for spans in spans_of(held):
        places = tables.first_places[spans.begin : spans.begin + len(spans.number)]
        cells = cells_of(spans, held, marks_of_cells(marks, spans, places))
        points = Points(tables, shown_cells(tables, without_old_marks(tables, cells)))
        if len(points.key):
            yield points.table()


def without_old_marks(tables: PointTables, cells: Cells) -> Cells:
    marks = tables.history.watermarks
    if not marks.reach_far_back:
        return cells
    is_old = (cells.mark >= 0) & (tables.mark_times[cells.mark] < marks.times[cells.snapshot] - LOOKBACK)
    return Cells(cells.key, cells.snapshot, cells.held, np.where(is_old, NOWHERE, cells.mark))


def shown_cells(tables: PointTables, cells: Cells) -> Cells:
    """Cells at which a row is in force. A topic may get more partitions later, and may be deleted. So partitions that
    are only subscribed to count only if this snapshot has them."""
    commit, owner, subscriber = cells.held
    marks = tables.history.watermarks
    wanted = np.flatnonzero(subscriber >= 0)
    is_left_out = tables.mark_times[cells.mark[wanted]] != marks.times[cells.snapshot[wanted]]
    subscriber[wanted[is_left_out]] = NOWHERE
    is_empty = (commit < 0) & (owner < 0) & (subscriber < 0)
    return cells.take(np.flatnonzero(~is_empty)) if is_empty.any() else cells


@dataclass(frozen=True)
class Points:
    """The columns of some cells."""

    tables: PointTables
    cells: Cells

    @property
    def key(self) -> Numbers:
        return self.cells.key

    @property
    def commit(self) -> Numbers:
        return self.cells.held[0]

    @property
    def owner(self) -> Numbers:
        return self.cells.held[1]

    @property
    def mark(self) -> Numbers:
        return self.cells.mark

    @cached_property
    def at(self) -> Numbers:
        return self.tables.history.watermarks.times[self.cells.snapshot]

    def table(self) -> pa.Table:
        tables, commit, mark = self.tables, self.commit, self.mark
        committed = tables.committed_offsets[commit]
        has_commit = commit >= 0
        is_recreated = self.is_recreated()
        is_negative = has_commit & (committed < 0)
        reason = self.reasons(has_commit, is_recreated, is_negative)
        is_known = reason < 0
        is_captured = (mark >= 0) & ~is_recreated
        end, start = tables.mark_ends[mark], tables.mark_starts[mark]
        has_start = is_known & (start != NONE)
        lag = np.where(is_known, end - committed, NONE)
        available, lost = end - np.maximum(committed, start), np.maximum(start - committed, 0)
        return pa.table(
            {
                "snapshot_time": times(self.at),
                **self.subject(is_recreated),
                "committed_offset": known_integers(committed, has_commit),
                "log_start_offset": known_integers(start, is_captured & (start != NONE)),
                "log_end_offset": known_integers(end, is_captured),
                "lag_raw": known_integers(lag, is_known),
                "lag": known_integers(np.maximum(lag, 0), is_known),
                "lag_available": known_integers(np.maximum(available, 0), has_start),
                "lost_messages": known_integers(lost, has_start),
                "no_commit": pa.array(reason == REASONS.index(LagUnknown.NO_COMMIT.value)),
                "committed_beyond_end": pa.array(is_known & (lag < 0)),
                "committed_negative": pa.array(is_negative),
                "snapshot_age_ms": known_integers((self.at - tables.mark_times[mark]) // 1000, mark >= 0),
                "leader_epoch": integers(tables.leader_epochs[commit], pa.int32()),
                **self.time_lags(committed, start, lag),
                "owner_member_id": of_codes(tables.member_ids[0][self.owner], tables.member_ids[1]),
                "unknown_reason": texts_of_codes(reason, REASONS),
                **self.evidence(),
            }
        )

    def subject(self, is_recreated: Flags) -> dict[str, pa.Array]:
        groups, topics = self.tables.group_ids, self.tables.topics
        return {
            "group_id": of_codes(groups[0][self.key], groups[1]),
            "group_type": of_codes(*self.group_types()),
            "topic": of_codes(topics[0][self.key], topics[1]),
            "topic_id": self.topic_ids(is_recreated),
            "partition": pa.array(self.tables.partitions[self.key]),
        }

    def topic_ids(self, is_recreated: Flags) -> pa.DictionaryArray:
        """The id from the commit, else from the owner, else that of the topic with this name at the snapshot: a topic
        is the same whether a record names its id or not. Records of classic groups contain no topic ids: the owner's id
        became known later, when the group changed its protocol."""
        (of_commits, of_owners, _), values = self.tables.topic_ids
        (types, _, (classic, _)), _ = self.tables.group_types
        codes = of_commits[self.commit]
        if (rows := np.flatnonzero(codes < 0)).size:
            owner = self.owner[rows]
            has_owner_id = (owner >= 0) & (types[owner] != classic) & (of_owners[owner] >= 0)
            at_snapshot = self.tables.known_topics_of(self.mark[rows])
            if (former := np.flatnonzero(is_recreated[rows])).size:
                at_snapshot[former] = self.topics_at_commit(rows[former])
            codes[rows] = np.where(has_owner_id, of_owners[owner], at_snapshot)
        return of_codes(codes, values)

    def topics_at_commit(self, cells: Numbers) -> Numbers:
        """Of commits that name no id and may be of a topic that was deleted since. Between a snapshot of one topic and
        one of the next, it may have been either."""
        tables, marks = self.tables, self.tables.history.watermarks
        begun, first = tables.begin_times[self.commit[cells]], tables.first_places[self.key[cells]]
        then = topics_between(marks, marks.at(first, begun), marks.own_after(first, begun))
        return np.asarray(tables.topic_ids[0][2][then], np.int64)

    def group_types(self) -> tuple[Numbers, pa.Array]:
        """The type of the group at that time. A simple group counts as classic, as in Kafka."""
        (of_owners, of_states, (classic, _)), values = self.tables.group_types
        codes = of_owners[self.owner]
        if (rows := np.flatnonzero(codes < 0)).size:
            states = self.tables.states_at(self.key[rows], self.at[rows])
            known = of_states[states]
            codes[rows] = np.where(known < 0, classic, known)
        return codes, values

    def is_recreated(self) -> Flags:
        """Whether the topic was recreated after the commit: the commit names another topic id than the snapshot; or it
        names none and is older than the first snapshot of this topic, while an earlier snapshot has another topic of
        the name."""
        tables, marks = self.tables, self.tables.history.watermarks
        ours, theirs = tables.topic_ids[0][0][self.commit], tables.known_topics_of(self.mark)
        is_other = (ours != theirs) & (ours >= 0) & (theirs >= 0)
        if marks.is_other_topic.any():
            is_other |= (
                (self.commit >= 0) & (ours < 0) & (tables.begin_times[self.commit] < marks.topic_since[self.mark])
            )
        return np.asarray(is_other, np.bool_)

    def reasons(self, has_commit: Flags, is_recreated: Flags, is_negative: Flags) -> Numbers:
        """Why lag is unknown, as an index into `REASONS`; -1 if it is known. Later reasons override earlier ones."""
        reasons = np.full(len(has_commit), -1)
        for flags, why in (
            (is_recreated, LagUnknown.TOPIC_RECREATED),
            (self.mark < 0, LagUnknown.NO_SNAPSHOT),
            (is_negative, LagUnknown.COMMITTED_NEGATIVE),
            (~has_commit, LagUnknown.NO_COMMIT),
        ):
            reasons[flags] = REASONS.index(why.value)
        if self.tables.history.doubtful:
            reasons[self.tables.are_in_doubt(self.key, self.at)] = REASONS.index(LagUnknown.CLOCK_WENT_BACK.value)
        without = np.flatnonzero(~has_commit)
        is_lost = self.tables.are_in_hole(self.key[without], self.at[without])
        reasons[without[is_lost]] = REASONS.index(LagUnknown.HISTORY_HOLE.value)
        return reasons

    def time_lags(self, committed: Numbers, start: Numbers, lag: Numbers) -> dict[str, pa.Array]:
        has_lag = lag > 0
        nothing = (lag != NONE) & ~has_lag
        estimate, low, high = (np.where(nothing, 0, NONE) for _ in range(3))
        method = np.where(nothing, METHODS.index(TimeLagMethod.NO_LAG.value), METHODS.index(TimeLagMethod.NONE.value))
        rows = np.flatnonzero(has_lag)
        # Deleted messages cannot be read, so the oldest message that still exists counts.
        first = np.maximum(committed, start)[rows]
        is_left = first < self.tables.mark_ends[self.mark[rows]]
        if not is_left.all():
            rows, first = rows[is_left], first[is_left]
        written = written_times(self.tables.history.watermarks, self.mark[rows], first)
        now = self.at[rows]
        estimate[rows], low[rows] = ago(now, written.estimate), ago(now, written.latest)
        high[rows] = ago(now, written.earliest)
        method[rows[written.estimate != NONE]] = METHODS.index(TimeLagMethod.INTERPOLATED.value)
        method[rows[written.is_extrapolated]] = METHODS.index(TimeLagMethod.EXTRAPOLATED.value)
        self.take_stream_times(rows, (estimate, low, high), method)
        names = ("time_lag_ms", "time_lag_low_ms", "time_lag_high_ms")
        columns = {
            name: known_integers(each, each != NONE) for name, each in zip(names, (estimate, low, high), strict=True)
        }
        return {**columns, "time_lag_method": texts_of_codes(method, METHODS)}

    def take_stream_times(self, rows: Numbers, lags: tuple[Numbers, Numbers, Numbers], method: Numbers) -> None:
        """Uses the stream time that Kafka Streams puts into commits. This is the time that producers gave the messages,
        while the bounds are about when brokers wrote them: they are widened to include it."""
        estimate, low, high = lags
        stream_times = self.tables.stream_times[self.commit[rows]]
        has_stream_time = stream_times != NONE
        here, then = rows[has_stream_time], stream_times[has_stream_time]
        estimate[here] = ago(self.at[here], then)
        low[here] = np.minimum(low[here], estimate[here])
        high[here] = np.where(high[here] == NONE, NONE, np.maximum(high[here], estimate[here]))
        method[here] = METHODS.index(TimeLagMethod.STREAMS_METADATA.value)

    def evidence(self) -> dict[str, pa.Array]:
        """The record of the commit, else the record that made the member an owner or a subscriber. The confidence of
        how an offset ended is about a later time, and does not matter here."""
        record = self.tables.from_offsets[0][self.commit]
        for rows, offsets in zip(self.cells.held[1:], self.tables.from_offsets[1:], strict=True):
            record = np.where(record == NONE, offsets[rows], record)
        offset = integers(record)
        return {
            "evidence_partition": every(self.tables.history.offsets_partition, pa.int32(), len(record)),
            "evidence_first_offset": offset,
            "evidence_last_offset": offset,
            "confidence": texts_of_codes(self.tables.are_possible[self.commit].astype(np.int64), CERTAINTY),
        }


def ago(now: Numbers, then: Numbers) -> Numbers:
    return np.where(then == NONE, NONE, np.maximum(now - then, 0) // 1000)
