"""How long partitions that changed owners were unread: timeouts bound when reading ended (`reading_ends`), commits
narrow these bounds, and time in which snapshots show nothing to read does not count."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.arrays.nullable import NONE, Flags, Numbers, Positions, integers, numbers
from udfs.arrays.texts import as_texts
from udfs.topics.end_offsets import TP, Awaited, EndOffsets


@dataclass(frozen=True)
class ReadingTimes:
    """By move, in microseconds; NONE: unknown. No member read until `until`; this began at `first` or later, and at
    `last` at the latest."""

    first: Numbers
    last: Numbers
    until: Numbers
    basis: pa.Array

    def is_known(self) -> Flags:
        return np.asarray((self.first != NONE) & (self.until != NONE))


def reading_times(moves: pa.Table, ends: pa.Table, fell_silent: Flags, last_commits: Numbers) -> ReadingTimes:
    """`ends`: for each move its row of reading_ends. `fell_silent`: whether commits show that the owner timed out."""
    stopped = numbers(ends.column("stopped_time"))
    commit = np.minimum(last_commits, stopped)

    def bound(name: str) -> Numbers:
        bounds = np.where(fell_silent, numbers(ends.column(f"silent_{name}")), numbers(ends.column(name)))
        return np.asarray(np.where(stopped == NONE, NONE, np.clip(bounds, commit, stopped)), np.int64)

    move_time = numbers(moves.column("move_time"))
    until = np.where(moves.column("to_member_id").is_valid().to_numpy(), np.maximum(move_time, stopped), stopped)
    basis = pc.if_else(pa.array(fell_silent), ends.column("silent_basis"), ends.column("basis"))
    return ReadingTimes(bound("first_time"), bound("last_time"), np.where(stopped == NONE, NONE, until), basis)


def unread_columns(times: ReadingTimes, quiet_from: "QuietTimes", committed: Numbers) -> dict[str, pa.Array]:
    """`committed`: the committed offset at each move; NONE: none, or it was not requested."""
    is_known = times.is_known()
    columns = {}
    for name, start in (("unread_low_ms", times.last), ("unread_high_ms", times.first)):
        length = np.where(is_known, times.until - start, 0) - quiet_from.overlap(start, times.until, committed)
        columns[name] = integers(np.where(is_known, length // 1000, NONE))
    columns["unread_basis"] = pc.if_else(pa.array(is_known), times.basis, pa.scalar(None, pa.string()))
    return columns


class QuietTimes:
    """For some moves: when snapshots before and after show that the committed offset was the end of the partition."""

    def __init__(self, ends: EndOffsets, moves: pa.Table) -> None:
        self.ends, self.moves = ends, moves
        pairs = self.pairs()
        # One period each, with a move of its partition.
        self.move, self.stretch = (numbers(pairs.column(name)).astype(np.intp) for name in ("move", "stretch"))

    def pairs(self) -> pa.Table:
        rows = self.moves.select(list(TP)).append_column("move", pa.array(np.arange(self.moves.num_rows)))
        known = self.ends.stretches.select(list(TP)).append_column("stretch", pa.array(np.arange(len(self.ends))))
        rows = rows.filter(pc.is_in(rows.column("topic"), known.column("topic").combine_chunks()))
        if not rows.num_rows:
            # Even a join of nothing takes a millisecond.
            return rows.append_column("stretch", pa.array([], pa.int64()))
        # Arrow cannot join columns whose chunks have different dictionaries.
        return as_texts(rows).join(known, list(TP), join_type="inner", use_threads=False)

    def moves_in_question(self, times: ReadingTimes) -> Positions:
        """Moves for which the committed offset matters."""
        of_move = [each[self.move] for each in (times.first, times.until)]
        overlaps = (of_move[0] < self.of_stretch("to_time")) & (of_move[1] > self.of_stretch("from_time"))
        is_asked = times.is_known()[self.move] & (overlaps | self.is_after_newest(of_move[1]))
        return np.unique(self.move[is_asked])

    def overlap(self, start: Numbers, until: Numbers, committed: Numbers) -> Numbers:
        """For each move, how much of the time between is inside such periods."""
        overlaps = np.zeros(self.moves.num_rows, np.int64)
        first = np.maximum(start[self.move], self.of_stretch("from_time"))
        last = np.minimum(until[self.move], self.of_stretch("to_time"))
        is_quiet = self.has_read_all(committed) & (last > first)
        np.add.at(overlaps, self.move[is_quiet], (last - first)[is_quiet])
        return overlaps

    def awaited_ends(self, times: ReadingTimes, committed: Numbers) -> Collection[Awaited]:
        is_awaited = times.is_known()[self.move] & self.has_read_all(committed)
        is_awaited &= self.is_after_newest(times.until[self.move])
        chosen = self.ends.stretches.take(pa.array(np.unique(self.stretch[is_awaited])))
        names = ("topic", "partition", "end_offset", "to_time")
        return [Awaited(*row) for row in zip(*(chosen.column(name).to_pylist() for name in names), strict=True)]

    def has_read_all(self, committed: Numbers) -> Flags:
        of_move = committed[self.move]
        return np.asarray((of_move != NONE) & (of_move == self.of_stretch("end_offset")))

    def is_after_newest(self, until: Numbers) -> Flags:
        return np.asarray(self.ends.is_newest()[self.stretch] & (until > self.of_stretch("to_time")))

    def of_stretch(self, name: str) -> Numbers:
        return self.ends.column(name)[self.stretch]
