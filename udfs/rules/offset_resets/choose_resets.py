"""Decides which moves are resets, for offset_resets, and which are rewinds, for odd_commits. No move is both.

In a group without members, a reset is a move by an admin tool, or any step back. In a group with members only these can
commit. There a step back is a reset if it goes to the start of the log, follows a truncated log, or affects several
partitions at once whose owners had them before: somebody has called seek. Other steps back, of single partitions or
after a change of owners, are rewinds. If the members of a group are unknown, every step back is a reset by somebody
unknown.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words.lag import ResetActor
from udfs.arrays.nullable import NONE, Flags, Numbers, numbers
from udfs.lag.key_ranges import KeyRange
from udfs.lag.partition_history import PartitionHistory
from udfs.rules.facts.at_offset import codes_in
from udfs.rules.offset_resets.offset_moves import Moves, moves_of, same_owners

# Columns of raw commits that show what was written together.
WRITTEN_WITH = ("group_id", "batch_first_offset", "commit_time", "is_tombstone")


@dataclass(frozen=True)
class JudgedMoves:
    """A row for each of the moves. `num_commits`: of the whole operation, those that moved nothing too; `is_edge`: it
    ends where the log begins or ends, or is of a common shift."""

    moves: Moves
    num_commits: Numbers
    is_shift: Flags
    is_edge: Flags
    is_by_admin: Flags
    is_reset: Flags


class Judge:
    """Judges moves of all keys of some groups together, since one operation moves many: resets and findings both ask.
    `since`: of commits whose time is not before. It looks at all histories, then counts all raw commits, and then
    judges."""

    def __init__(self, since: int | None) -> None:
        self.since = since
        # Of each range of keys.
        self.moves: dict[KeyRange, Moves] = {}
        self.written: list[Numbers] = []
        self.known: JudgedMoves | None = None

    def look(self, history: PartitionHistory) -> None:
        self.moves[history.keys] = moves_of(history, self.since)

    @cached_property
    def all_moves(self) -> Moves:
        moves = [*self.moves.values()]
        return Moves.together(moves) if len(moves) > 1 else moves[0]

    @property
    def asks(self) -> bool:
        """Whether it needs raw commits."""
        return bool(self.all_moves.is_plain.any())

    def count(self, commits: pa.Table) -> None:
        """Some of the raw commits of all keys, each once."""
        self.written.append(commits_of_operation(commits, self.all_moves))

    def judged_moves(self, history: PartitionHistory) -> "JudgedMoves":
        """Of all keys."""
        if self.known is None:
            nothing = np.zeros(len(self.all_moves.place), np.int64)
            self.known = judged_moves(history, self.all_moves, sum(self.written, nothing))
        return self.known

    def rewinds(self, history: PartitionHistory) -> Moves:
        """Those of the keys of the history."""
        judged, which = self.judged_moves(history), self.own_moves(history)
        return judged.moves.take(which[(judged.moves.is_back & ~judged.is_reset)[which]])

    def own_moves(self, history: PartitionHistory) -> Numbers:
        """Places of the moves of the keys of the history among all."""
        first = 0
        for keys, moves in self.moves.items():
            if keys is history.keys:
                break
            first += len(moves.place)
        return np.arange(first, first + len(self.moves[history.keys].place))

    def reset_rows(self, history: PartitionHistory) -> Numbers:
        """Those of the keys of the history: rows of its offset_history."""
        judged = self.judged_moves(history)
        return judged.moves.place[(own := self.own_moves(history))][judged.is_reset[own]]

    def resets(self, history: PartitionHistory) -> Moves:
        judged = self.judged_moves(history)
        return judged.moves.take(np.flatnonzero(judged.is_reset))


def judged_moves(history: PartitionHistory, moves: Moves, num_written: Numbers) -> JudgedMoves:
    """`num_written`: how many commits were written with each, as far as raw commits show it."""
    moved = moves.number_by_operation(np.ones(len(moves.operation), np.bool_))
    num_commits = np.where(moves.is_plain, np.maximum(num_written, moved), moved)
    is_shift = are_shifted(moves, num_commits)
    is_edge = moves.is_at_start | moves.is_at_end | is_shift
    is_by_admin = moves.is_true_of_all(looks_like_admin(moves, is_edge))
    is_reset = np.select(
        [moves.states.is_empty, moves.states.num_members > 0],
        [of_empty_group(moves, num_commits, is_edge, is_by_admin), by_members(history, moves)],
        moves.is_back,
    )
    return JudgedMoves(
        moves=moves,
        num_commits=num_commits,
        is_shift=is_shift,
        is_edge=is_edge,
        is_by_admin=is_by_admin,
        is_reset=np.asarray(is_reset, np.bool_),
    )


def looks_like_admin(moves: Moves, is_edge: Flags) -> Flags:
    """Bare commits for a group without members, that do not continue a series of such commits. Of a group that never
    had members such a series may be its own; of others a step back to an edge still ends it."""
    states = moves.states
    is_new = np.where(states.has_had_members, ~moves.is_in_series | (moves.is_back & is_edge), ~moves.was_bare)
    return np.asarray(moves.is_plain & states.is_empty & moves.is_bare & is_new, np.bool_)


def of_empty_group(moves: Moves, num_commits: Numbers, is_edge: Flags, is_by_admin: Flags) -> Flags:
    """A group that never had members reads on by itself: forward it takes every sign of an admin tool, or a jump over
    messages that were deleted."""
    is_with_back = moves.number_by_operation(moves.is_back) > 0
    is_full = (num_commits > 1) & moves.is_true_of_all(is_edge)
    is_past_gap = ~moves.is_back & moves.is_at_start & (moves.previous < moves.ends.before.start)
    alone = (is_by_admin & (is_with_back | is_full)) | is_past_gap
    return moves.is_back | np.where(moves.states.has_had_members, is_by_admin, alone)


def by_members(history: PartitionHistory, moves: Moves) -> Flags:
    is_together = (moves.number_by_operation(moves.is_back) > 1) & moves.is_true_of_all(same_owners(history, moves))
    return moves.is_back & (moves.is_at_start | moves.is_cut | is_together)


def are_shifted(moves: Moves, num_commits: Numbers) -> Flags:
    """Every commit of the operation, of two partitions or more, by one number of messages."""
    size = int(moves.operation.max(initial=-1)) + 1
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, NONE)
    np.minimum.at(low, moves.operation, moves.delta)
    np.maximum.at(high, moves.operation, moves.delta)
    is_common = (low == high)[moves.operation] & (moves.delta != 0)
    is_whole = moves.number_by_operation(np.ones(size and len(moves.operation), np.bool_)) == num_commits
    return np.asarray(is_common & is_whole & (num_commits > 1), np.bool_)


def commits_of_operation(commits: pa.Table, moves: Moves) -> Numbers:
    """How many of these commits were written with each move: records of the group with the same batch and commit
    time."""
    asked = np.flatnonzero(np.isin(numbers(commits.column("batch_first_offset")), moves.batch[moves.is_plain]))
    written = commits.select([*WRITTEN_WITH]).take(pa.array(asked))
    written = written.filter(pc.invert(written.column("is_tombstone")))
    names = pc.unique(moves.rows.column("group_id"))
    group, own = codes_in(names, written.column("group_id")), codes_in(names, moves.rows.column("group_id"))
    fields = (numbers(written.column("batch_first_offset")), numbers(written.column("commit_time")))
    have = np.stack([group, *fields], axis=1)
    want = np.stack([own, moves.batch, numbers(moves.rows.column("commit_time"))], axis=1)
    number = np.unique(np.concatenate([have, want]), axis=0, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(number[: len(have)], minlength=int(number.max(initial=0)) + 1)
    return np.asarray(counts[number[len(have) :]], np.int64)


def actors(judged: JudgedMoves) -> list[str]:
    """A coordinator refuses commits without member id while a group has members, so those are a member's. A group
    without members accepts them from an admin tool and from a program that commits for itself. Both can send any
    offset, leader epoch and metadata, so nothing in the log is only a program's."""
    moves = judged.moves
    names = np.select(
        [~moves.is_plain, moves.states.num_members > 0, moves.states.is_empty & judged.is_by_admin],
        [ResetActor.TRANSACTION, ResetActor.MEMBER, ResetActor.ADMIN_LIKELY],
        ResetActor.UNKNOWN,
    )
    return [str(actor) for actor in names]
