"""How long partitions that changed owners were unread. Timeouts bound when reading ended and when it begins again
(`udfs.groups.history.reading_ends`), commits narrow these bounds, and time in which snapshots show nothing to read does
not count."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.replaying.partition.departures import LeaveKinds
from udfs.arrays.nullable import NONE, Flags, Numbers, Positions, flags, integers, numbers
from udfs.arrays.texts import as_texts, codes_of, encoded
from udfs.groups.history.reading_ends import AWAY_BASIS
from udfs.topics.end_offsets import TP, Awaited, EndOffsets

# Instead of delivery, in `unread_basis`.
FIRST_COMMIT = "first commit"
NO_COMMIT = "no commit before"


@dataclass(frozen=True)
class ReadingTimes:
    """By move, in microseconds; NONE: unknown. No member read from `last` at the latest, or from `first` at the
    earliest, until `until`, the move; and until `delivered` at the latest."""

    first: Numbers
    last: Numbers
    until: Numbers
    delivered: Numbers
    basis: pa.Array
    # Nothing was committed, so that the bounds are only possible ones.
    never: Flags

    def is_known(self) -> Flags:
        return np.asarray((self.first != NONE) & (self.until != NONE))


def reading_times(
    moves: pa.Table, ends: pa.Table, owners: LeaveKinds, last_commits: Numbers | None = None
) -> ReadingTimes:
    """`ends`: for each move its row of reading_ends. `owners`: by move, how the one before it left. `last_commits`:
    None if not known yet."""
    stopped, move_time = numbers(ends.column("stopped_time")), numbers(moves.column("move_time"))
    fell_silent, is_told = owners.timed_out, flags(ends.column("is_told"))
    commit = np.full(moves.num_rows, NONE)
    if last_commits is not None:
        commit = np.where(is_told, NONE, np.minimum(last_commits, stopped))

    def bound(name: str) -> Numbers:
        bounds = np.where(fell_silent, numbers(ends.column(f"silent_{name}")), numbers(ends.column(name)))
        return np.asarray(np.where(stopped == NONE, NONE, np.minimum(np.maximum(bounds, commit), stopped)), np.int64)

    texts = [ends.column(f"{of}basis").cast(pa.string()).combine_chunks() for of in ("silent_", "", "delivery_")]
    basis = pc.if_else(pa.array(fell_silent), *texts[:2])
    first, last = bound("first_time"), bound("last_time")
    by_record = np.asarray(pc.equal(pc.fill_null(basis, AWAY_BASIS), AWAY_BASIS).to_numpy(zero_copy_only=False))
    never = np.zeros(moves.num_rows, np.bool_)
    if last_commits is not None:
        never = by_record & ~is_told & (first != NONE) & ~have_commits(moves, last_commits)
    alone = np.where(owners.left, numbers(ends.column("left_time")), numbers(ends.column("alone_time")))
    first = np.where(never, np.maximum(first, alone), first)
    is_given = moves.column("to_member_id").is_valid().to_numpy() & (stopped != NONE) & (move_time != NONE)
    until = np.where(is_given, np.maximum(move_time, stopped), NONE)
    delivered = np.where(is_given, until + numbers(ends.column("delivery_ms").fill_null(0)) * 1000, NONE)
    begin = pc.if_else(pa.array(never), both(pa.scalar(NO_COMMIT), basis), basis)
    return ReadingTimes(first, last, until, delivered, both(begin, texts[2]), never)


def both(one: pa.Array | pa.Scalar, other: pa.Array) -> pa.Array:
    """Texts one after the other. Arrow's own way to skip NULL leaves rows out that have nothing else."""
    return pc.coalesce(pc.binary_join_element_wise(one, other, "; "), one, other)


def have_commits(moves: pa.Table, commits: Numbers) -> Flags:
    """Whether there is a commit of any of the partitions that moved together."""
    columns = [numbers(moves.column("move_offset")), codes_of(encoded(moves.column("from_member_id")))]
    _, of_row = np.unique(np.stack(columns), axis=1, return_inverse=True)
    of_row = of_row.reshape(-1)
    known = np.zeros(of_row.max(initial=-1) + 1, np.bool_)
    np.logical_or.at(known, of_row, commits != NONE)
    return known[of_row]


@dataclass(frozen=True)
class Counted:
    """By move, in microseconds: the longest time up to `tail_from`, the move or the end of a time with nothing to read
    after it; and `delivered`, the end of the rest. NONE: unknown. The first commit after the move ends it earlier."""

    low: Numbers
    before: Numbers
    tail_from: Numbers
    delivered: Numbers
    basis: pa.Array

    def columns(self, next_commits: Numbers) -> dict[str, pa.Array]:
        is_known = self.before != NONE
        is_earlier = (next_commits != NONE) & (next_commits < self.delivered)
        end = np.where(is_earlier, next_commits, self.delivered)
        high = self.before + np.maximum(np.where(is_known, end - self.tail_from, 0), 0)
        pattern = r"delivery [^;]*$"
        by_commit = pc.replace_substring_regex(self.basis, pattern, FIRST_COMMIT)
        basis = pc.if_else(pa.array(is_earlier), by_commit, self.basis)
        return {
            "unread_low_ms": integers(np.where(is_known, self.low // 1000, NONE)),
            "unread_high_ms": integers(np.where(is_known, high // 1000, NONE)),
            "unread_basis": pc.if_else(pa.array(is_known), basis, pa.scalar(None, pa.string())),
        }


def counted(times: ReadingTimes, quiet: "QuietTimes", committed: Numbers) -> Counted:
    """`committed`: the committed offset at each move; NONE: none, or it was not requested."""
    is_known = times.is_known()

    def length(start: Numbers) -> Numbers:
        whole = np.where(is_known, times.until - start, 0)
        return np.where(is_known, whole - quiet.overlap(start, times.until, committed), NONE)

    tail_from = np.maximum(times.until, quiet.ends_after(times.until, committed))
    return Counted(length(times.last), length(times.first), tail_from, times.delivered, times.basis)


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
        is_asked = (of_move[1] != NONE) & (overlaps | self.is_after_newest(of_move[1]))
        return np.unique(self.move[is_asked])

    def overlap(self, start: Numbers, until: Numbers, committed: Numbers) -> Numbers:
        """For each move, how much of the time between is inside such periods."""
        overlaps = np.zeros(self.moves.num_rows, np.int64)
        first = np.maximum(start[self.move], self.of_stretch("from_time"))
        last = np.minimum(until[self.move], self.of_stretch("to_time"))
        is_quiet = self.has_read_all(committed) & (last > first)
        np.add.at(overlaps, self.move[is_quiet], (last - first)[is_quiet])
        return overlaps

    def ends_after(self, until: Numbers, committed: Numbers) -> Numbers:
        """For each move, the end of such a period that contains it; else NONE."""
        ends = np.full(self.moves.num_rows, NONE)
        at = until[self.move]
        is_inside = self.has_read_all(committed) & (self.of_stretch("from_time") <= at)
        is_inside &= at < self.of_stretch("to_time")
        np.maximum.at(ends, self.move[is_inside], self.of_stretch("to_time")[is_inside])
        return ends

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
