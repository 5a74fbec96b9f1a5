"""How many messages are read again, or are not read, because an offset moved: those that the log had.

An offset may lie outside of its log: a tool may commit any number. Only what snapshots show is taken away; without
them, messages are as many as the offsets say."""

import numpy as np

from udfs.arrays.nullable import NONE, Flags, Numbers
from udfs.rules.offset_resets.offset_moves import Moves


def messages_reread(moves: Moves) -> Numbers:
    """Of each move; NONE: not known. No group has read more than there was when it committed, and nobody reads what
    was deleted since."""
    committed, previous = offsets(moves)
    top = within_end(previous, committed, moves.log.end_before, moves.log.end_after)
    return difference(moves, top, np.where(moves.is_back, within_start(moves, committed), committed))


def messages_skipped(moves: Moves) -> Numbers:
    """Likewise. Messages that were deleted unread count: nobody reads them either."""
    committed, previous = offsets(moves)
    ends = (np.where(moves.ends.is_other_topic, NONE, each.end) for each in (moves.ends.before, moves.ends.after))
    return difference(moves, within_end(committed, previous, *ends), previous)


def offsets(moves: Moves) -> tuple[Numbers, Numbers]:
    """No message has an offset below 0."""
    return np.maximum(moves.committed_offsets, 0), np.maximum(moves.previous, 0)


def difference(moves: Moves, top: Numbers, bottom: Numbers) -> Numbers:
    """Offsets of two logs, or of one that lost messages and got others, do not tell how many messages lie between."""
    is_known = (top != NONE) & (bottom != NONE) & ~moves.is_first & ~moves.is_cut
    return np.where(is_known, np.maximum(np.where(is_known, top - bottom, 0), 0), NONE)


def within_end(offset: Numbers, bottom: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """The offset, or the end of the log if that is lower. `low`, `high`: the end is between them; NONE: not known.
    From `bottom` on messages are counted: if the log does not reach it there are none."""
    is_within = (high == NONE) | (offset <= high)
    return np.select([is_within, bottom >= high, low == high], [offset, bottom, high], NONE)


def within_start(moves: Moves, offset: Numbers) -> Numbers:
    """The offset, or the start of the log if that is higher. A start between two snapshots is known if they agree."""
    low, high = moves.ends.before.start, moves.ends.after.start
    is_within: Flags = (low == NONE) | (offset >= low) | moves.ends.is_other_topic
    return np.select([is_within, low == high], [offset, low], NONE)
