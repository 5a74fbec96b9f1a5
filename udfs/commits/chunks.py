"""What took effect in a chunk of commits, and its runs of equal values: the rows of offset_history."""

from dataclasses import dataclass, replace

import numpy as np

from udfs.arrays.nullable import NONE, Codes, Flags, Numbers, Positions, ends_of, first_of, flags
from udfs.commits.frames import Frame
from udfs.commits.transactions import Waiting
from udfs.log.gaps import Gaps


@dataclass(frozen=True)
class Effects:
    """Commits and deletions that took effect, by key, in the order in which they did. Among those in force this is also
    the order of their records. `at`: their rows in the frame."""

    at: Positions
    key: Codes
    # Offset of the record, or of the transaction's marker.
    offset: Numbers
    place: Numbers
    # History time: it never goes back within a key.
    time: Numbers
    is_value: Flags


@dataclass(frozen=True)
class Runs:
    """Runs of equal values, as positions among the effects. `ender` is -1 if nothing followed yet."""

    first: Positions
    last: Positions
    ender: Positions
    previous: Numbers
    has_previous: Flags

    def chosen(self, which: Flags) -> "Runs":
        return Runs(
            self.first[which], self.last[which], self.ender[which], self.previous[which], self.has_previous[which]
        )


def effects_of(frame: Frame, waiting: Waiting) -> Effects:
    offset, place, time = frame.offset, frame.place, frame.record_time
    rows = np.flatnonzero(frame.is_carried & ~frame.is_pending)
    if len(rows):
        offset, time = offset.copy(), time.copy()
        last = frame.carried("last_offset", rows)
        offset[rows] = np.where(last == NONE, offset[rows], last)
        time[rows] = frame.carried("history_time", rows)
    if len(waiting.at):
        offset, place, time = offset.copy(), place.copy(), time.copy()
        holds = waiting.is_committed & ~waiting.is_lost
        at, marker = waiting.at[holds], waiting.marker[holds]
        offset[at], place[at] = frame.markers.offset[marker], frame.markers.place[marker]
        time[at] = frame.markers.time[marker]
        is_effect = ~frame.is_pending
        is_effect[at] = True
        chosen = np.flatnonzero(is_effect)
        key = frame.key[chosen]
        found = Effects(chosen, key, offset[chosen], place[chosen], time[chosen], frame.is_value[chosen])
    else:
        found = Effects(np.arange(len(frame.key)), frame.key, offset, place, time, frame.is_value)
    return replace(found, time=running_max(found.time, found.key))


def running_max(values: Numbers, segment: Codes) -> Numbers:
    """The running maximum within each segment; segments ascend."""
    goes_back = (values[1:] < values[:-1]) & (segment[1:] == segment[:-1])
    if not goes_back.any():
        return values
    known, rank = np.unique(values, return_inverse=True)
    ranked = segment.astype(np.int64) * len(known) + rank
    return np.asarray(known[np.maximum.accumulate(ranked) % len(known)], np.int64)


def runs_of(frame: Frame, effects: Effects) -> Runs:
    is_value, key = effects.is_value, effects.key
    is_new_key = first_of(key)
    differs = is_new_key | ~is_value
    differs[1:] |= ~is_value[:-1]
    same = (frame.committed, frame.leader_epoch, frame.topic_id, frame.text, frame.producer_id)
    for column in same:
        # All rows have the same value: see `ordered`.
        if column.strides != (0,):
            differs |= first_of(column[effects.at])
    starts = np.flatnonzero(differs)
    ends = ends_of(starts, len(key))
    ender = np.append(starts[1:], -1)[: len(starts)]
    ender[:-1][is_new_key[starts[1:]]] = -1
    is_run = is_value[starts]
    previous, has_previous = previous_of(frame, effects, starts, is_new_key)
    return Runs(starts[is_run], ends[is_run], ender[is_run], previous[is_run], has_previous[is_run])


def previous_of(frame: Frame, effects: Effects, starts: Positions, is_new_key: Flags) -> tuple[Numbers, Flags]:
    """The value directly before, if it is of the same topic."""
    row = effects.at[starts]
    previous = np.zeros(len(starts), np.int64)
    previous[1:] = frame.committed[row[:-1]]
    has_previous = ~is_new_key[starts]
    has_previous[1:] &= effects.is_value[starts[:-1]] & ~is_other_topic(
        frame.topic_id[row[:-1]], frame.topic_id[row[1:]]
    )
    carried = np.flatnonzero(frame.is_carried[row] & effects.is_value[starts] & ~frame.is_pending[row])
    column = frame.state["previous_offset"]
    of_state = frame.row[row[carried]]
    has_previous[carried] = column.is_valid().to_numpy()[of_state]
    previous[carried] = frame.carried("previous_offset", row[carried])
    return previous, has_previous


def is_other_topic(before: Codes, after: Codes) -> Flags:
    """Whether both have a topic id, and the ids differ."""
    return np.asarray((before != after) & (before >= 0) & (after >= 0), np.bool_)


def exactness(frame: Frame, effects: Effects, gaps: Gaps) -> Flags:
    """For each effect, whether no record of its key can be missing between the previous effect and this one."""
    found = np.ones(len(effects.at), np.bool_)
    carried = frame.is_carried[effects.at]
    found[carried] = flags(frame.state["is_from_exact"])[frame.row[effects.at[carried]]]
    if not len(gaps.firsts):
        return found
    before = np.where(carried, frame.offset[effects.at], seen_before(frame)[effects.at])
    asked = np.flatnonzero(~carried | frame.is_pending[effects.at])
    found[asked] &= are_complete(gaps, before[asked], effects.offset[asked])
    return found


def seen_before(frame: Frame) -> Numbers:
    """The newest earlier record of the key, for each row; -1 if there is none."""
    before = np.full(len(frame.seen), -1)
    before[1:] = np.where(first_of(frame.key)[1:], -1, frame.seen[:-1])
    return before


def are_complete(gaps: Gaps, after: Numbers, upto: Numbers) -> Flags:
    """`Gaps.is_complete` for many rows."""
    lasts, firsts = np.asarray(gaps.lasts, np.int64), np.asarray(gaps.firsts, np.int64)
    place = np.searchsorted(lasts, after + 1)
    return np.asarray((place == len(lasts)) | (np.append(firsts, 0)[place] >= upto), np.bool_)
